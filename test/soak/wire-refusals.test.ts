import * as fs from "node:fs"
import type { IncomingMessage } from "node:http"
import * as path from "node:path"
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Option, Random } from "effect"
import { GitRemote } from "../../src/store/remote/GitRemote.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import * as Store from "../../src/store/Store.js"
import * as HttpBackend from "../support/git/HttpBackend.js"
import { bodyOf, forward, isForwarded } from "../support/git/WireFaults.js"

/**
 * Writers of several branches, one after the other and in transactions, beside a foreign writer and a branch that comes and
 * goes. A hook refuses some commits, requests and replies are lost or delivered twice, and callers are interrupted.
 */

const seed = process.env["CHAINSTORE_SEED"] ?? String(Date.now())
const duration = 30_000
const writers = 8
const branches = ["main", "one", "two"]
const [evil, good] = ["evil", "good"]

/** The hook that judges each branch by itself, and the one that judges the whole push. */
const hooks = {
  update:
    '! git diff-tree -r --name-only "$2" "$3" | grep -q evil || { echo "no evil, please" >&2; exit 1; }',
  "pre-receive": `while read old new ref; do
  [ "$new" = ${"0".repeat(40)} ] || ! git ls-tree -r --name-only "$new" | grep -q evil || { echo "no evil, please" >&2; exit 1; }
done`
}

const isPush = ({ method, url }: IncomingMessage) => method === "POST" && url!.endsWith("git-receive-pack")

/** Loses every fortieth push and every fortieth reply, and delivers every twentieth push twice. */
const withFaults =
  (backend: HttpBackend.HttpBackend, random: () => number): HttpBackend.HttpBackend["intercept"] =>
  (request, response, run) => {
    if (isForwarded(request) || !isPush(request)) return false
    const chance = random()
    if (chance > 0.1) {
      setTimeout(run, random() * 30)
      return true
    }
    void bodyOf(request).then(async (body) => {
      if (chance < 0.025) return request.socket.destroy()
      const first = await forward(backend, request, body)
      if (chance < 0.05) return request.socket.destroy()
      const { bytes, type } = await forward(backend, request, body).catch(() => first)
      return response.writeHead(200, { "content-type": type }).end(bytes)
    })
    return true
  }

type Outcome = "done" | "interrupted" | (string & {})

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (Exit.isSuccess(exit)) return "done"
  if (Exit.isInterrupted(exit)) return "interrupted"
  const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
  const tag = typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : "a defect"
  return tag === "RemoteError" && /no evil, please/.test(String(error)) ? "refused" : tag
}

/** Fairness is not promised: a writer may lose every race against another process until its deadline. */
const allowed = (name: string): ReadonlyArray<Outcome> => [
  "interrupted",
  "AmbiguousWriteError",
  "ConflictError",
  name.startsWith(evil) ? "refused" : "done"
]

/** How often a write with an outcome may be in the history. */
const times: Readonly<Record<Outcome, ReadonlyArray<number>>> = {
  done: [1],
  interrupted: [0, 1],
  AmbiguousWriteError: [0, 1],
  ConflictError: [0],
  refused: [0]
}

for (const [hook, script] of Object.entries(hooks)) {
  it.scopedLive(
    `a ${hook} hook that refuses commits fails only their callers`,
    () =>
      Effect.gen(function* () {
        console.log(`again with CHAINSTORE_SEED=${seed}`)
        const generator = Random.make(seed)
        const random = () => Effect.runSync(generator.next)
        const backend = yield* HttpBackend.make
        const url = backend.create("soak.git", "receive.fsckObjects=true")
        const open = Effect.flatMap(GitHost.scoped({ url, maxRetries: 2 }), (remote) =>
          Effect.provideService(Store.make(), GitRemote, remote)
        )
        const [own, foreign] = [yield* open, yield* open]
        yield* own.collection("docs").insert({ n: 0 }, { id: "first" })
        for (const branch of branches.slice(1)) yield* own.createBranch(branch)
        const file = path.join(backend.directory, "soak.git", "hooks", hook)
        fs.mkdirSync(path.dirname(file), { recursive: true })
        fs.writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
        backend.intercept = withFaults(backend, random)

        const writes: Array<{
          readonly name: string
          readonly branch: string
          readonly ids: ReadonlyArray<string>
          readonly outcome: Outcome
        }> = []
        let count = 0
        const newName = () => `${random() < 0.15 ? evil : good}-${count++}`
        const end = performance.now() + duration
        const repeatedly = <E>(effect: Effect.Effect<unknown, E>) =>
          Effect.repeat(effect, { while: () => performance.now() < end })
        const pause = (millis: number) => Effect.suspend(() => Effect.sleep(random() * millis))

        const writer = Effect.gen(function* () {
          const name = newName()
          const branch = branches[Math.floor(random() * branches.length)]!
          const fiber = yield* Effect.fork(own.onBranch(branch).collection("docs").insert({}, { id: name }))
          if (random() < 0.2) {
            yield* pause(150)
            yield* Fiber.interrupt(fiber)
          }
          writes.push({ name, branch, ids: [name], outcome: outcomeOf(yield* Fiber.await(fiber)) })
        })
        const foreignWriter = Effect.gen(function* () {
          const name = `${good}-${count++}`
          const exit = yield* Effect.exit(foreign.collection("docs").insert({}, { id: name }))
          writes.push({ name, branch: "main", ids: [name], outcome: outcomeOf(exit) })
          yield* pause(1_500)
        })
        const transactions = Effect.gen(function* () {
          const name = newName()
          const ids = [`${name}-a`, `${name}-b`]
          const exit = yield* Effect.exit(
            own.transaction({}, (tx) =>
              Effect.forEach(ids, (id) => tx.collection("docs").insert({}, { id }), { discard: true })
            )
          )
          writes.push({ name, branch: "main", ids, outcome: outcomeOf(exit) })
          yield* pause(500)
        })
        const comingAndGoing = Effect.gen(function* () {
          yield* Effect.ignore(own.createBranch("fleeting"))
          const docs = own.onBranch("fleeting").collection("docs")
          yield* Effect.forkDaemon(Effect.exit(docs.insert({})))
          yield* pause(300)
          yield* Effect.ignore(own.deleteBranch("fleeting"))
          yield* pause(300)
        })
        const workers = [
          ...Array<typeof writer>(writers).fill(writer),
          foreignWriter,
          transactions,
          comingAndGoing
        ]
        yield* Effect.forEach(workers, repeatedly, { concurrency: "unbounded", discard: true })
        backend.intercept = undefined

        const subjects = new Map(
          branches.map((branch) => [
            branch,
            backend.git("soak.git", "log", "--format=%s", branch).split("\n")
          ])
        )
        const wrong = writes.flatMap((write) => {
          const { branch, ids, name, outcome } = write
          const found = ids.map((id) => subjects.get(branch)!.filter((one) => one.endsWith(`/${id}`)).length)
          const isAllowed =
            allowed(name).includes(outcome) &&
            new Set(found).size === 1 &&
            (times[outcome]?.includes(found[0]!) ?? false) &&
            (found[0] === 0 || !name.startsWith(evil))
          return isAllowed ? [] : [{ ...write, found }]
        })
        assert.deepStrictEqual(wrong, [])
        const reached = new Set(writes.map(({ ids, outcome }) => `${outcome}: ${ids.length}`))
        assert.includeMembers([...reached], ["done: 1", "done: 2", "refused: 1"])
        assert.strictEqual(backend.git("soak.git", "fsck", "--strict", "--no-dangling"), "")
      }),
    180_000
  )
}
