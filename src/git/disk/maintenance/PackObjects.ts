import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { attempt, attemptSteps } from "../files/EngineError.js"
import { withChildren } from "../lease/ChildWork.js"
import type { Lease } from "../lease/Lease.js"
import { entriesIn } from "../lease/StaleFiles.js"
import type { ObjectFiles } from "../objects/ObjectFiles.js"
import { run, runTethered } from "../processes/GitExecution.js"

const operation = "GitRepository.maintain"
const settings = [
  "core.fsync=all",
  "core.fsyncMethod=fsync",
  "pack.threads=1",
  "pack.writeReverseIndex=false"
].flatMap((setting) => ["-c", setting])

/** For how many milliseconds the refs of a damaged repository are packed in parts. */
const maxPartsTime = 60_000

/** Whether a repository is a partial clone, which may lack objects. */
export const isPartial = (directory: string): Effect.Effect<boolean, RemoteError> =>
  attempt(operation, directory, () =>
    entriesIn(path.join(directory, "objects", "pack")).some(({ name }) => name.endsWith(".promisor"))
  )

/** Writes objects to new packs whose paths begin with `target`, and returns those paths without extension. */
export interface PackObjects {
  /** The objects of packs, which are given by their paths without extension. */
  readonly combine: (
    stems: ReadonlyArray<string>,
    target: string
  ) => Effect.Effect<ReadonlyArray<string>, RemoteError>
  /**
   * The loose objects that refs reach. What was reached before is not searched again. If Git cannot read something, only the refs
   * that it can read are searched.
   */
  readonly packLoose: (target: string) => Effect.Effect<ReadonlyArray<string>, RemoteError>
  /** Notes that the objects of the last `packLoose` are packed, and need not be searched again. */
  readonly setSearched: () => void
}

export const makePackObjects = (directory: string, lease: Lease, files: ObjectFiles): PackObjects => {
  /** The ids of the refs whose objects are packed. */
  let searched: ReadonlyArray<Oid> = []
  /** The ids of the refs that the last search has reached. */
  let reached: ReadonlyArray<Oid> = []

  const packObjects = (
    args: ReadonlyArray<string>,
    target: string,
    options: { readonly input: string; readonly refsOf?: string }
  ) =>
    Effect.map(
      withChildren(
        lease,
        operation,
        directory,
        runTethered(
          directory,
          operation,
          [...settings, "pack-objects", ...args, "--non-empty", "--delta-base-offset", "-q", target],
          options
        )
      ),
      ({ stdout }) => stdout.split("\n").flatMap((hash) => (hash === "" ? [] : [`${target}-${hash}`]))
    )

  /** A directory without refs: Git reads the object of each tag when it writes a pack, and fails at a damaged one. */
  const withoutRefs = (target: string) =>
    attempt(operation, directory, () => {
      const refsOf = `${target}-refs`
      fs.mkdirSync(path.join(refsOf, "refs"), { recursive: true })
      fs.writeFileSync(path.join(refsOf, "HEAD"), "ref: refs/heads/none\n")
      return refsOf
    })

  const combine = (stems: ReadonlyArray<string>, target: string) =>
    Effect.gen(function* () {
      if (stems.length === 0) return []
      const input = `${target}-input`
      yield* attempt(operation, directory, () =>
        fs.writeFileSync(input, stems.map((stem) => `${path.basename(stem)}.pack\n`).join(""))
      )
      return yield* packObjects(["--stdin-packs"], target, { input, refsOf: yield* withoutRefs(target) })
    })

  const idsOfRefs = Effect.map(
    run(directory, operation, ["for-each-ref", "--format=%(objectname)"]),
    ({ stdout }) => [...new Set(stdout.split("\n").filter((oid): oid is Oid => oid !== ""))]
  )

  /** The refs of the last search that still exist as objects. */
  const known = attemptSteps(operation, directory, function* () {
    const found: Array<Oid> = []
    for (const oid of searched) {
      if (files.info(oid) !== undefined) found.push(oid)
      yield
    }
    return found
  })

  const packLoose = (target: string) =>
    Effect.gen(function* () {
      if (yield* attempt(operation, directory, () => files.loose.isEmpty())) return []
      const partial = (yield* isPartial(directory)) ? ["--exclude-promisor-objects"] : []
      const input = `${target}-input`
      const before = yield* known
      const write = (text: string) => attempt(operation, directory, () => fs.writeFileSync(input, text))
      const args = ["--incremental", "--local", "--honor-pack-keep", ...partial]
      const packAll = Effect.gen(function* () {
        yield* write(before.length === 0 ? "" : `--not\n${before.join("\n")}\n`)
        const all = ["--revs", "--all", "--reflog", "--indexed-objects", ...args]
        return yield* packObjects(all, target, { input })
      })
      // What was searched before may be what cannot be read.
      const pack = (ids: ReadonlyArray<Oid>) =>
        Effect.gen(function* () {
          yield* write(ids.map((id) => `${id}\n`).join(""))
          return yield* packObjects(["--revs", ...args], target, {
            input,
            refsOf: yield* withoutRefs(target)
          })
        })
      const refs = yield* idsOfRefs
      const end = performance.now() + maxPartsTime
      /** Packs what these refs reach. What Git cannot read is found by halving the refs. */
      const packReadable = (some: ReadonlyArray<Oid>): Effect.Effect<ReadonlyArray<string>, RemoteError> =>
        Effect.gen(function* () {
          if (some.length === 0 || performance.now() > end) return []
          const written = yield* Effect.either(pack(some))
          if (Either.isRight(written)) {
            reached = [...reached, ...some]
            return written.right
          }
          if (written.left.reason === "Denied") return yield* written.left
          if (some.length === 1) return []
          const half = some.length >>> 1
          const first = yield* packReadable(some.slice(0, half))
          return [...first, ...(yield* packReadable(some.slice(half)))]
        })
      const all = yield* Effect.either(packAll)
      if (Either.isRight(all)) {
        reached = refs
        return all.right
      }
      if (all.left.reason === "Denied") return yield* all.left
      yield* Effect.logWarning("a part of a repository could not be read by its maintenance", all.left)
      reached = []
      const written = yield* packReadable(refs)
      // Parts that need the same objects have made the same pack.
      return reached.length === 0 ? yield* all.left : [...new Set(written)]
    })

  return {
    combine,
    packLoose,
    setSearched: () => {
      searched = reached
    }
  }
}
