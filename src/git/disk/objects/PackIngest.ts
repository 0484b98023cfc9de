import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { attempt, EngineError, toRemoteError } from "../files/EngineError.js"
import { gitFailure, spawnFailure, spawnGit } from "../processes/GitProcess.js"

export interface IngestOptions {
  readonly directory: string
  readonly operation: string
  /** The largest size of a pack, in bytes. */
  readonly maxBytes: number
}

/**
 * Stores the objects of a pack in a repository by `git index-pack`, in bounded memory. The id of each object is verified. The pack
 * may be thin: its deltas may have bases in the repository. An interruption leaves no pack.
 */
export const ingest = <E>(
  { directory, maxBytes, operation }: IngestOptions,
  pack: Stream.Stream<Uint8Array, E>
): Effect.Effect<void, E | RemoteError> =>
  Effect.acquireUseRelease(
    attempt(operation, directory, () => {
      const failure = (code: number, stderr: string) =>
        /exceeds maximum allowed size/.test(stderr)
          ? toRemoteError(
              operation,
              directory,
              new EngineError("Denied", `A pack has more than ${maxBytes} bytes`)
            )
          : gitFailure(directory, operation, code, stderr)
      const child = spawnGit(directory, [
        "index-pack",
        "--stdin",
        "--fix-thin",
        `--max-input-size=${maxBytes}`
      ])
      let stderr = ""
      child.stdout.resume()
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        if (stderr.length < 65_536) stderr += text
      })
      const ended = new Promise<RemoteError | undefined>((resolve) => {
        child.on("error", (cause) => resolve(spawnFailure(directory, operation, cause)))
        child.on("close", (code) => resolve(code === 0 ? undefined : failure(code ?? 128, stderr)))
      })
      return { child, ended }
    }),
    ({ child, ended }) => {
      const write = (bytes: Uint8Array) =>
        Effect.async<void>((resume) => {
          // If Git ended early, its exit reports the error.
          if (child.stdin.destroyed || child.stdin.writableEnded) return resume(Effect.void)
          child.stdin.write(bytes, () => resume(Effect.void))
        })
      return Stream.runForEach(pack, write).pipe(
        Effect.zipRight(
          Effect.promise(() => {
            child.stdin.end()
            return ended
          })
        ),
        Effect.flatMap((failure) => (failure === undefined ? Effect.void : Effect.fail(failure)))
      )
    },
    ({ child, ended }) =>
      Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      })
  )
