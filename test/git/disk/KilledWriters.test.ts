import { spawnSync } from "node:child_process"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { killRepeatedly } from "./support/kills.js"
import { writerProcess } from "./support/processes.js"
import { assertSound, git, show, temporary } from "./support/temporary.js"

it.scopedLive(
  "kills of a writing process lose nothing that was acknowledged",
  () => killRepeatedly(2),
  60_000
)

/** Raises the shared counter once by stock Git's plumbing; false when the branch moved meanwhile. */
const commitByGit = (directory: string, n: number): boolean => {
  const head = git(directory, "rev-parse", "main").trim()
  const count = Number(show(directory, head, "counter"))
  const script = `
    set -e
    export GIT_INDEX_FILE=$PWD/git-index-${n} GIT_AUTHOR_NAME=Git GIT_AUTHOR_EMAIL=g@x GIT_COMMITTER_NAME=Git GIT_COMMITTER_EMAIL=g@x
    git read-tree ${head}
    for file in counter data/g/git-${n}; do
      blob=$(printf '%s' ${count + 1} | git hash-object -w --stdin)
      git update-index --add --cacheinfo 100644,$blob,$file
    done
    commit=$(git commit-tree -m 'insert git-${n}' -p ${head} $(git write-tree))
    rm $GIT_INDEX_FILE
    git update-ref refs/heads/main $commit ${head}`
  return spawnSync("bash", ["-c", script], { cwd: directory, stdio: "ignore" }).status === 0
}

it.scopedLive(
  "two processes, stock Git and its housekeeping at once lose no update",
  () =>
    Effect.gen(function* () {
      const directory = `${yield* temporary}/shared.git`
      yield* Engine.create({ directory })
      const writers = yield* Effect.forEach(["a", "b"], (name) =>
        writerProcess(directory, name, { writes: 60, fibres: 3 })
      )
      yield* Effect.forEach(writers, (writer) => writer.ready)
      yield* Effect.repeat(Effect.sleep(5), {
        until: () => writers.some((writer) => writer.acknowledged.length > 0)
      })
      let byGit = 0
      for (let n = 0; n < 8; n++) {
        if (commitByGit(directory, n)) byGit++
        const housekeeping = [
          ["pack-refs", "--all"],
          ["gc", "--prune=now"],
          ["repack", "-a", "-d", "-q"]
        ][n % 3]!
        spawnSync("git", ["-C", directory, ...housekeeping], { stdio: "ignore" })
      }
      for (const writer of writers) {
        assert.deepStrictEqual(yield* writer.exit, { code: 0, stderr: "" })
        assert.strictEqual(writer.acknowledged.length, 60)
      }
      while (byGit === 0) if (commitByGit(directory, 99)) byGit++
      const expected = 120 + byGit
      assert.strictEqual(Number(show(directory, "main", "counter")), expected)
      assert.strictEqual(Number(git(directory, "rev-list", "--count", "main")), expected)
      assertSound(directory)
    }),
  60_000
)
