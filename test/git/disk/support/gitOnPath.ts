import * as fs from "node:fs"
import { Effect, Fiber } from "effect"
import type { GitRepository } from "../../../../src/git/disk/port/GitRepository.js"
import { git, temporary } from "./temporary.js"

/** A directory with a script `git`. `$git` is the real one, and `$here` the directory. */
const scripted = (directory: string, script: string) =>
  Effect.gen(function* () {
    const here = yield* temporary
    const real = `${git(directory, "--exec-path").trim()}/git`
    const text = `#!/bin/sh\ngit=${real}\nhere=${here}\n${script}\n`
    fs.writeFileSync(`${here}/git`, text, { mode: 0o755 })
    return { here, real }
  })

/** Runs an effect while the engines of this process start the `git` of a directory. */
const withGitOf = <A, E, R>(here: string, effect: Effect.Effect<A, E, R>) => {
  const before = process.env["PATH"]
  const setPath = (to: string | undefined) =>
    Effect.sync(() => {
      process.env["PATH"] = to
    })
  return Effect.acquireUseRelease(
    setPath(`${here}:${before}`),
    () => effect,
    () => setPath(before)
  )
}

/** Runs an effect, and returns its result with the number of Git commands of each name that it started. */
export const countingGit = <A, E, R>(
  directory: string,
  effect: Effect.Effect<A, E, R>,
  script = 'exec $git "$@"'
) =>
  Effect.gen(function* () {
    const { here } = yield* scripted(directory, `echo "$*" >>$here/commands\n${script}`)
    fs.writeFileSync(`${here}/commands`, "")
    const result = yield* withGitOf(here, effect)
    const commands = fs.readFileSync(`${here}/commands`, "utf8").split("\n")
    const countOf = (name: string) => commands.filter((line) => line.includes(` ${name} `)).length
    return { result, countOf }
  })

/** Runs an effect with a script in place of `git`. */
export const withScript = <A, E, R>(directory: string, script: string, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(scripted(directory, script), ({ here }) => withGitOf(here, effect))

/** Starts the maintenance, stops it when it has combined the first objects, and returns its end. */
export const stoppedMaintenance = (repository: GitRepository) =>
  Effect.gen(function* () {
    const { here } = yield* scripted(
      repository.directory,
      `$git "$@"; code=$?
case "$*" in *pack-objects*) touch $here/stopped; until [ -e $here/go ]; do sleep 0.02; done ;; esac
exit $code`
    )
    const resume = Effect.sync(() => fs.writeFileSync(`${here}/go`, ""))
    return yield* withGitOf(
      here,
      Effect.gen(function* () {
        const running = yield* Effect.forkScoped(repository.maintain)
        yield* Effect.addFinalizer(() => resume)
        yield* Effect.repeat(Effect.sleep(5), { until: () => fs.existsSync(`${here}/stopped`) })
        return Effect.zipRight(resume, Fiber.join(running))
      })
    )
  })

/** Runs an effect while the clock of this process is two days ahead. */
export const daysLater = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const now = Date.now
  return Effect.acquireUseRelease(
    Effect.sync(() => {
      Date.now = () => now() + 2 * 86_400_000
    }),
    () => effect,
    () =>
      Effect.sync(() => {
        Date.now = now
      })
  )
}
