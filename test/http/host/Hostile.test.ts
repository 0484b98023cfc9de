import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ConsoleService, layer as service } from "../../support/browser/ConsoleService.js"
import { ask } from "../console/Client.js"

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

layer(ready, { timeout: 60_000 })("what the host is asked that it should not be", (it) => {
  it.effect(
    "no query of a GET is answered with 500",
    () =>
      Effect.gen(function* () {
        const { repository, token, url } = yield* ConsoleService
        const told: Array<string> = []
        const head = execFileSync("git", ["-C", repository, "rev-parse", "main"], { encoding: "utf8" }).trim()
        const repo = "/api/v3/repos/test/shop"
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
        yield* Effect.forEach(
          asked,
          (path) =>
            Effect.map(
              ask(url, "GET", path, { headers: { authorization: `Bearer ${token}`, "user-agent": "test" } }),
              ({ status, text }) => {
                if (status >= 500) told.push(`${path.slice(0, 120)}: ${status} ${text.slice(0, 160)}`)
              }
            ),
          { concurrency: 16, discard: true }
        )
        assert.deepStrictEqual(told, [])
        assert.isFalse(existsSync("/tmp/chainstore-option-x"))
      }),
    120_000
  )

  it.effect(
    "no body of a write is answered with 500",
    () =>
      Effect.gen(function* () {
        const { repository, token, url } = yield* ConsoleService
        const told: Array<string> = []
        const head = execFileSync("git", ["-C", repository, "rev-parse", "main"], { encoding: "utf8" }).trim()
        const repo = "/api/v3/repos/test/shop"
        const person = { name: "a", email: "a@b" }
        const cases: Array<readonly [string, string, unknown]> = [
          ["PUT", `${repo}/contents/x%00y`, { message: "m", content: "" }],
          ["PUT", `${repo}/contents/x.json`, { message: "\u0000", content: "" }],
          ["PUT", `${repo}/contents/y.json`, { message: "\ud800", content: "" }],
          [
            "PUT",
            `${repo}/contents/z.json`,
            { message: "m", content: "", committer: { name: "a\u0000<", email: "x>\n" } }
          ],
          [
            "PUT",
            `${repo}/contents/z2.json`,
            { message: "m", content: "", author: { name: "\n", email: "" } }
          ],
          [
            "PUT",
            `${repo}/contents/z3.json`,
            { message: "m", content: "", author: { ...person, date: "+275760-09-13T00:00:00.001Z" } }
          ],
          [
            "PUT",
            `${repo}/contents/z4.json`,
            { message: "m", content: "", author: { ...person, date: "-000001-01-01T00:00:00Z" } }
          ],
          ["PUT", `${repo}/contents/z5.json`, { message: "m", content: "!!!" }],
          ["PUT", `${repo}/contents/z6.json`, { message: "m", content: "", branch: "\u0000" }],
          ["PUT", `${repo}/contents/z7.json`, { message: "m", content: "", branch: "-x" }],
          ["PUT", `${repo}/contents/${"d/".repeat(1500)}z`, { message: "m", content: "" }],
          ["PUT", `${repo}/contents/${"n".repeat(300)}`, { message: "m", content: "" }],
          ["POST", `${repo}/git/commits`, { message: "m", tree: head, parents: [] }],
          ["POST", `${repo}/git/commits`, { message: "m", tree: "0".repeat(40), parents: [head] }],
          [
            "POST",
            `${repo}/git/commits`,
            { message: "m", tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", parents: [head, head] }
          ],
          [
            "POST",
            `${repo}/git/trees`,
            { tree: [{ path: "a\u0000b", mode: "100644", type: "blob", content: "" }] }
          ],
          [
            "POST",
            `${repo}/git/trees`,
            {
              tree: [
                { path: "a", mode: "100644", type: "blob", content: "" },
                { path: "a/b", mode: "100644", type: "blob", content: "" }
              ]
            }
          ],
          [
            "POST",
            `${repo}/git/trees`,
            { base_tree: head, tree: [{ path: "data", mode: "040000", type: "tree", sha: head }] }
          ],
          [
            "POST",
            `${repo}/git/trees`,
            { tree: [{ path: ".git/config", mode: "100644", type: "blob", content: "" }] }
          ],
          ["POST", `${repo}/git/trees`, { tree: [{ path: "a", mode: "160000", type: "commit", sha: head }] }],
          [
            "POST",
            `${repo}/git/trees`,
            { tree: [{ path: "a", mode: "120000", type: "blob", content: "../../../etc/passwd" }] }
          ],
          ["POST", `${repo}/git/refs`, { ref: "refs/heads/\u0000", sha: head }],
          ["POST", `${repo}/git/refs`, { ref: `refs/heads/${"a".repeat(300)}`, sha: head }],
          ["POST", `${repo}/git/refs`, { ref: "refs/heads/main/sub", sha: head }],
          ["POST", `${repo}/git/refs`, { ref: "refs/heads/../../config", sha: head }],
          ["POST", `${repo}/git/refs`, { ref: "refs/heads/con.lock", sha: head }],
          ["POST", `${repo}/git/tags`, { tag: "\u0000", message: "m", object: head, type: "commit" }],
          ["POST", `${repo}/git/tags`, { tag: "v1", message: "m", object: head, type: "tree" }],
          ["POST", `${repo}/merges`, { base: "main", head: "\u0000" }],
          ["POST", `${repo}/merges`, { base: "\u0000", head: "main" }],
          ["POST", "/api/v3/user/repos", { name: ".." }],
          ["POST", "/api/v3/user/repos", { name: "\u0000" }],
          ["POST", "/api/v3/user/repos", { name: "a".repeat(500) }],
          ["POST", "/api/v3/user/repos", { name: "x", description: "\u0000\ud800" }],
          ["POST", "/api/v3/orgs/../repos", { name: "x" }],
          ["POST", "/api/graphql", { query: "{" }],
          [
            "POST",
            "/api/graphql",
            { query: `{ repository(owner:"test",name:"shop"){ object(expression:"main:\\u0000"){ id } } }` }
          ],
          [
            "POST",
            "/api/graphql",
            { query: `{ repository(owner:"test",name:"shop"){ object(expression:"-x:"){ id } } }` }
          ],
          [
            "POST",
            "/api/graphql",
            { query: `{ repository(owner:"test",name:"shop"){ ref(qualifiedName:"\\u0000"){ id } } }` }
          ],
          [
            "POST",
            "/api/graphql",
            {
              query: `{ repository(owner:"test",name:"shop"){ object(expression:"main"){ ... on Commit { history(first:5, path:"\\u0000"){ totalCount } } } } }`
            }
          ],
          [
            "POST",
            "/api/graphql",
            {
              query: `{ repository(owner:"test",name:"shop"){ object(expression:"main"){ ... on Commit { history(first:5, path:"../x"){ totalCount } } } } }`
            }
          ],
          ["POST", "/api/graphql", { query: "query(".repeat(3000) }],
          ["POST", "/api/graphql", { query: `{${"a{".repeat(5000)}` }]
        ]
        for (const [method, path, body] of cases) {
          const answer = yield* ask(url, method, path, {
            body,
            headers: { authorization: `Bearer ${token}`, "user-agent": "test" }
          })
          if (answer.status >= 500 || /Something went wrong/.test(answer.text))
            told.push(
              `${method} ${path.slice(0, 80)} ${JSON.stringify(body).slice(0, 160)}: ${answer.status} ${answer.text.slice(0, 160)}`
            )
        }
        execFileSync("git", ["-C", repository, "fsck", "--strict"], { stdio: "pipe" })
        assert.deepStrictEqual(told, [])
      }),
    120_000
  )
})
