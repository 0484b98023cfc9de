import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Steps from "../../../domain/concurrency/Steps.js"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import { BrokenTree } from "./BrokenTree.js"
import type { TreeReader, TreeReaderDirectory } from "./TreeReader.js"

/** The directories and files that a computation reads next. */
export interface ReadRequest {
  readonly directories: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
}

/** The results in the order of the request; undefined for missing ones. */
export interface ReadReply {
  readonly directories: ReadonlyArray<TreeReaderDirectory | undefined>
  readonly files: ReadonlyArray<Uint8Array | undefined>
}

/**
 * A computation over stored trees, as a generator. It yields read requests, or undefined where it may pause. It throws
 * `BrokenTree`.
 */
export type ReadSteps<A> = Generator<ReadRequest | undefined, A, ReadReply>

/** A computation without reads. */
export function* withoutReads<A>(steps: Steps.Steps<A>): ReadSteps<A> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    yield
  }
}

export function* readDirectories(paths: ReadonlyArray<string>): ReadSteps<ReadReply["directories"]> {
  if (paths.length === 0) return []
  return (yield { directories: paths, files: [] }).directories
}

export function* readFiles(paths: ReadonlyArray<string>): ReadSteps<ReadReply["files"]> {
  if (paths.length === 0) return []
  return (yield { directories: [], files: paths }).files
}

const fetch = <E>(
  { concurrency, directory, files }: TreeReader<E>,
  request: ReadRequest
): Effect.Effect<ReadReply, E> => {
  const paths = request.directories
  const [only] = paths
  const directories =
    paths.length === 1
      ? Effect.map(directory(only!), (found) => [found])
      : Effect.forEach(paths, directory, { concurrency })
  if (request.files.length === 0)
    return Effect.map(directories, (found) => ({ directories: found, files: [] }))
  const contents = files(request.files)
  if (paths.length === 0) return Effect.map(contents, (found) => ({ directories: [], files: found }))
  return Effect.zipWith(directories, contents, (directories, files) => ({ directories, files }), {
    concurrent: concurrency > 1
  })
}

interface RunState<A> {
  readonly steps: ReadSteps<A>
  request: ReadRequest | undefined
  result: Either.Either<A, BrokenTree> | undefined
}

/** Runs a computation to its next yield. */
const advance = <A>(run: RunState<A>, reply: ReadReply): void => {
  try {
    const step = run.steps.next(reply)
    if (step.done === true) run.result = Either.right(step.value)
    else run.request = step.value
  } catch (error) {
    if (!(error instanceof BrokenTree)) throw error
    run.result = Either.left(error)
  }
}

const nothing: ReadReply = { directories: [], files: [] }

/** Runs several computations together: their read requests are combined. */
export const runAllSteps = <A, E>(
  reader: TreeReader<E>,
  readings: ReadonlyArray<() => ReadSteps<A>>
): Effect.Effect<ReadonlyArray<Either.Either<A, BrokenTree>>, E> =>
  Effect.suspend(() => {
    const runs = readings.map(
      (start): RunState<A> => ({ steps: start(), request: undefined, result: undefined })
    )
    const slice = TimeSlice.make()
    const next = (): Effect.Effect<ReadonlyArray<Either.Either<A, BrokenTree>>, E> => {
      for (const runSteps of runs) {
        while (runSteps.result === undefined && runSteps.request === undefined) {
          if (slice.isSpent()) return Effect.zipRight(slice.pause, Effect.suspend(next))
          advance(runSteps, nothing)
        }
      }
      const open = runs.filter(({ result }) => result === undefined)
      if (open.length === 0) return Effect.succeed(runs.map(({ result }) => result!))
      const requests = open.map(({ request }) => request!)
      const all = {
        directories: requests.flatMap(({ directories }) => directories),
        files: requests.flatMap(({ files }) => files)
      }
      return Effect.flatMap(fetch(reader, all), (found) => {
        const [directories, files] = [[...found.directories], [...found.files]]
        for (const [at, run] of open.entries()) {
          const request = requests[at]!
          run.request = undefined
          advance(run, {
            directories: directories.splice(0, request.directories.length),
            files: files.splice(0, request.files.length)
          })
        }
        return next()
      })
    }
    return next()
  })

/** Runs one computation. */
export const run = <A, E>(
  reader: TreeReader<E>,
  reading: () => ReadSteps<A>
): Effect.Effect<A, E | BrokenTree> => Effect.flatMap(runAllSteps(reader, [reading]), ([result]) => result!)
