/**
 * Batched reads: a service reads one person per call. Concurrent calls share one read, without a change of the service.
 *
 * Output:
 * Ada Bob nobody
 * apart: 3 reads
 * together: 1 read
 */
import { batching } from "chainstore/batching"
import { GitRemote, Memory, Store } from "chainstore/store"
import { Console, Effect, Layer, Option } from "effect"

let reads = 0

/** Counts how often a store looks at the branch. */
const counted = Layer.effect(
  GitRemote,
  Effect.map(GitRemote, (remote) => ({
    ...remote,
    snapshot: (branch: string) => {
      reads++
      return remote.snapshot(branch)
    }
  }))
).pipe(Layer.provide(Memory.layer()))

class People extends Effect.Service<People>()("example/People", {
  effect: Effect.map(Store, ({ collection }) => ({
    nameOf: (id: string) =>
      Effect.map(
        collection("people").get(id),
        Option.match({ onNone: () => "nobody", onSome: ({ name }) => `${name}` })
      )
  }))
}) {}

const program = Effect.gen(function* () {
  const { collection } = yield* Store
  const { nameOf } = yield* People
  yield* collection("people").insert({ name: "Ada" }, { id: "ada" })
  yield* collection("people").insert({ name: "Bob" }, { id: "bob" })
  const ids = ["ada", "bob", "eve"]
  yield* Effect.sync(() => (reads = 0))
  const names = yield* Effect.forEach(ids, nameOf)
  yield* Console.log(names.join(" "))
  yield* Console.log(`apart: ${reads} reads`)
  yield* Effect.sync(() => (reads = 0))
  yield* Effect.forEach(ids, nameOf, { batching: true })
  yield* Console.log(`together: ${reads} read`)
})

const layer = Layer.provideMerge(People.Default, Layer.provide(Store.layer({ batching }), counted))
await Effect.runPromise(Effect.provide(program, layer))
