import * as Effect from "effect/Effect"
import { RemoteError } from "../../../domain/errors/StoreError.js"
import { runToEnd } from "./GitExecution.js"
import { startProcess } from "./GitProcess.js"

const minimum = [2, 39] as const

/** The version of the last Git that was found, and the `PATH` of that lookup. */
let foundGit: { readonly path: string | undefined; readonly version: string } | undefined

/** Fails with `Unsupported` unless a supported version of Git is on the PATH. The result is cached for each `PATH`. */
export const requireGit: Effect.Effect<string, RemoteError> = Effect.suspend(() => {
  const path = process.env["PATH"]
  if (foundGit !== undefined && foundGit.path === path) return Effect.succeed(foundGit.version)
  const version = runToEnd(
    "/",
    "GitRepository.open",
    () => startProcess("git", ["--version"]),
    (child) => child.kill("SIGKILL")
  )
  return Effect.flatMap(version, ({ stdout }) => {
    const match = /(\d+)\.(\d+)(?:\.\d+)*/.exec(stdout)
    const [major, minor] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)]
    if (major > minimum[0] || (major === minimum[0] && minor >= minimum[1])) {
      const version = match?.[0] ?? ""
      foundGit = { path, version }
      return Effect.succeed(version)
    }
    return Effect.fail(
      new RemoteError({
        operation: "GitRepository.open",
        reason: "Unsupported",
        message: `Git ${minimum.join(".")} or newer is needed, found ${stdout.trim() || "nothing"}`,
        hint: "Install a newer Git and put it on the PATH"
      })
    )
  })
})
