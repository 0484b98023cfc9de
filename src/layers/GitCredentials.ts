import { execFile } from "node:child_process"
import { Effect, Redacted } from "effect"

/** What Git's credential helpers know of an address; nothing is asked on a terminal, and nothing known is no failure. */
export const credentialsOf = (
  url: string
): Effect.Effect<{ readonly username?: string; readonly token?: Redacted.Redacted<string> }> =>
  Effect.async((resume) => {
    const child = execFile(
      "git",
      ["credential", "fill"],
      {
        env: { ...process.env, GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "", SSH_ASKPASS: "" },
        timeout: 30_000
      },
      (failure, stdout) => {
        const told = new Map(
          stdout.split("\n").map((line) => {
            const at = line.indexOf("=")
            return [line.slice(0, at), line.slice(at + 1)] as const
          })
        )
        const [username, password] = [told.get("username"), told.get("password")]
        resume(
          Effect.succeed(
            failure !== null || password === undefined
              ? {}
              : { token: Redacted.make(password), ...(username === undefined ? {} : { username }) }
          )
        )
      }
    )
    child.stdin?.on("error", () => {})
    child.stdin?.end(`url=${url.replace(/[\r\n].*$/s, "")}\n\n`)
    return Effect.sync(() => void child.kill())
  })
