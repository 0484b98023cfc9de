import { execFileSync } from "node:child_process"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const at = "/repos/local/r"

const post = (path: string, body: unknown) =>
  Effect.map(Rest.request("POST", `${at}/${path}`, { body }), (answer) => answer.body)

/** A branch `main` with a merge at its tip, and the annotated tags `v1` of its first commit and `vv` of `v1`. */
const filled = Effect.gen(function* () {
  const first = (yield* Rest.repository("r", { "a.json": "1\n", "d/b.json": "2\n" }))!.commit
  const tree = (yield* Rest.get(`${at}/git/trees/main`)).body.sha
  const commit = (message: string, ...parents: ReadonlyArray<string>) =>
    Effect.map(post("git/commits", { message, tree, parents }), ({ sha }) => sha as string)
  const second = yield* commit("second", first)
  const tip = yield* commit("tip", second, yield* commit("aside", first))
  yield* Rest.request("PATCH", `${at}/git/refs/heads/main`, { body: { sha: tip } })
  const tag = (name: string, object: string, type: string) =>
    Effect.gen(function* () {
      const { sha } = yield* post("git/tags", { tag: name, message: "m", object, type })
      yield* post("git/refs", { ref: `refs/tags/${name}`, sha })
      return sha as string
    })
  yield* tag("vv", yield* tag("v1", first, "commit"), "tag")
  return { first, second, tip }
})

const expressions = [
  ...["main", "HEAD", "v1", "vv", "heads/main", "tags/v1", "refs/tags/v1"],
  ...[
    "main~",
    "main~1",
    "main~2",
    "main~3",
    "main~0",
    "HEAD~2",
    "main^",
    "main^^",
    "main^2",
    "main^3",
    "main^0"
  ],
  ...["main^2~1", "main^{tree}", "main^{commit}", "main^{}", "main^{tag}", "main^{blob}", "main^{object}"],
  ...["v1^{}", "v1^{tag}", "v1^{tree}", "vv^{}", "vv~0", "v1^0", "v1~1", "vv^{commit}", "main~1^{tree}"],
  ...[
    "main~2:a.json",
    "main^{tree}:d/b.json",
    "v1:d",
    "vv^{}:a.json",
    "HEAD:none",
    "none~1",
    "main~x",
    "main^{none}"
  ],
  ...["~1", "^", "main~999999999", "main^{tree}~1", "main..v1", "main~1~1"]
]

layer(host(), { timeout: 60_000 })("revisions", (it) => {
  it.effect("mean in an expression what they mean to Git", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      yield* filled
      const fields = expressions.map((one, index) => `x${index}: object(expression: "${one}") { oid }`)
      const { data } = yield* Rest.graphql(
        `{ repository(owner: "local", name: "r") { ${fields.join(" ")} } }`
      )
      const parsed = (expression: string) => {
        try {
          const args = ["-C", `${directory}/repos/local/r.git`, "rev-parse", "--verify", "-q", expression]
          return execFileSync("git", args, { encoding: "utf8", stdio: "pipe" }).trim()
        } catch {
          return undefined
        }
      }
      for (const [index, expression] of expressions.entries())
        assert.strictEqual(data.repository[`x${index}`]?.oid, parsed(expression), expression)
      const kinds = yield* Rest.graphql(
        `{ repository(owner: "local", name: "r") { v: object(expression: "v1") { __typename ... on Tag { name } } } }`
      )
      assert.deepStrictEqual(kinds.data.repository.v, { __typename: "Tag", name: "v1" })
    })
  )

  it.effect("step back in the addresses of REST too", () =>
    Effect.gen(function* () {
      const { data } = yield* Rest.graphql(
        `{ repository(owner: "local", name: "r") { object(expression: "main~1") { oid } } }`
      )
      const { oid } = data.repository.object
      assert.strictEqual((yield* Rest.get(`${at}/commits/main~1`)).body.sha, oid)
      assert.strictEqual((yield* Rest.get(`${at}/commits?sha=main%5E&per_page=1`)).body[0].sha, oid)
      assert.strictEqual((yield* Rest.get(`${at}/contents/a.json?ref=v1~0`)).status, 200)
      assert.strictEqual((yield* Rest.get(`${at}/contents/a.json?ref=v1~1`)).status, 404)
      const compared = yield* Rest.get(`${at}/compare/main%5E...main`)
      assert.deepStrictEqual([compared.body.base_commit.sha, compared.body.ahead_by], [oid, 2])
    })
  )

  it.effect("are an id in capital letters too, as for Git, but no other name", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const oid = execFileSync("git", ["-C", `${directory}/repos/local/r.git`, "rev-parse", "main~2"], {
        encoding: "utf8"
      }).trim()
      for (const id of [oid.toUpperCase(), oid.slice(0, 10).toUpperCase()]) {
        assert.strictEqual((yield* Rest.get(`${at}/commits/${id}`)).body.sha, oid, id)
        assert.strictEqual((yield* Rest.get(`${at}/contents/a.json?ref=${id}`)).status, 200, id)
        assert.strictEqual((yield* Rest.get(`${at}/compare/${id}...main`)).status, 200, id)
        assert.strictEqual((yield* Rest.get(`/raw/local/r/${id}/a.json`)).text, "1\n", id)
      }
      assert.strictEqual((yield* Rest.get(`${at}/commits/MAIN`)).status, 422)
    })
  )
})
