import { execFileSync } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Chunk, Clock, Effect, Layer, Logger, LogLevel, ManagedRuntime, Redacted, Stream } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as RateLimits from "../../../src/http/host/access/RateLimits.js"
import { Host } from "../../../src/http/host/Host.js"
import * as HostLayer from "../../../src/http/host/HostLayer.js"
import * as Faulty from "../../../src/http/host/repository/Faults.js"
import { type Fault, Faults } from "../../../src/http/host/repository/Faults.js"
import { Repositories } from "../../../src/http/host/repository/Repositories.js"
import { withoutMark } from "../../../src/store/remote/CommitMark.js"
import type { Change } from "../../../src/store/remote/GitRemote.js"
import { memory } from "../host/MemoryFileSystem.js"
import { perFile } from "../vitest/perFile.js"
import { Objects } from "./Objects.js"
import { problemsOf, type Seen, seenOf } from "./Oracle.js"

export const token = "ghp_a-token-that-must-not-leak"

/** Further tokens that may do the same. */
export const moreTokens = ["token-0", "token-1", "token-2"] as const

export type { Fault }

/** A response that is given instead of the host's. */
export type Reply = Omit<Extract<Fault, { readonly _tag: "Reply" }>, "_tag" | "when">

/** The fault that gives a response in place of carrying out the request. */
export const replying = (reply: Reply): Fault => ({ _tag: "Reply", when: "before", ...reply })

/** What may become of a response, or of the request before it. */
export const faults: ReadonlyArray<readonly [string, Fault]> = [
  ["the connection is reset before it", { _tag: "Reset", when: "before" }],
  ["the connection is reset after it", { _tag: "Reset", when: "after" }],
  ["the reply is cut off in its middle", { _tag: "Cut", then: "reset" }],
  ["the reply never ends", { _tag: "Cut", then: "silence" }],
  ["the reply is half its JSON", { _tag: "Cut", then: "end" }],
  ...[500, 502, 503, 504].flatMap((status) =>
    (["before", "after"] as const).map(
      (when) => [`${status} ${when} it`, { _tag: "Error", status, when }] as const
    )
  )
]

export interface Exchange extends Seen {
  /** 0 where no response came. */
  readonly status: number
}

/** A response on its way to the client. */
interface Sent {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const chosen = new WeakMap<object, Fault>()

/** The clock that answers of reads by branch are old by, in milliseconds, where `setStale` makes them so. */
export const staleness = { now: () => Date.now() }

/** Our own host without a socket; the fault of a request is the one that is chosen for it. */
const inProcess = () => {
  const data = mkdtempSync(join(memory ?? tmpdir(), "chainstore-host-"))
  const meeting = Layer.effect(
    Faults,
    Effect.map(Faults, (given) => ({
      ...given,
      faultFor: (asked) => chosen.get(asked.source as object) ?? given.faultFor(asked)
    }))
  ).pipe(Layer.provide(Faulty.layerWith(Effect.sync(() => staleness.now()))))
  const grants = [{ repository: "*", access: "write" as const }]
  const stack = HostLayer.layerWith({
    atRoot: false,
    createOnFirstUse: false,
    directory: data,
    token: Redacted.make(token),
    tokens: moreTokens.map((one) => ({ token: Redacted.make(one), login: "octo", grants }))
  }).pipe(
    Layer.provideMerge(Layer.merge(RateLimits.layer({}), meeting)),
    Layer.provide(HostLayer.layerRepositories(data, { durability: "none", maintenance: false }))
  )
  const runtime = ManagedRuntime.make(
    stack.pipe(Layer.provideMerge(NodeContext.layer), Layer.provide(Logger.minimumLogLevel(LogLevel.Error)))
  )
  const end = async () => {
    await runtime.dispose()
    rmSync(data, { recursive: true, force: true })
  }
  return { value: { runtime, directoryOf: (repo: string) => join(data, "repos", `${repo}.git`) }, end }
}

// One host for all tests of a file, and beside it one on which repositories are as they were some time ago.
const current = perFile(inProcess)
const behind = perFile(inProcess)

const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): Effect.Effect<Uint8Array, unknown> =>
  body._tag === "Uint8Array"
    ? Effect.succeed(body.body)
    : body._tag === "Raw"
      ? Effect.succeed(Buffer.from(String(body.body)))
      : body._tag === "Stream"
        ? Effect.map(Stream.runCollect(body.stream), (pieces) => Buffer.concat(Chunk.toReadonlyArray(pieces)))
        : Effect.succeed(new Uint8Array())

const answered = (request: Request) =>
  Effect.gen(function* () {
    const { app } = yield* Host
    const response = yield* Effect.provideService(
      app,
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(request)
    )
    const date = new Date().toUTCString()
    const sent: Sent = {
      status: response.status,
      headers: { date, ...response.headers },
      body: yield* bytesOf(response)
    }
    return sent
  }).pipe(Effect.scoped)

const origin = "http://localhost"

const isRead = ({ body, method, url }: Seen) =>
  method === "GET" || (url === "/graphql" && !body.includes('"mutation '))

let repositories = 0

/** A repository of the host in this process, and every request that a client sends there: checked, counted, spoiled. */
export class Server {
  readonly url = `${origin}/api/v3`
  readonly raw = `${origin}/raw`
  readonly seen: Array<Exchange> = []
  /** What GitHub's descriptions find wrong with the requests. */
  readonly problems: Array<string> = []
  /** Asked for every request; undefined lets it pass. */
  fault: (request: Seen, index: number) => Fault | undefined = () => undefined
  /** Asked for every request before it takes effect, which waits for the promise. */
  arrives: (request: Seen) => Promise<unknown> | undefined = () => undefined
  /** Changes a response on its way. */
  edit: (request: Seen, sent: Sent) => Sent = (_, sent) => sent
  /** While it is true, reads are answered by the repository as it was at the last `snapshot`. */
  lagging = false
  #pending = 0
  #clock: Clock.Clock = Clock.make()

  readonly directory: string
  readonly #objects: Objects

  /** `owner/name`. */
  constructor(readonly repo: string) {
    this.directory = current().directoryOf(repo)
    this.#objects = new Objects(this.directory)
  }

  /** Requests that came and are not answered yet. */
  pending() {
    return this.#pending
  }

  /** Sends a request to this host without a socket, and to every other one as usual. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const url = String(input instanceof Request ? input.url : input)
    if (!url.startsWith(origin)) return fetch(input, init)
    this.#pending++
    try {
      return await this.#exchange(url, await seenOf(origin, input, init), init?.signal ?? undefined)
    } finally {
      this.#pending--
    }
  }

  async #exchange(url: string, seen: Seen, signal: AbortSignal | undefined): Promise<Response> {
    this.#check(seen)
    await this.arrives(seen)
    const fault = this.fault(seen, this.seen.length)
    const exchange = { ...seen, status: 0 }
    this.seen.push(exchange)
    const { body: asked, method } = seen
    const headers = { ...(seen.headers as Record<string, string>), host: "localhost" }
    const request = new Request(url, { method, headers, ...(asked === "" ? {} : { body: asked }) })
    if (fault !== undefined) chosen.set(request, fault)
    const host = (this.lagging && isRead(seen) ? behind : current)()
    const sent = await host.runtime
      .runPromise(Effect.withClock(answered(request), this.#clock), signal === undefined ? {} : { signal })
      .catch((cause) => {
        throw new TypeError("fetch failed", { cause })
      })
    // As from a socket, a response comes in another turn of the event loop: clients in a row starve no other input.
    await new Promise(setImmediate)
    exchange.status = sent.status
    const { body, ...head } = this.edit(seen, sent)
    return new Response([204, 304].includes(head.status) ? null : body.slice(), head)
  }

  #check(seen: Seen) {
    if (!seen.url.startsWith("/raw/"))
      this.problems.push(...problemsOf(seen).map((text) => `${seen.method} ${seen.url}: ${text}`))
    else if (seen.headers["authorization"] !== undefined)
      this.problems.push(`${seen.url}: the raw host got the token`)
  }

  /** Adds headers to every response. */
  set headers(make: () => Readonly<Record<string, string>>) {
    this.edit = (_, sent) => ({ ...sent, headers: { ...sent.headers, ...make() } })
  }

  /** Every commit that a client makes from now on is of the same second. */
  stopClock() {
    const now = Date.now()
    const stopped = {
      unsafeCurrentTimeMillis: () => now,
      currentTimeMillis: Effect.succeed(now),
      currentTimeNanos: Effect.succeed(BigInt(now) * 1_000_000n)
    }
    this.#clock = Object.assign(Object.create(Clock.make()) as Clock.Clock, stopped)
  }

  /** Keeps what the repository is now for `lagging` reads: all of it, or only where its branches are. */
  snapshot(what: "all" | "refs" = "all") {
    const older = behind().directoryOf(this.repo)
    rmSync(older, { recursive: true, force: true })
    const objects = join(this.directory, "objects")
    cpSync(this.directory, older, {
      recursive: true,
      filter: (path) => what === "all" || !path.startsWith(objects)
    })
    if (what === "all") return
    mkdirSync(join(older, "objects", "info"), { recursive: true })
    writeFileSync(join(older, "objects", "info", "alternates"), `${objects}\n`)
  }

  /** Another repository that holds the same. */
  copy(): Server {
    const other = new Server(`local/store${++repositories}`)
    cpSync(this.directory, other.directory, { recursive: true })
    return other
  }

  /** Stock Git in the repository. */
  git(args: ReadonlyArray<string>, input?: Uint8Array): string {
    const env = { ...process.env, GIT_DIR: this.directory }
    return execFileSync("git", [...args], { env, input, encoding: "utf8", stdio: "pipe", maxBuffer: 1 << 28 })
  }

  /** The object id of a revision, such as `main` or `main^{tree}`. */
  id(revision: string): Oid {
    return this.git(["rev-parse", "--verify", revision]).trim() as Oid
  }

  /** The commit that a branch is at. */
  head(branch = "main"): Oid {
    const oid = this.refs().get(`refs/heads/${branch}`)
    if (oid === undefined) throw new Error(`there is no branch ${branch}`)
    return oid
  }

  refs(): ReadonlyMap<string, Oid> {
    const packed = join(this.directory, "packed-refs")
    const found = new Map<string, Oid>()
    for (const line of existsSync(packed) ? readFileSync(packed, "utf8").split("\n") : [])
      if (/^[0-9a-f]{40} /.test(line)) found.set(line.slice(41), line.slice(0, 40) as Oid)
    for (const entry of readdirSync(join(this.directory, "refs"), { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name)
      if (!entry.isFile() || file.endsWith(".lock")) continue
      found.set(relative(this.directory, file), readFileSync(file, "utf8").trim() as Oid)
    }
    return found
  }

  setRef(name: string, oid: string) {
    this.#objects.setRef(name, oid)
  }

  /** What a path of a branch holds; undefined where there is nothing. */
  show(path: string, branch = "main"): string | undefined {
    const commit = this.refs().get(`refs/heads/${branch}`)
    return commit === undefined ? undefined : this.#objects.file(commit, path)?.toString("utf8")
  }

  /** The messages of a branch's commits, newest first. */
  history(branch = "main"): ReadonlyArray<string> {
    const messages = this.#objects.line(this.head(branch)) ?? this.#log(branch)
    return messages.map((message) => withoutMark(message.replace(/\n$/, "")))
  }

  #log(branch: string) {
    const commits = this.git(["log", "--topo-order", "--format=%B%x00", `refs/heads/${branch}`, "--"])
    return commits.split("\0\n").slice(0, -1)
  }

  /** A commit made by somebody else. */
  commit(branch: string, changes: ReadonlyArray<Change>, message = "by another hand"): Oid {
    const name = `refs/heads/${branch}`
    const made = this.#objects.commit(this.refs().get(name), changes, message, Math.floor(Date.now() / 1000))
    this.setRef(name, made)
    return made
  }
}

/** From now on reads by branch show what a branch was so many seconds ago. */
export const setStale = (staleSeconds: number) =>
  Effect.promise(() =>
    current().runtime.runPromise(Effect.flatMap(Faults, ({ set }) => set({ staleSeconds })))
  )

/** An empty repository of this file's host. */
export const makeServer = (options: { readonly private?: boolean } = {}) =>
  Effect.promise(async () => {
    const name = `store${++repositories}`
    const settings = { private: options.private ?? false, description: null }
    await current().runtime.runPromise(
      Effect.scoped(Effect.flatMap(Repositories, ({ create }) => create("local", name, settings)))
    )
    return new Server(`local/${name}`)
  })

/** The names of the operations that were asked, in order. */
export const verbs = ({ seen }: { readonly seen: ReadonlyArray<Pick<Exchange, "method" | "url">> }) =>
  seen.map(({ method, url }) => `${method} ${url.replace(/\/repos\/[^/]+\/[^/?]+/, "")}`)
