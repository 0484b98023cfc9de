/**
 * The store inside another Effect program: a service of your own over it, and errors by tag.
 *
 * Output:
 * dark-mode is off
 * dark-mode is on
 * checkout is no flag
 * insert flags/dark-mode, turn dark-mode on
 */
import { Memory, Store } from "chainstore/store"
import { Data, Effect, Layer, Option } from "effect"

class UnknownFlag extends Data.TaggedError("UnknownFlag")<{ readonly name: string }> {}

class Flags extends Effect.Service<Flags>()("example/Flags", {
  effect: Effect.gen(function* () {
    const flags = (yield* Store).collection("flags")
    yield* flags.upsert("dark-mode", { on: false })
    return {
      isOn: (name: string) =>
        Effect.map(
          flags.get(name),
          Option.exists((flag) => flag["on"] === true)
        ),
      turn: (name: string, on: boolean) =>
        flags
          .update(name, { on }, { message: `turn ${name} ${on ? "on" : "off"}` })
          .pipe(Effect.catchTag("NotFoundError", () => new UnknownFlag({ name }))),
      changes: (name: string) =>
        Effect.map(flags.history(name), (commits) => commits.map(({ message }) => message).reverse())
    }
  })
}) {}

const program = Effect.gen(function* () {
  const flags = yield* Flags
  const show = Effect.map(flags.isOn("dark-mode"), (on) => console.log(`dark-mode is ${on ? "on" : "off"}`))
  yield* show
  yield* flags.turn("dark-mode", true)
  yield* show
  yield* flags
    .turn("checkout", true)
    .pipe(Effect.catchTag("UnknownFlag", ({ name }) => Effect.sync(() => console.log(`${name} is no flag`))))
  console.log((yield* flags.changes("dark-mode")).join(", "))
})

// One line says where the documents are: swap Memory.layer() for LocalGit.layer({ directory }) or GitHub.layer(...).
const layer = Flags.Default.pipe(Layer.provide(Store.layer()), Layer.provide(Memory.layer()))

await Effect.runPromise(Effect.provide(program, layer))
