import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { started, until } from "./support/children.js"
import { can, deleting, failingElsewhere, filledForAll, isRoot, listing } from "./support/elsewhere.js"
import { temporary } from "./support/temporary.js"

/**
 * Mounts a file system whose root has a directory `data`, and answers until a line arrives, or never. Then it does not respond.
 */
const server = `
import ctypes, os, select, struct, sys
fd = os.open("/dev/fuse", os.O_RDWR)
answers = sys.argv[2] == "answers"
options = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % fd
done = ctypes.CDLL(None).mount(b"served", sys.argv[1].encode(), b"fuse", 0, options.encode())
def answer(unique, error, body=b""):
    os.write(fd, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
def attributes(node):
    return struct.pack("<QQQQQQIIIIIIIIII", node, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
print("mounted" if done == 0 else "refused", flush=True)
while answers and 0 not in select.select([fd, 0], [], [])[0]:
    request = os.read(fd, 1 << 17)
    length, operation, unique, node = struct.unpack_from("<IIQQ", request)
    if operation == 26: answer(unique, 0, struct.pack("<IIIIHHIIHHI28x", 7, 31, 4096, 0, 16, 12, 4096, 1, 1, 0, 0))
    elif operation in (2, 36, 42): pass
    elif operation == 3: answer(unique, 0, struct.pack("<QII", 0, 0, 0) + attributes(node))
    elif operation == 1 and request[40:].rstrip(b"\\0") == b"data":
        answer(unique, 0, struct.pack("<QQQQII", 2, 0, 0, 0, 0, 0) + attributes(2))
    elif operation == 1: answer(unique, -2)
    elif operation == 17: answer(unique, 0, struct.pack("<QQQQQIIII24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0))
    elif operation == 27: answer(unique, 0, struct.pack("<QII", 1, 0, 0))
    elif operation in (28, 29): answer(unique, 0)
    else: answer(unique, -38)
os.read(0, 99)
print("hung", flush=True)
sys.stdin.read()
`

const canServe = isRoot && fs.existsSync("/dev/fuse") && spawnSync("python3", ["--version"]).status === 0

const unmounted = (at: string) =>
  Effect.addFinalizer(() => Effect.sync(() => spawnSync("umount", ["-l", at])))

/** Mounts a disk of a server, which does not respond any more after `hang`. */
const served = (at: string, answers: "answers" | "never answers" = "answers") =>
  Effect.gen(function* () {
    fs.mkdirSync(at, { recursive: true })
    yield* unmounted(at)
    const child = yield* started("python3", ["-c", server, at, answers], {
      stdio: ["pipe", "pipe", "inherit"]
    })
    let said = ""
    child.stdout!.on("data", (text: Buffer) => (said += text))
    const says = (text: string) => until(() => said.includes(text) || child.exitCode !== null)
    yield* says("mounted")
    const hang = Effect.suspend(() => {
      child.stdin!.write("hang\n")
      return says("hung")
    })
    return { at, hang }
  })

const mounted = (at: string, ...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { status, stderr } = spawnSync("mount", [...args, at], { encoding: "utf8" })
    assert.strictEqual(status, 0, stderr)
    yield* unmounted(at)
  })

/** A Git command that runs in a directory, in no repository of the test. */
const waitingIn = (cwd: string) =>
  Effect.gen(function* () {
    const waiting = yield* started("git", ["cat-file", "--batch"], {
      cwd,
      env: { PATH: process.env["PATH"], GIT_DIR: (yield* filledForAll).directory },
      stdio: ["pipe", "ignore", "ignore"]
    })
    yield* Effect.sleep(300)
    assert.isNull(waiting.exitCode)
  })

describe.skipIf(!canServe)("a disk whose server does not respond any more", () => {
  // Unlikely: a network disk that does not respond, with a Git command that waits for it as `D`. Bad: the whole process stops, reads
  // included, as soon as a Git child fails or a maintenance ends, although no repository of it is on that disk.
  it.scopedLive(
    "from the beginning, and a Git command that waits for it, do not stop the processes that list Git commands",
    () =>
      Effect.gen(function* () {
        const { directory } = yield* filledForAll
        const { at } = yield* served(`${yield* temporary}/served`, "never answers")
        yield* started("git", ["-C", `${at}/tree`, "status"], { stdio: "ignore" })
        yield* Effect.sleep(100)
        assert.strictEqual(yield* listing(directory), 0)
      }),
    60_000
  )

  // Likely where users have disks by FUSE (sshfs, rclone, gcsfuse, virtiofs) and the server is gone: Git that waits for it sleeps as `S`, not
  // as `D`. Bad: each engine of that user stops as a whole, reads included, when a Git child fails, a maintenance ends, or in `health`.
  it.scopedLive(
    "and a Git command that waits for it do not stop the processes that list Git commands",
    () =>
      Effect.gen(function* () {
        const { directory } = yield* filledForAll
        const { at, hang } = yield* served(`${yield* temporary}/served`)
        yield* hang
        const waiting = yield* started("git", ["-C", `${at}/tree`, "status"], { stdio: "ignore" })
        yield* Effect.sleep(300)
        assert.isNull(waiting.exitCode)
        assert.strictEqual(yield* listing(directory), 0)
      }),
    60_000
  )

  // Likely where homes are on NFS or by FUSE: a `git log` in a pager, or a `git commit` with an editor, was begun there before the server went
  // away, and an administrator has unmounted or replaced the disk since. It waits for its user (`S`), not for the disk. Bad, as above.
  for (const [measure, command] of [
    ["is still mounted", "true"],
    ["was unmounted lazily", "umount -l"],
    ["is covered by another disk", "mount -t tmpfs tmpfs"]
  ] as const) {
    it.scopedLive(
      `and ${measure} does not stop them, if a Git command that was begun there waits for its user`,
      () =>
        Effect.gen(function* () {
          const { directory } = yield* filledForAll
          const { at, hang } = yield* served(`${yield* temporary}/served`)
          yield* waitingIn(`${at}/data`)
          yield* hang
          yield* unmounted(at)
          const [program = "", ...args] = command.split(" ")
          assert.strictEqual(spawnSync(program, [...args, at]).status, 0)
          assert.strictEqual(yield* listing(directory), 0)
        }),
      60_000
    )
  }

  // Unlikely: an overlay over a disk of a server.
  it.scopedLive(
    "does not stop them, if it is below an overlay in which a Git command runs",
    () =>
      Effect.gen(function* () {
        const { directory } = yield* filledForAll
        const home = yield* temporary
        const lower = yield* served(`${home}/served`)
        const disk = `${home}/disk`
        fs.mkdirSync(disk)
        yield* mounted(disk, "-t", "tmpfs", "tmpfs")
        for (const name of ["upper", "work", "merged"]) fs.mkdirSync(`${disk}/${name}`)
        const options = `lowerdir=${lower.at},upperdir=${disk}/upper,workdir=${disk}/work`
        yield* mounted(`${disk}/merged`, "-t", "overlay", "-o", options, "overlay")
        yield* waitingIn(`${disk}/merged/data`)
        yield* lower.hang
        assert.strictEqual(yield* listing(directory), 0)
      }),
    60_000
  )
})

// Unlikely: the disk of the repository is mounted below one of a server (Docker Desktop, autofs, NFSv4), and Git runs in another container.
// Bad: two programs hold the same lock, so that an acknowledged commit may be lost.
describe.skipIf(!canServe || !can("-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"))(
  "a Git command that has a repository, mounted below a disk of a server, at another path",
  () => {
    it.scopedLive(
      "keeps its lock while a child of an engine fails",
      () =>
        Effect.gen(function* () {
          const home = yield* temporary
          fs.chmodSync(home, 0o755)
          const { at } = yield* served(`${home}/app`)
          yield* mounted(`${at}/data`, "-t", "tmpfs", "tmpfs")
          const { commit, directory: made } = yield* filledForAll
          const directory = `${at}/data/test.git`
          assert.strictEqual(spawnSync("cp", ["-a", made, directory]).status, 0)
          const script = `mount -t tmpfs tmpfs /mnt && mkdir /mnt/repository &&
mount --bind ${directory} /mnt/repository && cd /mnt/repository && exec git "$@"`
          const command = ["unshare", "-m", "sh", "-c", script, "sh"]
          const end = yield* failingElsewhere([], directory, deleting(directory, commit, command))
          assert.strictEqual(end, "0 ")
          assert.isTrue(fs.existsSync(`${directory}/refs/heads/other.lock`))
        }),
      60_000
    )
  }
)
