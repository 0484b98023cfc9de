/** Processes of other users and in other containers, which lock branches or start engines. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { Effect, Option } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../../src/git/disk/Engine.js"
import { bundled } from "../../../support/bundled.js"
import { endOf, started, until } from "./children.js"
import { put, temporary, write } from "./temporary.js"

export const isRoot = process.getuid?.() === 0

/** Programs of the system, also while the engines of a test process find only some of them. */
const env: Record<string, string | undefined> = { PATH: process.env["PATH"], HOME: "/nonexistent" }

/** Whether `unshare` accepts these arguments here. */
export const can = (...args: ReadonlyArray<string>) =>
  isRoot && spawnSync("unshare", [...args, "true"]).status === 0

const nobody = "65534"

/** Begins a command of another user. */
export const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"]

export const giveToNobody = (file: string) => spawnSync("chown", ["-R", `${nobody}:${nobody}`, file])

/** A repository in a directory that everybody may enter, with a branch `other`, and the id of its commit. */
export const filledForAll = Effect.gen(function* () {
  const home = yield* temporary
  fs.chmodSync(home, 0o755)
  const directory = `${home}/test.git`
  const commit = yield* Effect.scoped(
    Effect.gen(function* () {
      const repository = yield* Engine.open({ directory, create: true, maintenance: false })
      const { commit } = yield* write(repository, [put("a", "1")])
      yield* repository.updateRef("refs/heads/other", Option.none(), Option.some(commit as Oid))
      return commit as Oid
    })
  )
  return { home, directory, commit }
})

/** A program of `support`, where every user may read it. */
export const programIn = (home: string, name: string) => {
  const program = `${home}/${name}.mjs`
  fs.copyFileSync(bundled(new URL(`./${name}.ts`, import.meta.url)), program)
  return program
}

/** A running Git command that is about to delete the branch `other`, and holds its lock. */
export const deleting = (
  directory: string,
  commit: string,
  command: ReadonlyArray<string> = ["git", "-C", directory],
  cwd = "/"
) =>
  Effect.gen(function* () {
    const lock = `${directory}/refs/heads/other.lock`
    const [first = "", ...rest] = [...command, "update-ref", "--stdin"]
    const child = yield* started(first, rest, { stdio: ["pipe", "pipe", "pipe"], cwd, env })
    child.stdin!.on("error", () => {})
    child.stdin!.write(`start\ndelete refs/heads/other ${commit}\nprepare\n`)
    yield* until(() => fs.existsSync(lock) || child.exitCode !== null)
    return { child, lock }
  })

/** A shell command that runs Git in the background, like `deleting`, as soon as `home` has a file `lock`. */
export const deletingLater = (home: string, commit: string, command: string) =>
  `{ until [ -e ${home}/lock ]; do sleep 0.02; done
  { printf 'start\ndelete refs/heads/other ${commit}\nprepare\n'; sleep 20; } |
  ${command} update-ref --stdin >/dev/null; } </dev/null >/dev/null 2>&1 &`

/** Makes the command of `deletingLater` lock the branch. */
export const lockedLater = (home: string, directory: string) =>
  Effect.suspend(() => {
    fs.writeFileSync(`${home}/lock`, "")
    return until(() => fs.existsSync(`${directory}/refs/heads/other.lock`))
  })

/** Another process with an engine, in which a Git child fails while `during` runs. Returns its end. */
export const failingElsewhere = <E, R>(
  command: ReadonlyArray<string>,
  directory: string,
  during: Effect.Effect<unknown, E, R>,
  {
    before = "nothing",
    environment = env,
    program = bundled(new URL("./failingChild.ts", import.meta.url))
  }: { readonly before?: string; readonly environment?: typeof env; readonly program?: string } = {}
) =>
  Effect.gen(function* () {
    const [first = "", ...rest] = [...command, process.execPath, program, directory, before]
    const child = yield* started(first, rest, { stdio: ["pipe", "pipe", "pipe"], cwd: "/", env: environment })
    let said = ""
    child.stdout!.on("data", (text: Buffer) => (said += text))
    const end = yield* Effect.fork(endOf(child))
    yield* until(() => said.includes("ready") || child.exitCode !== null)
    yield* during
    yield* Effect.sleep(100)
    child.stdin!.write("go\n")
    return yield* end
  })

/** A file like /proc/uptime, of a container that has run for some seconds, which are shown as a text. */
export const uptimeFrom = (seconds: number, shown = (now: number) => now.toFixed(2)) =>
  Effect.gen(function* () {
    const file = `${yield* temporary}/uptime`
    fs.writeFileSync(file, "")
    const fd = fs.openSync(file, "r+")
    const begin = performance.now()
    const show = () => fs.writeSync(fd, `${shown(seconds + (performance.now() - begin) / 1000)} 100.00\n`, 0)
    show()
    const timer = setInterval(show, 5)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        clearInterval(timer)
        fs.closeSync(fd)
      })
    )
    return file
  })

/** Begins a command for which /proc/uptime is another file. */
export const withUptime = (file: string, before = "") => [
  ...["unshare", "-m", "sh", "-c"],
  `mount --bind "$0" /proc/uptime && ${before} exec "$@"`,
  file
]

/** Waits until a process has listed the Git commands, at most five seconds. */
export const listing = (directory: string) =>
  Effect.gen(function* () {
    const program = bundled(new URL("./gitWriters.ts", import.meta.url))
    const lister = yield* started(process.execPath, [program, directory], { stdio: "ignore" })
    yield* Effect.repeat(Effect.sleep(50), { until: () => lister.exitCode !== null, times: 100 })
    return lister.exitCode
  })
