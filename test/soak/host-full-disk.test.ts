import { execFile, execFileSync, spawnSync } from "node:child_process"
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { asking, port, serve } from "../support/service/ServiceProcess.js"

const token = "full-disk-test-token-0123456789"
const git = promisify(execFile)

const canMount = spawnSync("unshare", ["--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0

const isFull = (cause: unknown) => (cause as NodeJS.ErrnoException).code === "ENOSPC"

const untilFull = (step: (count: number) => void): void => {
  try {
    for (let count = 0; ; count++) step(count)
  } catch (cause) {
    if (!isFull(cause)) throw cause
  }
}

const fillBytes = (directory: string): void => {
  const file = openSync(join(directory, "filler"), "w")
  for (const size of [65_536, 4096, 1]) untilFull(() => writeSync(file, Buffer.alloc(size)))
  closeSync(file)
}

const fillInodes = (directory: string): void =>
  untilFull((n) => writeFileSync(join(directory, `filler${n}`), ""))

it.scopedLive.skipIf(!canMount)(
  "a full disk: the process lives, reads succeed, writes are refused, and everything recovers with space",
  () =>
    Effect.gen(function* () {
      const directory = mkdtempSync(join(tmpdir(), "full-disk-"))
      const serving = yield* serve(
        { CHAINSTORE_HOST_TOKEN: token, CHAINSTORE_DATA: join(directory, "data") },
        [],
        "host",
        { tmpfs: { directory, options: "size=16m,nr_inodes=1200" } }
      )
      const url = `http://127.0.0.1:${yield* port(serving)}`
      // The mount is seen through the process that has it.
      const inside = `/proc/${serving.child.pid}/root${directory}`
      const ask = asking(url, token)
      const files = "/repos/local/demo/contents"
      let writes = 0
      const acknowledged: Array<string> = []
      const put = (bytes = 100) =>
        Effect.gen(function* () {
          const name = `file-${writes++}.txt`
          const content = Buffer.alloc(bytes, name).toString("base64")
          const answer = yield* ask("PUT", `${files}/${name}`, { message: name, content })
          if (answer.status === 201) acknowledged.push(name)
          return answer
        })
      const work = mkdtempSync(join(tmpdir(), "full-disk-work-"))
      const run = (...args: ReadonlyArray<string>) =>
        Effect.promise(() =>
          git("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: work }).then(
            () => 0,
            () => 1
          )
        )
      const own = url.replace("//", `//x:${token}@`)
      const reads = Effect.gen(function* () {
        const answers = yield* Effect.all([
          ask("GET", files),
          ask("GET", "/repos/local/demo/commits"),
          ask("GET", "/local/demo.git/info/refs?service=git-upload-pack")
        ])
        return answers.map(({ status }) => status)
      })
      assert.strictEqual(yield* run("clone", `${own}/local/demo.git`, "."), 0)
      assert.strictEqual((yield* put()).status, 201)

      for (const [name, fill] of Object.entries({ "no space": fillBytes, "no inodes": fillInodes })) {
        fill(inside)
        const refused = [yield* put(), yield* put(200_000), yield* put(3_000_000)]
        // A small write may fit into a page that is there.
        for (const { status, text } of refused.slice(1)) {
          assert.include([500, 502, 503, 507], status, `${name}: ${text}`)
          assert.match(JSON.parse(text).message, /space|disk|full/i, name)
          assert.notInclude(text, directory)
        }
        assert.strictEqual(yield* run("commit", "--allow-empty", "-m", name), 0)
        assert.strictEqual(yield* run("push", "origin", `HEAD:refs/heads/${name.replace(" ", "-")}`), 1, name)
        assert.deepStrictEqual(yield* reads, [200, 200, 200], name)
        assert.isNull(serving.child.exitCode)

        execFileSync("sh", ["-c", `rm -f ${inside}/filler*`])
        const after = [yield* put(), yield* put(200_000), yield* put(3_000_000)]
        assert.deepStrictEqual(
          after.map(({ status }) => status),
          [201, 201, 201],
          `${name}: ${after.map(({ text }) => text.slice(0, 200))}`
        )
        assert.strictEqual(yield* run("push", "origin", `HEAD:refs/heads/${name.replace(" ", "-")}`), 0, name)
      }

      assert.strictEqual(yield* run("fetch", "origin"), 0)
      const listed = execFileSync("git", ["ls-tree", "--name-only", "origin/main"], { cwd: work }).toString()
      for (const name of acknowledged) assert.include(listed.split("\n"), name)
      const repository = join(directory, "data/repos/local/demo.git")
      const target = ["--mount", `--target=${serving.child.pid}`]
      execFileSync("nsenter", [...target, "git", `--git-dir=${repository}`, "fsck", "--strict"], {
        stdio: "pipe"
      })
      rmSync(work, { recursive: true })
    }),
  240_000
)
