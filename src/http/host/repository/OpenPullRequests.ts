import { Effect, Option, Schema } from "effect"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import type { AmbiguousWriteError, RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import { pullRefs } from "./HostNames.js"

/**
 * The list of open pull requests, which every branch update reads. It is a blob to which this ref points; the ref is
 * absent if the list is empty. It contains every open pull request and may briefly contain one that was just closed.
 */
const openRef = `${pullRefs}open`

const Entry = Schema.Struct({ number: Schema.Number, head: Schema.String, base: Schema.String })
export type Entry = typeof Entry.Type

const Json = Schema.parseJson(Schema.Array(Entry))
const encode = Schema.encodeSync(Json)

interface CachedEntries {
  readonly mutex: Effect.Semaphore
  /** The last read value of the ref. Other processes may have written it. */
  last: { readonly oid: Oid; readonly entries: ReadonlyArray<Entry> } | undefined
}

const caches = new WeakMap<GitRepository, CachedEntries>()

const cacheOf = (git: GitRepository): CachedEntries => {
  const memory = caches.get(git) ?? { mutex: Effect.unsafeMakeSemaphore(1), last: undefined }
  caches.set(git, memory)
  return memory
}

const none: ReadonlyArray<Entry> = []

const readEntries = (git: GitRepository, oid: Oid): Effect.Effect<ReadonlyArray<Entry>, RemoteError> =>
  Effect.suspend(() => {
    const memory = cacheOf(git)
    if (memory.last?.oid === oid) return Effect.succeed(memory.last.entries)
    return Effect.map(git.object(oid), (found) => {
      const decoded = Option.flatMap(found, ({ content, type }) =>
        type === "blob" ? Schema.decodeOption(Json)(Buffer.from(content).toString()) : Option.none()
      )
      const entries = Option.getOrElse(decoded, () => none)
      memory.last = { oid, entries }
      return entries
    })
  })

/** Lists the open pull requests. The list may contain one that was just closed. */
export const list = (git: GitRepository): Effect.Effect<ReadonlyArray<Entry>, RemoteError> =>
  Effect.flatMap(git.ref(openRef), (oid) =>
    Option.isNone(oid) ? Effect.succeed(none) : readEntries(git, oid.value)
  )

/** The number of retries when another process changes the ref. */
const maxRetries = 20

const edit = (
  git: GitRepository,
  move: GitRepository["updateRef"],
  change: (entries: ReadonlyArray<Entry>) => ReadonlyArray<Entry>
): Effect.Effect<void, RemoteError | AmbiguousWriteError | RefMoved> =>
  Effect.gen(function* () {
    const stored = yield* git.ref(openRef)
    const entries = Option.isNone(stored) ? none : yield* readEntries(git, stored.value)
    const next = change(entries)
    if (next === entries) return
    const blob =
      next.length === 0
        ? Option.none()
        : Option.some(yield* git.writeObject("blob", Buffer.from(`${encode(next)}\n`)))
    yield* move(openRef, stored, blob)
  }).pipe(
    Effect.retry({ times: maxRetries, while: (error) => error instanceof RefMoved }),
    // No other lock is taken while this mutex is held.
    cacheOf(git).mutex.withPermits(1)
  )

/** Adds a pull request, before it is opened. */
export const add = (git: GitRepository, move: GitRepository["updateRef"], { base, head, number }: Entry) =>
  edit(git, move, (entries) =>
    entries.some((one) => one.number === number && one.base === base)
      ? entries
      : [...entries.filter((one) => one.number !== number), { number, head, base }]
  )

/** Removes a pull request, after it is closed. */
export const remove = (git: GitRepository, move: GitRepository["updateRef"], number: number) =>
  edit(git, move, (entries) =>
    entries.some((one) => one.number === number) ? entries.filter((one) => one.number !== number) : entries
  )
