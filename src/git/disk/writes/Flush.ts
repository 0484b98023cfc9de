import * as fs from "node:fs"
import * as zlib from "node:zlib"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import { AmbiguousWriteError, type RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { branchRef } from "../../Names.js"
import { toRemoteError } from "../files/EngineError.js"
import { tryUnlink } from "../files/FileOperations.js"
import type { ObjectDatabase } from "../objects/ObjectDatabase.js"
import { type BuiltPack, type PackableObject, PackBuilder } from "../packs/PackBuilder.js"
import type { FoundRef, RefOutcome, RefStore } from "../refs/RefStore.js"

/** What one flush makes durable of one branch. */
export interface BranchFlush {
  readonly branch: string
  readonly base: Oid | undefined
  readonly tip: Oid
  readonly objects: ReadonlyArray<PackableObject>
  /** How many commits lead from the base to the tip. */
  readonly commits: number
  /** Whether the lock of the branch has been waited for already. */
  readonly late?: boolean | undefined
}

export interface FlushOptions {
  readonly directory: string
  readonly objects: ObjectDatabase
  readonly refs: RefStore
  readonly durable: boolean
  /** Sends what a flush holds to where the branches really are, first of all: what became of each. */
  readonly publish?: Publish | undefined
}

/** Moves branches of another repository. Each portion that is done there is on its branch. */
export type Publish = (
  portions: ReadonlyArray<BranchFlush>,
  pack: (options: { readonly thin: boolean }) => Promise<ReadonlyArray<Uint8Array>>
) => Promise<ReadonlyArray<FlushOutcome>>

const largeBlob = 256 * 1024
/** Bytes packed between two looks at the time. */
const packedSlice = 64 * 1024

const deflated = (content: Uint8Array) =>
  new Promise<Buffer>((resolve, reject) =>
    zlib.deflate(content, { level: 1 }, (cause, bytes) => (cause === null ? resolve(bytes) : reject(cause)))
  )

/** A pack of objects, which come after what their deltas are made from; thin: others may be made from what it leaves out. */
export const buildPack = async (objects: Iterable<PackableObject>, thin = false): Promise<BuiltPack> => {
  const all = new Map<Oid, PackableObject>()
  for (const object of objects) if (!all.has(object.oid)) all.set(object.oid, object)
  const builder = new PackBuilder(all.size, thin)
  const turn = TimeSlice.make()
  let unlooked = 0
  for (const object of all.values()) {
    const isLarge = object.type === "blob" && object.content.length > largeBlob
    builder.add(object, isLarge ? await deflated(object.content) : undefined)
    unlooked += object.content.length
    if (unlooked < packedSlice) continue
    unlooked = 0
    if (turn.isSpent()) await Effect.runPromise(turn.pause)
  }
  return builder.finish()
}

const objectsOf = (portions: ReadonlyArray<BranchFlush>) => portions.flatMap(({ objects }) => objects)

/** A portion whose branch is where it begins. */
interface ReadyFlush extends BranchFlush {
  readonly index: number
  readonly ref: FoundRef
}

/** What a flush came to for one branch. */
export type FlushOutcome = RefOutcome | RemoteError | AmbiguousWriteError

/** The error of a ref that moved, or was deleted, where its directory could not be synced. */
export const unsettled = (
  operation: string,
  directory: string,
  fact: string,
  cause: unknown
): AmbiguousWriteError =>
  new AmbiguousWriteError({
    operation,
    path: directory,
    message: `${fact}, but the disk does not say that it will stay so: ${toRemoteError("", directory, cause).message}`,
    unsettled: true,
    hint: "The write can be seen now and may be gone after a power cut: look at the branch before writing it again",
    cause
  })

/**
 * Writes the objects of all portions as one pack and then moves each branch; answers what became of each. Five
 * barriers when durable: pack, index and new ref content at once, the packs' directory, the ref's directory.
 */
export const flush = async (
  options: FlushOptions,
  portions: ReadonlyArray<BranchFlush>
): Promise<ReadonlyArray<FlushOutcome>> => {
  const { directory, durable, objects, refs } = options
  const outcomes: Array<FlushOutcome> = []
  const going: Array<ReadyFlush> = []
  for (const [index, portion] of portions.entries()) {
    try {
      const ref = refs.find(branchRef(portion.branch))
      const isAtBase = ref.oid === portion.base
      outcomes[index] = isAtBase ? { _tag: "Done" } : { _tag: "Moved", actual: ref.oid }
      if (isAtBase) going.push({ ...portion, index, ref })
    } catch (cause) {
      outcomes[index] = toRemoteError("GitRepository.commitNext", directory, cause)
    }
  }
  if (going.length === 0) return outcomes
  const { publish } = options
  if (publish !== undefined) {
    const answers = await publish(going, async ({ thin }) => (await buildPack(objectsOf(going), thin)).chunks)
    for (const [i, { index }] of going.entries()) outcomes[index] = answers[i]!
    const published = going.filter(({ index }) => outcomes[index]!._tag === "Done")
    try {
      await flush({ ...options, publish: undefined }, published)
    } catch {
      // What is published is written: what is not kept here is fetched when it is needed.
    }
    return outcomes
  }
  const pack = await buildPack(objectsOf(going))
  const prepared: Array<{ readonly file: string; readonly fd: number }> = []
  let unprotect = () => {}
  try {
    for (const { tip } of going) prepared.push(refs.prepare(`${tip}\n`))
    unprotect = await objects.writePack(
      pack,
      durable,
      prepared.map(({ fd }) => fd),
      prepared[0]!.file
    )
    for (const [i, { index, late, ref }] of going.entries()) {
      try {
        const timeout = late === true ? 0 : undefined
        outcomes[index] = await refs.move(ref, prepared[i]!.file, undefined, timeout)
      } catch (cause) {
        outcomes[index] = toRemoteError("GitRepository.commitNext", directory, cause)
      }
    }
    if (durable) {
      const moved = going.filter(({ index }) => outcomes[index]!._tag === "Done")
      try {
        await refs.settle(moved.map(({ ref }) => ref))
      } catch (cause) {
        for (const portion of moved) {
          const fact = `${portion.tip} is on ${portion.branch}`
          outcomes[portion.index] = unsettled("GitRepository.commitNext", directory, fact, cause)
        }
      }
    }
  } finally {
    unprotect()
    for (const { fd, file } of prepared) {
      fs.closeSync(fd)
      tryUnlink(file)
    }
  }
  return outcomes
}
