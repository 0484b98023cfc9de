/**
 * Decorators: a store that logs, a read-only store, and a remote that counts commits. They can be combined, without casts.
 *
 * Output:
 * insert notes
 * collection notes: get a
 * 1 commit
 * AuthError: insert is refused: this program reads
 * a is still readable, and 1 note is streamed
 */
import { AuthError, decorate, GitRemote, Memory, Store } from "chainstore/store"
import { Console, Effect, Layer, Option, Ref, Stream } from "effect"

/** A store that says what succeeded. */
const logged = Layer.effect(
  Store,
  Effect.map(Store, (store) =>
    decorate(store, {
      effect: ({ collection, id, name }, run) =>
        Effect.tap(
          run,
          Console.log(id === undefined ? `${name} ${collection}` : `collection ${collection}: ${name} ${id}`)
        )
    })
  )
)

/** A store that is for reading, whatever it was opened with. */
const readOnly = Layer.effect(
  Store,
  Effect.map(Store, (store) =>
    decorate(store, {
      effect: ({ name, writes }, run) =>
        writes
          ? Effect.fail(new AuthError({ operation: name, message: `${name} is refused: this program reads` }))
          : run
    })
  )
)

class Commits extends Effect.Service<Commits>()("example/Commits", { effect: Ref.make(0) }) {}

/** A remote that counts the commits that are made through it. */
const counting = Layer.effect(
  GitRemote,
  Effect.gen(function* () {
    const remote = yield* GitRemote
    const commits = yield* Commits
    return GitRemote.of({
      ...remote,
      commitNext: (branch, edit) =>
        Effect.tap(remote.commitNext(branch, edit), ({ committed }) =>
          Option.isSome(committed) ? Ref.update(commits, (count) => count + 1) : Effect.void
        )
    })
  })
)

const repository = new Memory.MemoryRepository()
const remote = counting.pipe(Layer.provide(Memory.layer({ repository })), Layer.provideMerge(Commits.Default))
const plain = Layer.provideMerge(Store.layer(), remote)

const writes = Effect.gen(function* () {
  const notes = (yield* Store).collection("notes")
  yield* notes.insert({ text: "hello" }, { id: "a" })
  yield* notes.get("a")
  yield* Console.log(`${yield* yield* Commits} commit`)
})

const reads = Effect.gen(function* () {
  const notes = (yield* Store).collection("notes")
  yield* notes
    .insert({ text: "again" })
    .pipe(Effect.catchTag("AuthError", ({ _tag, message }) => Console.log(`${_tag}: ${message}`)))
  const isThere = yield* notes.exists("a")
  const count = yield* Stream.runCount(notes.all())
  yield* Console.log(`a is ${isThere ? "still readable" : "gone"}, and ${count} note is streamed`)
})

await Effect.runPromise(Effect.provide(writes, Layer.provideMerge(logged, plain)))
await Effect.runPromise(Effect.provide(reads, Layer.provideMerge(readOnly, plain)))
