import { execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { Effect, Option } from "effect"
import * as Engine from "../../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../../src/git/disk/port/GitRepository.js"
import type { Change } from "../../../../src/store/remote/GitRemote.js"

/** A directory that goes with the scope. */
export const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-git-"))),
  (directory) =>
    Effect.sync(() => {
      execFileSync("chmod", ["-R", "u+rwX", directory])
      fs.rmSync(directory, { recursive: true, force: true })
    })
)

/** An engine over a new repository in a directory of its own. */
export const engine = (options: Partial<Engine.EngineOptions> = {}) =>
  Effect.flatMap(temporary, (directory) =>
    Engine.open({ directory: path.join(directory, "test.git"), create: true, ...options })
  )

/** The temporary files of the engines that have a repository open. */
const seal = (directory: string, sealed: boolean) =>
  process.getuid?.() === 0
    ? spawnSync("chattr", ["-R", sealed ? "+i" : "-i", directory]).status === 0
    : spawnSync("chmod", ["-R", sealed ? "a-w" : "u+w", directory]).status === 0

/** Makes a directory read-only until the scope closes. False where that is impossible. */
export const readOnly = (directory: string) =>
  Effect.acquireRelease(
    Effect.sync(() => seal(directory, true)),
    () => Effect.sync(() => seal(directory, false))
  )

export const temporariesIn = (directory: string): ReadonlyArray<string> =>
  fs
    .readdirSync(path.join(directory, "chainstore"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.parentPath.includes("~") && !/^(process|children)-|^keep$/.test(entry.name))
    .map(({ name }) => name)

/** Stock Git, told nothing of the user's configuration. */
export const git = (directory: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-C", directory, "-c", "user.name=Git", "-c", "user.email=git@example.org", ...args], {
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 1 << 28
  })

/** Fails unless stock Git finds nothing to say about the repository. */
export const assertSound = (directory: string): void => {
  const said = execFileSync("git", ["-C", directory, "fsck", "--strict", "--full", "--no-dangling"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"]
  })
  if (said.trim() !== "") throw new Error(`git fsck: ${said}`)
}

export const put = (file: string, content: string | Uint8Array): Change => ({
  _tag: "Put",
  path: file,
  content: typeof content === "string" ? Buffer.from(content) : content
})
export const remove = (file: string): Change => ({ _tag: "Remove", path: file })

/** Commits on whatever the head is. */
export const write = (
  repository: GitRepository,
  changes: ReadonlyArray<Change>,
  options: { readonly branch?: string; readonly message?: string } = {}
) =>
  Effect.map(
    repository.commitNext(options.branch ?? "main", () =>
      Effect.succeed({
        commit: Option.some({ message: options.message ?? "a commit", changes }),
        result: undefined
      })
    ),
    ({ committed }) => Option.getOrThrow(committed)
  )

/** The text of a file at a commit or tree, read by stock Git. */
export const show = (directory: string, at: string, file: string): string =>
  git(directory, "show", `${at}:${file}`)
