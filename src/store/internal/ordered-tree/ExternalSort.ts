import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Steps from "../../../domain/concurrency/Steps.js"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { TemporaryFile } from "../../../git/TemporaryFile.js"
import { compareEntries, type Entry, entryOfLine, type KeyOf } from "./Leaf.js"

/*
 * Sorts rows with bounded memory. If the rows exceed one run, each run is sorted and written to a temporary file, and
 * the runs are merged while they are read. The memory contains one run of rows, and one chunk of each run.
 */

/** The bytes of rows that are sorted in memory. Rows take three to four times as much memory. */
export const runBytes = 8 * 1024 * 1024

const encoder = new TextEncoder()

/** The lines of a text that arrives in chunks of bytes. */
const linesOf = <E>(pieces: Stream.Stream<Uint8Array, E>): Stream.Stream<string, E> => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  let rest = ""
  return Stream.mapChunks(
    pieces,
    Chunk.flatMap((piece) => {
      // A chunk may end within a character.
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n")
      rest = lines.pop()!
      return Chunk.unsafeFromArray(lines)
    })
  )
}

/** Pulls the next rows of a run; never an empty chunk. */
type Pull<E> = Effect.Effect<Chunk.Chunk<Entry>, Option.Option<E>>

/** The read position in a run. */
interface Cursor<E> {
  readonly pull: Pull<E>
  rows: ReadonlyArray<Entry>
  at: number
}

const refill = <E>(cursor: Cursor<E>): Effect.Effect<boolean, E> =>
  Effect.matchEffect(cursor.pull, {
    onFailure: Option.match({ onNone: () => Effect.succeed(false), onSome: (error) => Effect.fail(error) }),
    onSuccess: (rows) =>
      rows.length === 0
        ? refill(cursor)
        : Effect.sync(() => {
            cursor.rows = Chunk.toReadonlyArray(rows)
            cursor.at = 0
            return true
          })
  })

const head = <E>({ at, rows }: Cursor<E>): Entry => rows[at]!

/** Inserts a cursor among cursors that are sorted by their next rows. */
const place = <E>(cursors: Array<Cursor<E>>, cursor: Cursor<E>): void => {
  let at = 0
  while (at < cursors.length && compareEntries(head(cursors[at]!), head(cursor)) < 0) at++
  cursors.splice(at, 0, cursor)
}

/** Merges sorted runs. */
const merged = <E>(runs: ReadonlyArray<Stream.Stream<Entry, E>>): Stream.Stream<Entry, E> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const cursors: Array<Cursor<E>> = []
      for (const run of runs) {
        const cursor: Cursor<E> = { pull: yield* Stream.toPull(run), rows: [], at: 0 }
        if (yield* refill(cursor)) place(cursors, cursor)
      }
      const next = Effect.gen(function* () {
        const found: Array<Entry> = []
        while (found.length < Steps.stepSize) {
          const first = cursors.shift()
          if (first === undefined) break
          found.push(head(first))
          first.at++
          if (first.at < first.rows.length || (yield* Effect.mapError(refill(first), Option.some)))
            place(cursors, first)
        }
        return yield* found.length === 0
          ? Effect.fail(Option.none())
          : Effect.succeed(Chunk.unsafeFromArray(found))
      })
      return Stream.repeatEffectChunkOption(next)
    })
  )

/** Collects rows for sorting. */
export interface ExternalSort<E> {
  readonly add: (entries: Iterable<Entry>) => Effect.Effect<void, E>
  /** All rows in the order of their keys. No row may be added afterwards. */
  readonly sorted: Effect.Effect<Stream.Stream<Entry, E>, E>
}

/** Sorts rows. If there is more than one run, a temporary file is opened, which exists until the scope is closed. */
export const externalSort = <E>(
  keyOf: KeyOf,
  open: Effect.Effect<TemporaryFile, E, Scope.Scope>,
  mostBytes: number = runBytes
): Effect.Effect<ExternalSort<E | RemoteError>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const opened = yield* Effect.cached(Scope.extend(open, scope))
    const runs: Array<Stream.Stream<Entry, RemoteError>> = []
    let collected: Array<Entry> = []
    let bytes = 0
    const takeRun = Effect.suspend(() => {
      const unsorted = collected
      collected = []
      bytes = 0
      return Steps.run(() => Steps.sorted(unsorted, compareEntries))
    })
    const putAside = Effect.gen(function* () {
      const run = yield* takeRun
      const file = yield* opened
      const start = file.size()
      yield* file.append(encoder.encode(run.map(({ line }) => `${line}\n`).join("")))
      const lines = linesOf(file.read(start, file.size()))
      runs.push(Stream.map(lines, (line) => entryOfLine(line, keyOf)))
    })
    return {
      add: (entries) =>
        Effect.gen(function* () {
          for (const entry of entries) {
            collected.push(entry)
            bytes += entry.weight
            if (bytes > mostBytes) yield* putAside
          }
        }),
      sorted: Effect.map(takeRun, (last) =>
        runs.length === 0 ? Stream.fromIterable(last) : merged([...runs, Stream.fromIterable(last)])
      )
    }
  })
