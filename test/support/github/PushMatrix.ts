import { execFileSync } from "node:child_process"
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { Effect, Either, Layer, Option, Random } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { newRepository, scopedClientOf } from "./OnHost.js"
import {
  type Document,
  docs,
  isDoneIn,
  isRight,
  type Operation,
  operations,
  type Reply,
  replies,
  verdicts
} from "./ReplyMatrix.js"

/** What becomes of the two first pushes of one write, and whether the API is behind. */
export interface PushCell {
  readonly operation: keyof typeof operations
  readonly indexed: boolean
  readonly first: Reply
  readonly second: Reply
  readonly stale: boolean
}

/** Every operation, with every pair of faults, and the API as it is or as it was. */
export const cells: ReadonlyArray<PushCell> = (
  Object.keys(operations) as Array<PushCell["operation"]>
).flatMap((operation) =>
  replies
    .filter((first) => first !== "none")
    .flatMap((first) =>
      replies.flatMap((second) =>
        [true, false].flatMap((indexed) =>
          [true, false].map((stale) => ({ operation, indexed, first, second, stale }))
        )
      )
    )
)

/** Some cells, another choice for each seed. */
export const sample = (seed: string, count: number) =>
  Effect.map(Effect.withRandom(Random.shuffle(cells), Random.make(seed)), (all) => [...all].slice(0, count))

const lost = () => new TypeError("fetch failed", { cause: new Error("the connection was reset") })

/** Sends a push, or lets it meet a fault. */
const meeting = async (fault: Reply, send: () => Promise<Response>): Promise<Response> => {
  switch (fault) {
    case "lost before":
      throw lost()
    case "lost after":
      await (await send()).arrayBuffer()
      throw lost()
    case "twice":
      await (await send()).arrayBuffer()
      return send()
    case "refused":
      return new Response("slow down", { status: 403, headers: { "retry-after": "120" } })
    case "none":
      return send()
  }
}

/** Runs a cell in a repository of its own, and says what is wrong. */
const run = (cell: PushCell) =>
  Effect.gen(function* () {
    const repository = yield* newRepository
    const { directory, server } = repository
    yield* server.faults.set({})
    let next: () => Reply = () => "none"
    const fetch: typeof globalThis.fetch = (input, init) => {
      const isPush = String(input instanceof Request ? input.url : input).endsWith("/git-receive-pack")
      return meeting(isPush ? next() : "none", () => globalThis.fetch(input, init))
    }
    const open = Effect.gen(function* () {
      const session = yield* Effect.provide(
        HttpClient.HttpClient,
        Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
      )
      const remote = yield* scopedClientOf(repository, { commitVia: "push", session })
      const settings = cell.indexed ? { indexes: { docs: ["n"] } } : {}
      return yield* Effect.provideService(Store.make(settings), GitRemote, remote)
    })
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", directory, ...args], { encoding: "utf8", stdio: "pipe" }).trim()
    const documentOf = (id: string): Document => {
      const path = `data/docs/${id}.json`
      return git("ls-tree", "main", path) === "" ? undefined : JSON.parse(git("show", `main:${path}`))
    }

    const store = yield* open
    const other = yield* open
    yield* docs(store).insert({ n: 1 }, { id: "a" })
    const first = Option.getOrThrow(yield* store.commitSha)
    yield* docs(store).update("a", { n: 2 })
    yield* docs(other).upsert("b", { n: 2 })
    const operation: Operation = operations[cell.operation]
    const n = 100
    const id = operation.makes === true ? `new${n}` : "a"
    const prepared = (yield* operation.prepare?.(store, { n, id }) ?? Effect.succeed("")) as string
    const given = { n, first, id, rev: Number(documentOf(id)?.["_rev"] ?? 0), prepared }
    if (operation.vanished === true) yield* docs(other).delete("a")
    const before = git("rev-parse", "main")
    if (cell.stale) yield* server.faults.set({ staleSeconds: 600 })
    let count = -1
    next = () => {
      count++
      return count === 0 ? cell.first : count === 1 ? cell.second : "none"
    }
    const result = yield* Effect.either(operation.run(store, given))
    next = () => "none"
    yield* server.faults.set({})
    const outcome = Either.isRight(result) ? "success" : result.left._tag
    const timesNow = () =>
      Number(git("rev-list", "--count", "--first-parent", `${before}..main`, "--", `data/docs/${id}.json`))
    const times = timesNow()
    git("fsck", "--strict")
    const isDone = () => isDoneIn(documentOf(id), operation, given)
    if (!isRight(cell, operation, outcome, { times, isDone: isDone() })) {
      return `${JSON.stringify(cell)}: ${Either.isLeft(result) ? String(result.left) : outcome}, done ${times} times`
    }
    if (operation.again === undefined) return undefined
    const again = yield* Effect.either(operation.again(other, given))
    return Either.isRight(again) && timesNow() === 1 && isDone()
      ? undefined
      : `${JSON.stringify(cell)}: ${outcome}, and again ${Either.isLeft(again) ? String(again.left) : "success"}, done ${timesNow()} times`
  }).pipe(Effect.scoped)

/** Runs each cell, and answers what is wrong. */
export const runPushes = (chosen: ReadonlyArray<PushCell>) =>
  Effect.suspend(() => {
    const { add, wrong } = verdicts(chosen.length)
    return Effect.as(
      Effect.forEach(chosen, (cell) => Effect.flatMap(run(cell), add), { discard: true }),
      wrong
    )
  })
