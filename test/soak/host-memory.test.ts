import { execFileSync } from "node:child_process"
import { createHash, randomBytes, randomFillSync } from "node:crypto"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { type IncomingMessage, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { exchangeProblems } from "../support/host/Conformance.js"
import { port, serve } from "../support/service/ServiceProcess.js"

const mebibyte = 1024 * 1024
const size = 32 * mebibyte
/** A third of what eight copies would take. */
const most = 88 * mebibyte
const upload = 75 * mebibyte
/** What the collector leaves for later; one body alone has 100 MB, the last of the ways eight of them. */
const mostSent = 128 * mebibyte
const token = "memory-test-token"

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "host-memory-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

/** The most memory that a process ever had, in bytes. */
const peak = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024

const headersOf = ({ headers }: IncomingMessage) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/** The length and the hash of an answer; what is no file itself is held against GitHub's description. */
const fetched = (url: string, accept: string) =>
  new Promise<{ readonly status: number; readonly length: number; readonly hash: string }>(
    (resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, "user-agent": "memory", accept }
      request(url, { agent: false, headers }, (answer) => {
        const status = answer.statusCode!
        const checked = answer.headers["content-type"]?.startsWith("application/json") ?? false
        const chunks: Array<Buffer> = []
        const hash = createHash("sha1")
        let length = 0
        answer.on("data", (chunk: Buffer) => {
          length += chunk.length
          hash.update(chunk)
          if (checked) chunks.push(chunk)
        })
        answer.on("end", () => {
          const exchange = {
            method: "GET",
            url: new URL(url).pathname,
            status,
            headers: headersOf(answer),
            text: checked ? Buffer.concat(chunks).toString() : undefined
          }
          assert.deepStrictEqual(exchangeProblems(exchange), [])
          resolve({ status, length, hash: hash.digest("hex") })
        })
        answer.on("error", reject)
      })
        .on("error", reject)
        .end()
    }
  )

it.scopedLive.skipIf(!existsSync("/proc/self/status"))(
  "a large file that eight clients read at once, in each way, is never in the host's memory as a whole",
  () =>
    Effect.gen(function* () {
      const data = yield* temporary
      const directory = join(data, "repos/local/large.git")
      const environment = {
        PATH: process.env["PATH"],
        ...Object.fromEntries(
          ["AUTHOR", "COMMITTER"].flatMap((who) => [
            [`GIT_${who}_NAME`, "a"],
            [`GIT_${who}_EMAIL`, "a@example.org"]
          ])
        )
      }
      const git = (args: ReadonlyArray<string>, input = "") =>
        execFileSync("git", [`--git-dir=${directory}`, ...args], {
          encoding: "utf8",
          env: environment,
          input
        }).trim()
      const content = randomBytes(size)
      const expected = createHash("sha1").update(content).digest("hex")
      yield* Effect.promise(() => writeFile(join(data, "large"), content))
      mkdirSync(directory, { recursive: true })
      git(["init", "-q", "--bare", "-b", "main"])
      const blob = git(["hash-object", "-w", "--no-filters", join(data, "large")])
      const tree = git(["mktree"], `100644 blob ${blob}\tlarge\n`)
      git(["update-ref", "refs/heads/main", git(["commit-tree", "-m", "large", tree])])

      const running = yield* serve({ CHAINSTORE_DATA: data, CHAINSTORE_HOST_TOKEN: token }, [], "host")
      const url = `http://127.0.0.1:${yield* port(running)}`
      const raw = "application/vnd.github.raw+json"
      const ways = [
        [`${url}/raw/local/large/main/large`, "*/*"],
        [`${url}/repos/local/large/contents/large`, raw],
        [`${url}/repos/local/large/git/blobs/${blob}`, raw],
        [`${url}/repos/local/large/git/blobs/${blob}`, "application/json"]
      ] as const
      const all = () => Promise.all([...ways, ...ways].map(([at, accept]) => fetched(at, accept)))
      yield* Effect.promise(() => fetched(`${url}/zen`, "*/*"))
      const before = peak(running.child.pid!)
      for (const state of ["loose", "packed"]) {
        if (state === "packed") git(["repack", "-adq"])
        const answers = yield* Effect.promise(all)
        for (const [index, { hash, length, status }] of answers.entries()) {
          assert.strictEqual(status, 200)
          if (index % 4 === 3) assert.isAbove(length, (size * 4) / 3)
          else assert.deepStrictEqual([length, hash], [size, expected])
        }
        const taken = peak(running.child.pid!) - before
        assert.isBelow(taken, most, `${state}: ${Math.round(taken / mebibyte)} MiB`)
      }
    }),
  120_000
)

const mutation =
  "mutation ($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }"

/** Sends a JSON body whose file is made as it is sent; answers the body that came, held against GitHub's description. */
const sent = (method: string, url: string, before: string, bytes: number, after: string) =>
  new Promise<any>((resolve, reject) => {
    const line = Buffer.alloc(3 * 65_536)
    const pieces = function* () {
      yield before
      for (let at = 0; at < bytes; at += line.length) {
        randomFillSync(line)
        yield line.subarray(0, Math.min(line.length, bytes - at)).toString("base64")
      }
      yield after
    }
    const headers = {
      authorization: `Bearer ${token}`,
      "user-agent": "memory",
      "content-type": "application/json",
      "content-length": before.length + Math.ceil(bytes / 3) * 4 + after.length
    }
    const asking = request(url, { agent: false, method, headers }, (answer) => {
      const chunks: Array<Buffer> = []
      answer.on("data", (chunk: Buffer) => chunks.push(chunk))
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        const exchange = {
          method,
          url: new URL(url).pathname,
          requestBody: before + after,
          status: answer.statusCode!,
          headers: headersOf(answer),
          text
        }
        assert.deepStrictEqual(exchangeProblems(exchange), [])
        assert.include([200, 201], answer.statusCode, text)
        resolve(JSON.parse(text))
      })
    })
    asking.on("error", reject)
    Readable.from(pieces()).pipe(asking)
  })

it.scopedLive.skipIf(!existsSync("/proc/self/status"))(
  "a large file that is sent, in each way and by several at once, is never in the host's memory as a whole",
  () =>
    Effect.gen(function* () {
      const data = yield* temporary
      const running = yield* serve({ CHAINSTORE_DATA: data, CHAINSTORE_HOST_TOKEN: token }, [], "host")
      const url = `http://127.0.0.1:${yield* port(running)}`
      const repository = `${url}/repos/local/uploads`
      const put = (path: string, bytes: number) =>
        sent("PUT", `${repository}/contents/${path}`, '{"message":"m","content":"', bytes, '"}')
      const post = (bytes: number) =>
        sent("POST", `${repository}/git/blobs`, '{"encoding":"base64","content":"', bytes, '"}')
      const commit = (path: string, head: string, bytes: number) =>
        sent(
          "POST",
          `${url}/graphql`,
          `${JSON.stringify({ query: mutation }).slice(0, -1)},"variables":{"input":{"branch":{"repositoryNameWithOwner":"local/uploads","branchName":"main"},"expectedHeadOid":"${head}","message":{"headline":"m"},"fileChanges":{"additions":[{"path":"${path}","contents":"`,
          bytes,
          '"}]}}}}'
        )
      const first = yield* Effect.promise(() => put("first", 3))
      const before = peak(running.child.pid!)
      const ways: Record<string, () => Promise<unknown>> = {
        createCommitOnBranch: () => commit("by-graphql", first.commit.sha, upload),
        "POST git/blobs": () => post(upload),
        "PUT contents": () => put("large", upload),
        "four of each of these two at once": () =>
          Promise.all([1, 2, 3, 4].flatMap((n) => [post(upload), put(`at-once-${n}`, upload)]))
      }
      for (const [way, send] of Object.entries(ways)) {
        yield* Effect.promise(send)
        const taken = peak(running.child.pid!) - before
        console.log(`${way}: ${Math.round(taken / mebibyte)} MiB`)
        assert.isBelow(taken, mostSent, way)
      }
    }),
  240_000
)
