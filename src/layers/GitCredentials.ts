import { execFile } from "node:child_process"
import { Effect, Redacted } from "effect"

/** The credentials of Git's helpers for an address; empty if they have none. Never prompts on a terminal. */
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
        const fields = new Map(
          stdout.split("\n").map((line) => {
            const at = line.indexOf("=")
            return [line.slice(0, at), line.slice(at + 1)] as const
          })
        )
        const [username, password] = [fields.get("username"), fields.get("password")]
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
