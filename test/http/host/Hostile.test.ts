import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ConsoleService, layer as service } from "../../support/browser/ConsoleService.js"
import { type Asked, ask, wrongAnswers } from "../console/Client.js"

const ready = service().pipe(
  Layer.tap((context) =>
    Effect.flatMap(ConsoleService, ({ store }) =>
      Effect.all([
        store.collection("things").insert({ n: 1 }, { id: "a" }),
        store.collection("things").update("a", { n: 2 })
      ])
    ).pipe(Effect.provide(context), Effect.orDie)
  )
)

const repo = "/api/v3/repos/test/shop"

/** Sends requests with a token that may write and returns descriptions of wrong replies. */
const wrong = (asked: Iterable<Asked>, isRight: Parameters<typeof wrongAnswers>[2], concurrency?: number) =>
  Effect.flatMap(ConsoleService, ({ token, url }) => {
    const headers = { authorization: `Bearer ${token}`, "user-agent": "test" }
    const send = (...[method, path, body]: Asked) => ask(url, method, path, { body, headers })
    return wrongAnswers(asked, send, isRight, concurrency)
  })

const headOf = (repository: string) =>
  execFileSync("git", ["-C", repository, "rev-parse", "main"], { encoding: "utf8" }).trim()

layer(ready, { timeout: 60_000 })("what the host is asked that it should not be", (it) => {
  it.effect(
    "no query of a GET returns 500",
    () =>
      Effect.gen(function* () {
        const { repository } = yield* ConsoleService
        const head = headOf(repository)
        const odd = [
          "%00",
          "%ff",
          "%E0%80",
          "..",
          "../..",
          "-x",
          "--output=/tmp/chainstore-option-x",
          "%0a",
          ":(top)",
          "*",
          "%F0%9F%98%80",
          "a".repeat(3000),
          "1e400",
          "-1",
          "99999999999999999999",
          "%ed%a0%80",
          "@%7B-1%7D",
          "main%5E%7B%7D",
          "main:data"
        ]
        const asked = odd.flatMap((value) => [
          `${repo}/commits?path=${value}`,
          `${repo}/commits?sha=${value}`,
          `${repo}/commits?author=${value}`,
          `${repo}/commits?since=${value}`,
          `${repo}/commits?until=${value}`,
          `${repo}/commits?per_page=${value}`,
          `${repo}/commits?page=${value}`,
          `${repo}/commits/${value}`,
          `${repo}/contents/${value}`,
          `${repo}/contents/data?ref=${value}`,
          `${repo}/git/trees/${value}`,
          `${repo}/git/trees/${head}?recursive=${value}`,
          `${repo}/git/blobs/${value}`,
          `${repo}/git/ref/${value}`,
          `${repo}/git/matching-refs/heads/${value}`,
          `${repo}/git/commits/${value}`,
          `${repo}/git/tags/${value}`,
          `${repo}/branches/${value}`,
          `${repo}/branches?page=${value}`,
          `${repo}/compare/${value}...main`,
          `${repo}/compare/main...${value}`,
          `${repo}/tarball/${value}`,
          `${repo}/zipball/${value}`,
          `/api/codeload/test/shop/tar.gz/${value}`,
          `/api/codeload/test/shop/legacy.tar.gz/${value}`,
          `/api/v3/repos/${value}/shop`,
          `/api/v3/repos/test/${value}`,
          `/api/v3/users/${value}`,
          `/api/v3/users/${value}/repos`,
          `/raw/test/shop/${value}/data/things/a.json`,
          `/raw/test/shop/main/${value}`,
          `/raw/${value}/shop/main/x`,
          `/test/${value}.git/info/refs?service=git-upload-pack`,
          `/test/shop.git/info/refs?service=${value}`,
          `/api/v3/${value}`
        ])
        const requests = asked.map((path) => ["GET", path] as const)
        assert.deepStrictEqual(yield* wrong(requests, ({ status }) => status < 500, 16), [])
        assert.isFalse(existsSync("/tmp/chainstore-option-x"))
      }),
    120_000
  )

  it.effect(
    "no body of a write returns 500",
    () =>
      Effect.gen(function* () {
        const { repository } = yield* ConsoleService
        const head = headOf(repository)
        const person = { name: "a", email: "a@b" }
        const file = (path: string, more: object = {}): Asked => [
          "PUT",
          `${repo}/contents/${path}`,
          { message: "m", content: "", ...more }
        ]
        const made = (what: string) => (body: object) => ["POST", `${repo}/${what}`, body] as const
        const commit = made("git/commits")
        const ref = (name: string) => made("git/refs")({ ref: name, sha: head })
        const blob = { mode: "100644", type: "blob", content: "" }
        const tree = (...entries: ReadonlyArray<object>) => made("git/trees")({ tree: entries })
        const graphql = (inside: string) =>
          [
            "POST",
            "/api/graphql",
            { query: `{ repository(owner:"test",name:"shop"){ ${inside} } }` }
          ] as const
        const history = (path: string) =>
          graphql(
            `object(expression:"main"){ ... on Commit { history(first:5, path:"${path}"){ totalCount } } }`
          )
        const cases: ReadonlyArray<Asked> = [
          file("x%00y"),
          file("x.json", { message: "\u0000" }),
          file("y.json", { message: "\ud800" }),
          file("z.json", { committer: { name: "a\u0000<", email: "x>\n" } }),
          file("z2.json", { author: { name: "\n", email: "" } }),
          file("z3.json", { author: { ...person, date: "+275760-09-13T00:00:00.001Z" } }),
          file("z4.json", { author: { ...person, date: "-000001-01-01T00:00:00Z" } }),
          file("z5.json", { content: "!!!" }),
          file("z6.json", { branch: "\u0000" }),
          file("z7.json", { branch: "-x" }),
          file(`${"d/".repeat(1500)}z`),
          file("n".repeat(300)),
          commit({ message: "m", tree: head, parents: [] }),
          commit({ message: "m", tree: "0".repeat(40), parents: [head] }),
          commit({ message: "m", tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", parents: [head, head] }),
          tree({ ...blob, path: "a\u0000b" }),
          tree({ ...blob, path: "a" }, { ...blob, path: "a/b" }),
          made("git/trees")({
            base_tree: head,
            tree: [{ path: "data", mode: "040000", type: "tree", sha: head }]
          }),
          tree({ ...blob, path: ".git/config" }),
          tree({ path: "a", mode: "160000", type: "commit", sha: head }),
          tree({ ...blob, path: "a", mode: "120000", content: "../../../etc/passwd" }),
          ...["\u0000", "a".repeat(300), "main/sub", "../../config", "con.lock"].map((name) =>
            ref(`refs/heads/${name}`)
          ),
          made("git/tags")({ tag: "\u0000", message: "m", object: head, type: "commit" }),
          made("git/tags")({ tag: "v1", message: "m", object: head, type: "tree" }),
          made("merges")({ base: "main", head: "\u0000" }),
          made("merges")({ base: "\u0000", head: "main" }),
          ["POST", "/api/v3/user/repos", { name: ".." }],
          ["POST", "/api/v3/user/repos", { name: "\u0000" }],
          ["POST", "/api/v3/user/repos", { name: "a".repeat(500) }],
          ["POST", "/api/v3/user/repos", { name: "x", description: "\u0000\ud800" }],
          ["POST", "/api/v3/orgs/../repos", { name: "x" }],
          ["POST", "/api/graphql", { query: "{" }],
          graphql('object(expression:"main:\\u0000"){ id }'),
          graphql('object(expression:"-x:"){ id }'),
          graphql('ref(qualifiedName:"\\u0000"){ id }'),
          history("\\u0000"),
          history("../x"),
          ["POST", "/api/graphql", { query: "query(".repeat(3000) }],
          ["POST", "/api/graphql", { query: `{${"a{".repeat(5000)}` }]
        ]
        const isRight: Parameters<typeof wrong>[1] = ({ status, text }) =>
          status < 500 && !/Something went wrong/.test(text)
        const told = yield* wrong(cases, isRight)
        execFileSync("git", ["-C", repository, "fsck", "--strict"], { stdio: "pipe" })
        assert.deepStrictEqual(told, [])
      }),
    120_000
  )
})
