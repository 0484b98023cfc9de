import { randomBytes } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const mebibyte = 1024 * 1024
const at = "/repos/local/bodies"

/** A body as it is sent, so that its strings are written as the test wants them. */
const send = (method: string, path: string, body: string | Uint8Array) =>
  Rest.request(method, `${at}/${path}`, { body, headers: { "content-type": "application/json" } })

const said = (answer: Rest.RestAnswer) => [answer.status, answer.body.message]

layer(host(), { timeout: 60_000 })("large bodies", (it) => {
  it.scoped("are what they would be if they were small", () =>
    Effect.gen(function* () {
      yield* Rest.repository("bodies", { "a.json": "{}\n" })
      const { repositories } = yield* HostServer
      const reader = { id: "r", login: "r", grants: [{ repository: "*", access: "read" as const }] }
      const { git } = yield* repositories.reading(reader, "local", "bodies")
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
})
