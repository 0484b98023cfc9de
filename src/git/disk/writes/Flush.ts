import * as fs from "node:fs"
import * as zlib from "node:zlib"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import { AmbiguousWriteError, type RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { branchRef } from "../../Names.js"
import { toRemoteError } from "../files/EngineError.js"
import type { ObjectDatabase } from "../objects/ObjectDatabase.js"
import { type BuiltPack, type PackableObject, PackBuilder } from "../packs/PackBuilder.js"
import type { FoundRef } from "../refs/RefReader.js"
import type { RefOutcome, RefStore } from "../refs/RefStore.js"

/** The commits of one branch in a flush. */
export interface BranchFlush {
  readonly branch: string
  readonly base: Oid | undefined
  readonly tip: Oid
  readonly objects: ReadonlyArray<PackableObject>
  /** The number of commits from the base to the tip. */
  readonly commits: number
  /** Whether the flush has already waited for the lock of the branch. */
  readonly waitedForLock?: boolean | undefined
}

export interface FlushOptions {
  readonly directory: string
  readonly objects: ObjectDatabase
  readonly refs: RefStore
  readonly durable: boolean
  /** Publishes the commits to another repository before they are stored here. */
  readonly publish?: Publish | undefined
}

/** Moves branches of another repository, and returns the outcome for each. */
export type Publish = (
  flushes: ReadonlyArray<BranchFlush>,
  pack: (options: { readonly thin: boolean }) => Promise<ReadonlyArray<Uint8Array>>
) => Promise<ReadonlyArray<FlushOutcome>>

/** The size in bytes from which a blob is deflated on another thread. */
const largeBlob = 256 * 1024
/** The number of bytes that are packed before other fibers may run. */
const packedSlice = 64 * 1024

const deflated = (content: Uint8Array) =>
  new Promise<Buffer>((resolve, reject) =>
    zlib.deflate(content, { level: 1 }, (cause, bytes) => (cause === null ? resolve(bytes) : reject(cause)))
  )

/** Builds a pack. The base of a delta comes before the delta; in a thin pack it may be missing. */
export const buildPack = async (objects: Iterable<PackableObject>, thin = false): Promise<BuiltPack> => {
  const all = new Map<Oid, PackableObject>()
  for (const object of objects) if (!all.has(object.oid)) all.set(object.oid, object)
  const builder = new PackBuilder(all.size, thin)
  const timeSlice = TimeSlice.make()
  let sincePause = 0
  for (const object of all.values()) {
    const isLarge = object.type === "blob" && object.content.length > largeBlob
    builder.add(object, isLarge ? await deflated(object.content) : undefined)
    sincePause += object.content.length
    if (sincePause < packedSlice) continue
    sincePause = 0
    if (timeSlice.isSpent()) await Effect.runPromise(timeSlice.pause)
  }
  return builder.finish()
}

const objectsOf = (flushes: ReadonlyArray<BranchFlush>) => flushes.flatMap(({ objects }) => objects)

/** A flush whose branch is at its base. */
interface ReadyFlush extends BranchFlush {
  readonly index: number
  readonly ref: FoundRef
}

/** The commits themselves were refused: commits that were built on them need another base. */
export class RefusedCommits extends Data.TaggedError("RefusedCommits")<{ readonly error: RemoteError }> {}

/** The outcome of a flush for one branch. */
export type FlushOutcome = RefOutcome | RefusedCommits | RemoteError | AmbiguousWriteError

/** The error of a ref that was moved or deleted although its directory could not be synced. */
export const unsettled = (
  operation: string,
  directory: string,
  fact: string,
  cause: unknown
): AmbiguousWriteError =>
  new AmbiguousWriteError({
    operation,
    path: directory,
    message: `${fact}, but the directory could not be synced: ${toRemoteError("", directory, cause).message}`,
    unsettled: true,
    hint: "The write can be seen now and may be gone after a power cut: look at the branch before writing it again",
    cause
  })

/**
 * Writes the objects of all flushes as one pack, moves each branch, and returns the outcome for each. If `durable`, it syncs the
 * pack, its index and the prepared refs in parallel, then the directory of packs, and then the directories of the refs.
 */
export const flush = async (
  options: FlushOptions,
  flushes: ReadonlyArray<BranchFlush>
): Promise<ReadonlyArray<FlushOutcome>> => {
  const { directory, durable, objects, refs } = options
  const outcomes: Array<FlushOutcome> = []
  const ready: Array<ReadyFlush> = []
  for (const [index, branchFlush] of flushes.entries()) {
    try {
      const ref = refs.find(branchRef(branchFlush.branch))
      const isAtBase = ref.oid === branchFlush.base
      outcomes[index] = isAtBase ? { _tag: "Done" } : { _tag: "Moved", actual: ref.oid }
      if (isAtBase) ready.push({ ...branchFlush, index, ref })
    } catch (cause) {
      outcomes[index] = toRemoteError("GitRepository.commitNext", directory, cause)
    }
  }
  if (ready.length === 0) return outcomes
  const { publish } = options
  if (publish !== undefined) {
    const results = await publish(ready, async ({ thin }) => (await buildPack(objectsOf(ready), thin)).chunks)
    for (const [i, { index }] of ready.entries()) outcomes[index] = results[i]!
    const published = ready.filter(({ index }) => outcomes[index]!._tag === "Done")
    try {
      await flush({ ...options, publish: undefined }, published)
    } catch {
      // The commits are published. Objects that could not be stored here are fetched when they are needed.
    }
    return outcomes
  }
  const pack = await buildPack(objectsOf(ready))
  const prepared: Array<{ readonly file: string; readonly fd: number }> = []
  let unprotect = () => {}
  try {
    for (const { tip } of ready) prepared.push(refs.prepare(`${tip}\n`))
    unprotect = await objects.files.writePack(
      pack,
      durable,
      prepared.map(({ fd }) => fd)
    )
    for (const [i, { index, waitedForLock, ref }] of ready.entries()) {
      try {
        const timeout = waitedForLock === true ? 0 : undefined
        outcomes[index] = await refs.move(ref, prepared[i]!.file, undefined, timeout)
      } catch (cause) {
        outcomes[index] = toRemoteError("GitRepository.commitNext", directory, cause)
      }
    }
    if (durable) {
      const moved = ready.filter(({ index }) => outcomes[index]!._tag === "Done")
      try {
        await refs.settle(moved.map(({ ref }) => ref))
      } catch (cause) {
        for (const { branch, index, tip } of moved) {
          const fact = `${tip} is on ${branch}`
          outcomes[index] = unsettled("GitRepository.commitNext", directory, fact, cause)
        }
      }
    }
  } finally {
    unprotect()
    for (const { fd, file } of prepared) {
      fs.closeSync(fd)
      refs.discard(file)
    }
  }
  return outcomes
}
