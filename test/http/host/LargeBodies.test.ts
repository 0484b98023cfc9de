import { createHash, randomBytes } from "node:crypto"
import { Readable } from "node:stream"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const mebibyte = 1024 * 1024
const at = "/repos/local/bodies"

/** Encodes a body with the test's spelling of its strings. */
const send = (method: string, path: string, body: string | Uint8Array) =>
  Rest.request(method, `${at}/${path}`, { body, headers: { "content-type": "application/json" } })

const said = (answer: Rest.RestAnswer) => [answer.status, answer.body.message]

layer(host(), { timeout: 60_000 })("large bodies", (it) => {
  it.scoped("are what they would be if they were small", () =>
    Effect.gen(function* () {
      yield* Rest.repository("bodies", { "a.json": "{}\n" })
      const { repositories } = yield* HostServer
      const reader = { id: "r", login: "r", grants: [{ repository: "*", access: "read" as const }] }
      const { git } = yield* repositories.openForRead(reader, "local", "bodies")
      const stored = (sha: Rest.Json) =>
        Effect.map(git.object(sha), (object) =>
          object._tag === "Some" ? Buffer.from(object.value.content) : assert.fail(`${sha} is not there`)
        )
      const content = randomBytes(2 * mebibyte + 1)
      const plain = content.toString("base64")
      const ways = {
        plain: `{"message":"m","content":"${plain}"}`,
        first: `{"content":"${plain}","message":"\\"m\\\\"}`,
        lines: `{"message":"m","content":"${plain.replace(/.{60}/g, "$&\\n")}"}`,
        spaced: `{"message":"m","content":" ${plain} "}`,
        escaped: `{"message":"m","content":"\\u0041${plain.slice(1)}"}`.replace(
          "\\u0041",
          plain[0] === "/" ? "\\/" : `\\u${plain.charCodeAt(0).toString(16).padStart(4, "0")}`
        ),
        twice: `{"message":"m","content":"${Buffer.alloc(2 * mebibyte).toString("base64")}","content":"${plain}"}`,
        elsewhere: `{"message":"${"m".repeat(3 * mebibyte)}","content":"${plain}"}`
      }
      for (const [name, body] of Object.entries(ways)) {
        const made = yield* send("PUT", `contents/${name}`, body)
        assert.strictEqual(made.status, 201, name)
        assert.isTrue(content.equals(yield* stored(made.body.content.sha)), name)
      }
      const text = "ünïcödé \u{1F4A9} ".repeat(100_000)
      for (const body of [JSON.stringify({ content: text }), `{"content":"\\u0020${text}"}`]) {
        const blob = yield* send("POST", "git/blobs", body)
        assert.strictEqual(blob.status, 201)
        assert.strictEqual((yield* stored(blob.body.sha)).toString().trimStart(), text)
      }
      const marked = `\uFEFF${"m".repeat(2 * mebibyte)}`
      const body = { message: marked, content: "" }
      const made = yield* Rest.request("PUT", `${at}/contents/marked`, { body })
      assert.isTrue(made.body.commit.message === marked)
    })
  )

  it.effect("are refused as small ones are", () =>
    Effect.gen(function* () {
      yield* Rest.repository("refused", { "a.json": "{}\n" })
      const put = (body: string | Uint8Array) =>
        Rest.request("PUT", "/repos/local/refused/contents/x", {
          body,
          headers: { "content-type": "application/json" }
        })
      const long = "A".repeat(2 * mebibyte)
      const bad = [422, "content is not valid Base64"]
      for (const wrong of [
        `${long}A`,
        `${long}AAA=AAAA`,
        `${long.slice(4)}====`,
        `${long}é===`,
        `=${long}AAA`
      ]) {
        assert.deepStrictEqual(said(yield* put(`{"message":"m","content":"${wrong}"}`)), bad)
      }
      const parsing = [400, "Problems parsing JSON"]
      for (const broken of [`{"message":"m","content":"${long}`, `{"content":"${long}",}`, `"${long}" "`]) {
        assert.deepStrictEqual(said(yield* put(broken)), parsing)
      }
      const torn = Buffer.from(`{"message":"m","content":"${long}"}`)
      torn[mebibyte] = 0xff
      assert.deepStrictEqual(said(yield* put(torn)), parsing)
      assert.deepStrictEqual(said(yield* put(`"${long}"`)), [400, "Body should be a JSON object"])
      assert.deepStrictEqual(said(yield* put(`{"content":"${long}"}`)), [
        422,
        `Invalid request.\n\n"message" wasn't supplied.`
      ])
      assert.strictEqual((yield* put(`{"message":"m","content":["${long}"]}`)).status, 422)
    })
  )

  it.effect("carry large files in trees and in commits by GraphQL", () =>
    Effect.gen(function* () {
      const head = yield* Rest.repository("carried", { "a.json": "{}\n" })
      const { repositories } = yield* HostServer
      const reader = { id: "r", login: "r", grants: [{ repository: "*", access: "read" as const }] }
      const { git } = yield* Effect.scoped(repositories.openForRead(reader, "local", "carried"))
      const stored = (sha: Rest.Json) =>
        Effect.map(git.object(sha), (object) =>
          object._tag === "Some" ? Buffer.from(object.value.content) : assert.fail(`${sha} is not there`)
        )
      const text = "ünïcödé \u{1F4A9}\n".repeat(100_000)
      const tree = yield* Rest.request("POST", "/repos/local/carried/git/trees", {
        body: {
          tree: [
            { path: "long.txt", mode: "100755", content: text },
            { path: "short", content: "s" }
          ]
        }
      })
      assert.strictEqual(tree.status, 201)
      assert.strictEqual((yield* stored(tree.body.tree[0].sha)).toString(), text)

      const content = randomBytes(2 * mebibyte)
      const contents = content.toString("base64")
      const input = (expectedHeadOid: string | undefined, additions: ReadonlyArray<object>) => ({
        branch: { repositoryNameWithOwner: "local/carried", branchName: "main" },
        expectedHeadOid,
        message: { headline: "large" },
        fileChanges: { additions }
      })
      const whole =
        "mutation ($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }"
      const made = yield* Rest.graphql(whole, {
        input: input(head?.commit, [
          { path: "large.bin", contents },
          { path: "small.txt", contents: Rest.base64("small") }
        ])
      })
      const oid = made.data?.createCommitOnBranch.commit.oid
      const sha = (path: string) =>
        Effect.map(Rest.get(`/repos/local/carried/contents/${path}?ref=${oid}`), ({ body }) => body.sha)
      assert.isTrue(content.equals(yield* stored(yield* sha("large.bin"))))
      assert.strictEqual((yield* stored(yield* sha("small.txt"))).toString(), "small")

      const parts = `mutation ($contents: Base64String!) { createCommitOnBranch(input: {
        branch: { repositoryNameWithOwner: "local/carried", branchName: "main" }, expectedHeadOid: "${oid}",
        message: { headline: "h" }, fileChanges: { additions: [{ path: "p", contents: $contents }] } }) { commit { oid } } }`
      const failed = (answer: { readonly errors?: ReadonlyArray<Rest.Json> }) => answer.errors?.[0].message
      assert.match(failed(yield* Rest.graphql(parts, { contents: `${contents}\n` })), /not valid Base64/)
      assert.match(failed(yield* Rest.graphql(parts, { contents: contents.slice(1) })), /not valid Base64/)
      assert.isUndefined(failed(yield* Rest.graphql(parts, { contents })))
      const stale = yield* Rest.graphql(whole, { input: input(oid, [{ path: "q", contents }]) })
      assert.match(failed(stale), /^Expected branch to point to/)
      for (const type of ["GitObjectID", "String", "Int", "URI"]) {
        const misplaced = yield* Rest.graphql(
          `query ($contents: ${type}!) { repository(owner: "local", name: "carried") { object(expression: $contents, oid: $contents) { id } } }`,
          { contents }
        )
        assert.isString(failed(misplaced), type)
      }
    })
  )

  it.effect("that are refused leave no blob behind", () =>
    Effect.gen(function* () {
      yield* Rest.repository("clean", { "a.json": "{}\n", "d/e": "e" })
      const content = randomBytes(2 * mebibyte)
      const sha = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex")
      const put = (path: string, fields: object) =>
        Rest.request("PUT", `/repos/local/clean/contents/${path}`, {
          body: { message: "m", content: content.toString("base64"), ...fields }
        })
      assert.strictEqual((yield* put("a.json", {})).status, 422)
      assert.strictEqual((yield* put("a.json", { sha: "0".repeat(40) })).status, 409)
      assert.strictEqual((yield* put("d", {})).status, 422)
      assert.strictEqual((yield* put(".git/x", {})).status, 422)
      assert.strictEqual((yield* put("x", { branch: "none" })).status, 404)
      assert.strictEqual((yield* Rest.get(`/repos/local/clean/git/blobs/${sha}`)).status, 404)
      const made = yield* put("x", {
        author: { name: "n", email: "e@example.org", date: "2020-01-01T00:00:00Z" }
      })
      assert.strictEqual(made.body.content.sha, sha)
      assert.strictEqual(made.body.content.size, content.length)
    })
  )

  it.effect("may have no length, and its parts outside of files are bounded", () =>
    Effect.gen(function* () {
      yield* Rest.repository("chunked", { "a.json": "{}\n" })
      const { api, token } = yield* HostServer
      const send = (pieces: Iterable<string>) =>
        Effect.promise(async () => {
          const answer = await fetch(`${api}/repos/local/chunked/git/blobs`, {
            method: "POST",
            headers: {
              authorization: `Bearer ${token}`,
              "user-agent": "chunks",
              "content-type": "application/json"
            },
            body: Readable.toWeb(Readable.from(pieces)),
            duplex: "half"
          } as RequestInit)
          return [answer.status, ((await answer.json()) as Rest.Json).message]
        })
      assert.deepStrictEqual(yield* send(['{"content"', ':"short"}']), [201, undefined])
      const part = "QUFB".repeat(100_000)
      assert.deepStrictEqual(
        yield* send(['{"encoding":"base64","content":"', ...Array<string>(20).fill(part), '"}']),
        [201, undefined]
      )
      const spaces = " ".repeat(mebibyte)
      assert.deepStrictEqual(yield* send(['{"content":"short"', ...Array<string>(51).fill(spaces), "}"]), [
        413,
        "The request body is too large."
      ])
      assert.deepStrictEqual(yield* send(['{"content":"', ...Array<string>(3).fill(part), "}"]), [
        400,
        "Problems parsing JSON"
      ])
    })
  )
})
