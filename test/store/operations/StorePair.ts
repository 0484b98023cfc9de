import { assert } from "@effect/vitest"
import { Chunk, Effect, Either, Option, Stream } from "effect"
import type { StoredDocument } from "../../../src/domain/document/Document.js"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { Browse, type StagedEdit } from "../../../src/store/browse/index.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import type { Writer } from "../../../src/store/Writer.js"

/** The repository of both stores. */
export interface SharedRepository {
  readonly blobs: () => number
  /** Makes a merge the head of `main`. */
  readonly merge: (tree: Oid, parents: ReadonlyArray<Oid>) => Oid
}

export interface StorePair {
  readonly repository: SharedRepository
  readonly remote: GitRemoteService
  readonly store: StoreService
  /** Another store on the same repository, with a client of its own. */
  readonly other: StoreService
}

let makeElsewhere:
  | ((options: StoreOptions, faults: Memory.MemoryFaults | undefined) => Effect.Effect<StorePair, unknown>)
  | undefined

/** Makes all later store pairs by this function: runs these suites on another remote. */
export const useStorePairs = (make: NonNullable<typeof makeElsewhere>) => {
  makeElsewhere = make
}

/** The number of rounds: a tenth of it on remotes that send requests. */
export const rounds = (inMemory: number) =>
  makeElsewhere === undefined ? inMemory : Math.ceil(inMemory / 10)

/** Two stores with clients of their own on one repository, in memory by default. */
export const storePair = (
  options: StoreOptions = {},
  faults?: Memory.MemoryFaults
): Effect.Effect<StorePair, unknown> =>
  Effect.gen(function* () {
    if (makeElsewhere !== undefined) return yield* makeElsewhere(options, faults)
    const repository = new Memory.MemoryRepository()
    const remote = yield* Memory.make({ repository, faults })
    const store = yield* Effect.provideService(Store.make(options), GitRemote, remote)
    const other = yield* Effect.provideService(
      Store.make(options),
      GitRemote,
      yield* Memory.make({ repository })
    )
    const person = { name: "M", email: "m@example.org", seconds: 1_700_000_000, offset: 0 }
    const stored: SharedRepository = {
      blobs: () => repository.blobs.size,
      merge: (tree, parents) => {
        const { oid } = repository.writeCommit({
          tree,
          parents,
          author: person,
          committer: person,
          message: "merge"
        })
        repository.refs.set("refs/heads/main", oid)
        return oid
      }
    }
    return { repository: stored, remote, store, other }
  })

/** What the commits say, the oldest first, without the one that GitHub needs to begin with. */
export const messages = ({ remote }: StorePair, branch = "main") =>
  Effect.gen(function* () {
    const head = yield* remote.head(branch)
    if (Option.isNone(head)) return []
    const log = yield* Stream.runCollect(remote.log(head.value, ""))
    return Chunk.toReadonlyArray(log)
      .map((commit) => commit.message.trim())
      .filter((message) => message !== "first commit of an empty repository")
      .reverse()
  })

export const headSha = ({ remote }: Pick<StorePair, "remote">, branch = "main") =>
  Effect.map(remote.head(branch), (head) => Option.getOrThrow(head).commit as string)

export const document = (store: Pick<StoreService, "collection">, collection: string, id: string) =>
  Effect.map(store.collection(collection).get(id), Option.getOrNull)

/** A document's fields and revision. */
export const brief = (found: StoredDocument | null) => {
  if (found === null) return null
  const { _created_at, _id, _rev, _updated_at, ...fields } = found
  return [_rev, fields as JsonObject] as const
}

/** Waits, by the wall clock, for the flush that a timer began; answers what is still queued. */
export const flushed = (writer: Pick<Writer, "pending">) =>
  Effect.repeat(
    Effect.zipRight(
      Effect.promise(() => new Promise((done) => setTimeout(done, 2))),
      writer.pending
    ),
    { until: (waiting) => waiting === 0, times: 1000 }
  )

/** The failure of an effect, which must have this tag; its type is what the caller says. */
export const expectFailure = <T = unknown>(
  effect: Effect.Effect<unknown, unknown>,
  tag: string
): Effect.Effect<T> =>
  Effect.map(Effect.either(effect), (result) => {
    if (Either.isRight(result)) return assert.fail(`expected ${tag}, got ${JSON.stringify(result.right)}`)
    const error = result.left
    const actual = error instanceof Object && "_tag" in error ? error._tag : error
    assert.strictEqual(actual, tag, String(error))
    return error as T
  })

/** The staged edits of a store, and edits that begin with a document of a collection as it is now. */
export const editing = ({ remote, store }: Pick<StorePair, "remote" | "store">, collection: string) =>
  Effect.map(
    Effect.flatMap(Browse.make({ store, remote, readOnly: false }), ({ edits }) => edits),
    (edits) => ({
      edits,
      begin: (id: string, text: string | null): Effect.Effect<StagedEdit, unknown> =>
        Effect.map(edits.documents(collection, [id]), ([found]) => {
          const { commit, sha } = Option.getOrThrow(found!)
          return { collection, id, base: { commit, sha }, text }
        })
    })
  )
