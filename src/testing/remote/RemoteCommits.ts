import { Chunk, Effect, Either, Option, Stream } from "effect"
import type { RefMoved } from "../../domain/errors/RefMoved.js"
import { StoreError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { branchRef } from "../../git/Names.js"
import type { Change, GitRemoteService, Head } from "../../store/remote/GitRemote.js"
import { assert } from "../store/LawAssert.js"

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (content: Uint8Array): string => new TextDecoder().decode(content)

export const put = (path: string, content: string | Uint8Array): Change => ({
  _tag: "Put",
  path,
  content: typeof content === "string" ? bytes(content) : content
})
export const remove = (path: string): Change => ({ _tag: "Remove", path })
export const link = (path: string, oid: Oid): Change => ({ _tag: "Link", path, oid })

/** Commits on top of the branch's head as it is now. */
export const write = (
  remote: GitRemoteService,
  changes: ReadonlyArray<Change>,
  options: { readonly message?: string; readonly branch?: string } = {}
) =>
  Effect.gen(function* () {
    const branch = options.branch ?? "main"
    const head = yield* remote.head(branch)
    return yield* remote.commit(branch, head, { message: options.message ?? "a commit", changes })
  })

/** Commits as the next of its branch, again after every lost race. */
export const writeNext = (
  remote: GitRemoteService,
  build: (head: Option.Option<Head>) => Effect.Effect<ReadonlyArray<Change>, unknown>,
  options: { readonly message?: string; readonly branch?: string } = {}
) =>
  remote
    .commitNext(options.branch ?? "main", (snapshot) =>
      Effect.flatMap(snapshot.head, (head) =>
        Effect.map(build(head), (changes) => ({
          commit: Option.some({ message: options.message ?? "a commit", changes }),
          result: head
        }))
      )
    )
    .pipe(
      Effect.retry({
        while: (error) => error instanceof Object && "_tag" in error && error._tag === "RefMoved"
      })
    )

export const headOf = (remote: GitRemoteService, branch = "main") =>
  Effect.map(remote.head(branch), Option.getOrThrow)

/** Path to content of every file of a commit. */
export const filesOf = (remote: GitRemoteService, at: Head) =>
  Effect.gen(function* () {
    const tree = yield* remote.tree(at, "", { recursive: true })
    const entries = Option.match(tree, { onNone: () => [], onSome: (found) => found.entries })
    const blobs = yield* Stream.runCollect(remote.blobs(at, entries))
    assert.strictEqual(Chunk.size(blobs), entries.length, "every listed file can be read")
    return new Map(Chunk.map(blobs, (blob) => [blob.path, text(blob.content)] as const))
  })

export const readAt = (remote: GitRemoteService, at: Head | Oid, path: string) =>
  Effect.map(
    remote.file(at, path),
    Option.map((blob) => text(blob.content))
  )

/** The typed failure of an effect that must fail. */
export const failureOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.either(effect), (result) => {
    if (Either.isRight(result)) return assert.fail(`expected a failure, got ${JSON.stringify(result.right)}`)
    return result.left
  })

export const assertTag = (error: unknown, ...tags: ReadonlyArray<string>) => {
  const tag = error instanceof Object && "_tag" in error ? String(error._tag) : String(error)
  assert.include(tags, tag, `expected ${tags.join(" or ")}, got ${tag}: ${String(error)}`)
  if (error instanceof StoreError) assert.isAbove(error.message.length, 0)
}

/** The failure is a `RefMoved` that names the branch. */
export const assertMoved = (error: unknown, branch: string) => {
  assertTag(error, "RefMoved")
  const { ref } = error as RefMoved
  assert.include([branch, branchRef(branch)], ref, `expected RefMoved of ${branch}, got ${ref}`)
}
