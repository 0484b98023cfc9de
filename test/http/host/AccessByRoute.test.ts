import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { routes } from "../../../src/http/host/rest/RestRoutes.js"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const given = [
  {
    token: Redacted.make("reader-token"),
    login: "reader",
    grants: [{ repository: "local/secret", access: "read" as const }]
  }
]

const operations = routes
  .filter(({ path }) => path.startsWith("/repos/{owner}"))
  .map(({ method, path }) => [method, path.replace(/[+*]/g, "")] as const)

layer(host({ tokens: given }), { timeout: 60_000 })("access, route by route", (it) => {
  it.effect(
    "a private repository is not found without access; a reader changes nothing",
    () =>
      Effect.gen(function* () {
        const { directory: data, url } = yield* HostServer
        yield* Rest.repository("secret", { "a.json": "{}\n" }, { private: true })
        const git = join(data, "repos/local/secret.git")
        const run = (...line: ReadonlyArray<string>) =>
          execFileSync("git", ["-C", git, ...line], { encoding: "utf8" })
        const head = run("rev-parse", "main").trim()
        const blob = run("rev-parse", "main:a.json").trim()
        const tree = run("rev-parse", "main^{tree}").trim()
        const fill = (template: string, repo: string) =>
          template
            .replace("{owner}", "local")
            .replace("{repo}", repo)
            .replace("{file_sha}", blob)
            .replace("{tree_sha}", tree)
            .replace("{commit_sha}", head)
            .replace("{tag_sha}", head)
            .replace("{path}", "a.json")
            .replace("{basehead}", "main...main")
            .replace("{ref}", template.includes("/git/") ? "heads/main" : "main")
            .replace(/\{[^}]*\}/g, "main")
        const ask = (method: string, path: string, token: string | null) =>
          Effect.promise(async () => {
            const body =
              method === "GET" || method === "DELETE"
                ? undefined
                : JSON.stringify({
                    message: "m",
                    content: "eA==",
                    tree: template(path),
                    parents: [head],
                    ref: method === "PATCH" ? undefined : "refs/heads/evil",
                    sha: head,
                    force: true,
                    base: "main",
                    head: "main",
                    tag: "v1",
                    object: head,
                    type: "commit",
                    encoding: "utf-8",
                    branch: "main",
                    new_name: "evil",
                    name: "evil",
                    description: "evil",
                    private: false
                  })
            const answer = await fetch(url + path, {
              method,
              redirect: "manual",
              headers: {
                "user-agent": "test",
                ...(token === null ? {} : { authorization: `Bearer ${token}` }),
                ...(body ? { "content-type": "application/json" } : {})
              },
              ...(body ? { body } : {})
            })
            return {
              status: answer.status,
              text: (await answer.text()).replaceAll("secret", "NAME").replaceAll("absent", "NAME")
            }
          })
        const template = (path: string) =>
          path.endsWith("/git/trees") ? [{ path: "x", mode: "100644", type: "blob", content: "x" }] : tree
        const before = [
          run("for-each-ref"),
          run("count-objects", "-v"),
          readFileSync(join(git, "config"), "utf8")
        ]
        const told: Array<string> = []
        assert.isAbove(operations.length, 40)
        for (const [method, one] of operations) {
          const [there, absent] = [
            yield* ask(method, fill(one, "secret"), null),
            yield* ask(method, fill(one, "absent"), null)
          ]
          if (there.status !== absent.status || there.text !== absent.text)
            told.push(
              `${method} ${one}: ${there.status} ${there.text.slice(0, 80)} / ${absent.status} ${absent.text.slice(0, 80)}`
            )
          if (there.status < 400) told.push(`${method} ${one}: ${there.status} to a stranger`)
          const reader = yield* ask(method, fill(one, "secret"), "reader-token")
          if (method === "GET" ? reader.status >= 500 : reader.status < 400 || reader.status >= 500)
            told.push(`${method} ${one}: ${reader.status} to a reader`)
        }
        for (const path of [
          "/raw/local/NAME/main/a.json",
          "/raw/local/NAME/refs/heads/main/a.json",
          "/local/NAME.git/info/refs?service=git-upload-pack",
          "/local/NAME.git/info/refs?service=git-receive-pack",
          "/api/codeload/local/NAME/tar.gz/main",
          "/api/codeload/local/NAME/legacy.tar.gz/main",
          "/api/codeload/local/NAME/zip/main"
        ]) {
          const [there, absent] = [
            yield* ask("GET", path.replace("NAME", "secret"), null),
            yield* ask("GET", path.replace("NAME", "absent"), null)
          ]
          if (there.status !== absent.status || there.text !== absent.text || there.status < 400)
            told.push(`${path}: ${there.status} / ${absent.status}`)
        }
        const push = yield* ask("GET", "/local/secret.git/info/refs?service=git-receive-pack", "reader-token")
        if (push.status < 400) told.push(`a reader may push: ${push.status}`)
        const graphql = (query: string, token: string | null) =>
          Effect.promise(async () =>
            (
              await fetch(`${url}/graphql`, {
                method: "POST",
                headers: {
                  "user-agent": "test",
                  "content-type": "application/json",
                  ...(token ? { authorization: `Bearer ${token}` } : {})
                },
                body: JSON.stringify({ query })
              })
            ).text()
          )
        const mutation = yield* graphql(
          `mutation { createCommitOnBranch(input: { branch: { repositoryNameWithOwner: "local/secret", branchName: "main" }, expectedHeadOid: "${head}", message: { headline: "x" }, fileChanges: { additions: [{ path: "x", contents: "eA==" }] } }) { commit { oid } } }`,
          "reader-token"
        )
        if (!/errors/.test(mutation)) told.push(`GraphQL: ${mutation}`)
        const after = [
          run("for-each-ref"),
          run("count-objects", "-v"),
          readFileSync(join(git, "config"), "utf8")
        ]
        assert.deepStrictEqual(after, before)
        assert.deepStrictEqual(told, [])
      }),
    60_000
  )
})
