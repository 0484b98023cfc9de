import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Octokit, RequestError } from "octokit"
import type { HostServerOptions } from "../support/host/HostServer.js"
import { HostServer, layer as hostLayer } from "../support/host/HostServer.js"
import * as Rest from "../support/host/Rest.js"

let clients = 0

/** A client that waits a second between its own writes, as its plugin has it, and not between everybody's. */
const client = (options: ConstructorParameters<typeof Octokit>[0] = {}) =>
  Effect.map(HostServer, ({ api, token }) => {
    const throttle = {
      id: `client ${clients++}`,
      onRateLimit: () => false,
      onSecondaryRateLimit: () => false
    }
    return new Octokit({ auth: token, baseUrl: api, retry: { enabled: false }, throttle, ...options })
  })

const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail("it was not refused"),
    (error: unknown) => {
      assert.instanceOf(error, RequestError)
      return error
    }
  )

const options: HostServerOptions = {}

// Each has repositories and a client of its own.
describe.concurrent("everything at once", () => {
  layer(hostLayer(options), { timeout: 60_000 })("octokit against the host", (it) => {
    it.effect("walks a document through its whole life by REST", () =>
      Effect.gen(function* () {
        const octokit = yield* client()
        yield* Effect.promise(async () => {
          const { rest } = octokit
          assert.strictEqual((await rest.users.getAuthenticated()).data.login, "local")
          const made = await rest.repos.createForAuthenticatedUser({ name: "life", private: true })
          assert.strictEqual(made.status, 201)
          const at = { owner: "local", repo: "life" }
          const empty = await refused(rest.git.getRef({ ...at, ref: "heads/main" }))
          assert.strictEqual(empty.status, 409)
          const created = await rest.repos.createOrUpdateFileContents({
            ...at,
            path: "data/ü/a b.json",
            message: "insert",
            content: Rest.base64("{}\n")
          })
          assert.strictEqual(created.status, 201)
          const read = await rest.repos.getContent({ ...at, path: "data/ü/a b.json" })
          assert.isTrue(
            "content" in read.data && Buffer.from(read.data.content, "base64").toString() === "{}\n"
          )
          const raw = await rest.repos.getContent({
            ...at,
            path: "data/ü/a b.json",
            mediaType: { format: "raw" }
          })
          assert.strictEqual(raw.data as unknown as string, "{}\n")
          const updated = await rest.repos.createOrUpdateFileContents({
            ...at,
            path: "data/ü/a b.json",
            message: "update",
            content: Rest.base64('{"a":1}\n'),
            sha: created.data.content!.sha!
          })
          assert.strictEqual(updated.status, 200)
          const history = await rest.repos.listCommits({ ...at, path: "data/ü/a b.json" })
          assert.deepStrictEqual(
            history.data.map(({ commit }) => commit.message),
            ["update", "insert"]
          )
          await rest.repos.deleteFile({
            ...at,
            path: "data/ü/a b.json",
            message: "delete",
            sha: updated.data.content!.sha!
          })
          const gone = await refused(rest.repos.getContent({ ...at, path: "data/ü/a b.json" }))
          assert.strictEqual(gone.status, 404)
        })
      })
    )

    it.effect("builds a commit of several files with the Git Data API", () =>
      Effect.gen(function* () {
        const octokit = yield* client()
        yield* Rest.repository("data", { "a.json": "1\n", "b.json": "1\n" })
        yield* Effect.promise(async () => {
          const { git, repos } = octokit.rest
          const at = { owner: "local", repo: "data" }
          const head = (await git.getRef({ ...at, ref: "heads/main" })).data.object.sha
          const blob = await git.createBlob({ ...at, content: Rest.base64("2\n"), encoding: "base64" })
          const tree = await git.createTree({
            ...at,
            base_tree: head,
            tree: [
              { path: "a.json", mode: "100644", type: "blob", sha: blob.data.sha },
              { path: "b.json", mode: "100644", type: "blob", sha: null },
              { path: "deep/er/c.json", mode: "100644", type: "blob", content: "3\n" }
            ]
          })
          const commit = await git.createCommit({
            ...at,
            message: "three",
            tree: tree.data.sha,
            parents: [head]
          })
          await git.updateRef({ ...at, ref: "heads/main", sha: commit.data.sha })
          await git.createRef({ ...at, ref: "refs/heads/work/one", sha: commit.data.sha })
          const listed = await git.getTree({ ...at, tree_sha: "main", recursive: "1" })
          assert.deepStrictEqual(
            listed.data.tree.map(({ path }) => path),
            ["a.json", "deep", "deep/er", "deep/er/c.json"]
          )
          const detail = await repos.getCommit({ ...at, ref: commit.data.sha })
          assert.deepStrictEqual(
            detail.data.files!.map(({ filename, status }) => [filename, status]),
            [
              ["a.json", "modified"],
              ["b.json", "removed"],
              ["deep/er/c.json", "added"]
            ]
          )
          const compared = await repos.compareCommitsWithBasehead({ ...at, basehead: `${head}...main` })
          assert.deepStrictEqual([compared.data.status, compared.data.ahead_by], ["ahead", 1])
          assert.deepStrictEqual(
            (await repos.listBranches(at)).data.map(({ name }) => name),
            ["main", "work/one"]
          )
          await git.deleteRef({ ...at, ref: "heads/work/one" })
          const stale = await refused(git.updateRef({ ...at, ref: "heads/main", sha: head }))
          assert.deepStrictEqual(
            [stale.status, stale.message.split(" - ")[0]],
            [422, "Update is not a fast forward"]
          )
        })
      })
    )

    it.effect("merges, and downloads the archive behind the redirect", () =>
      Effect.gen(function* () {
        const octokit = yield* client()
        const base = yield* Rest.repository("merge", { "a.json": "1\n" })
        yield* Effect.promise(async () => {
          const at = { owner: "local", repo: "merge" }
          await octokit.rest.git.createRef({ ...at, ref: "refs/heads/side", sha: base!.commit })
          for (const [branch, path] of [
            ["side", "side.json"],
            ["main", "main.json"]
          ] as const) {
            await octokit.rest.repos.createOrUpdateFileContents({
              ...at,
              branch,
              path,
              message: path,
              content: Rest.base64("1\n")
            })
          }
          const merged = await octokit.rest.repos.merge({ ...at, base: "main", head: "side" })
          assert.strictEqual(merged.status, 201)
          assert.strictEqual(merged.data.parents.length, 2)
          const again = await octokit.rest.repos.merge({ ...at, base: "main", head: "side" })
          assert.strictEqual(again.status as number, 204)
          const archive = await octokit.rest.repos.downloadTarballArchive({ ...at, ref: "main" })
          const bytes = Buffer.from(archive.data as ArrayBuffer)
          assert.deepStrictEqual([bytes[0], bytes[1]], [0x1f, 0x8b])
        })
      })
    )

    it.effect("paginates by the Link header", () =>
      Effect.gen(function* () {
        const octokit = yield* client()
        yield* Rest.repository("pages", { "a.json": "0\n" })
        for (let index = 0; index < 24; index++) {
          yield* Rest.request("PUT", `/repos/local/pages/contents/${index}.json`, {
            body: { message: `${index}`, content: "" }
          })
        }
        const all = yield* Effect.promise(() =>
          octokit.paginate(octokit.rest.repos.listCommits, { owner: "local", repo: "pages", per_page: 7 })
        )
        assert.strictEqual(all.length, 25)
        assert.strictEqual(new Set(all.map(({ sha }) => sha)).size, 25)
      })
    )

    it.effect("executes GraphQL: aliases, variables, fragments, mutations and partial data", () =>
      Effect.gen(function* () {
        const octokit = yield* client()
        const head = yield* Rest.repository("graph", { "a.json": "1\n", "b.json": "2\n" })
        yield* Effect.promise(async () => {
          const read = await octokit.graphql<Rest.Json>(
            `query($owner: String!, $name: String!) {
             repository(owner: $owner, name: $name) {
               ref(qualifiedName: "refs/heads/main") { target { ... on Commit {
                 oid
                 d0: file(path: "a.json") { ...entry }
                 d1: file(path: "b.json") { ...entry }
                 d2: file(path: "missing.json") { ...entry }
               } } }
             }
           }
           fragment entry on TreeEntry { oid object { ... on Blob { text isTruncated byteSize } } }`,
            { owner: "local", name: "graph" }
          )
          const { target } = read.repository.ref
          assert.strictEqual(target.oid, head!.commit)
          assert.deepStrictEqual(
            [target.d0.object.text, target.d1.object.text, target.d2],
            ["1\n", "2\n", null]
          )
          const commit = (expectedHeadOid: string) =>
            octokit.graphql<Rest.Json>(
              `mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }`,
              {
                input: {
                  branch: { repositoryNameWithOwner: "local/graph", branchName: "main" },
                  expectedHeadOid,
                  message: { headline: "two", body: "lines" },
                  fileChanges: {
                    additions: [{ path: "c.json", contents: Rest.base64("3\n") }],
                    deletions: [{ path: "a.json" }]
                  }
                }
              }
            )
          const made = await commit(head!.commit)
          assert.match(made.createCommitOnBranch.commit.oid, /^[0-9a-f]{40}$/)
          const stale = await commit(head!.commit).then(
            () => assert.fail("it was not refused"),
            (error) => error
          )
          assert.strictEqual(stale.errors[0].type, "STALE_DATA")
          const partial = await octokit
            .graphql<Rest.Json>(
              `{ a: repository(owner: "local", name: "graph") { name } b: repository(owner: "local", name: "none") { name } }`
            )
            .then(
              () => assert.fail("it has an error"),
              (error) => error
            )
          assert.deepStrictEqual(partial.data, { a: { name: "graph" }, b: null })
          assert.deepStrictEqual(partial.errors[0].type, "NOT_FOUND")
          const pages = await octokit.graphql.paginate<Rest.Json>(
            `query paginate($cursor: String) { repository(owner: "local", name: "graph") {
             defaultBranchRef { target { ... on Commit {
               history(first: 1, after: $cursor) { nodes { message } pageInfo { hasNextPage endCursor } }
             } } } } }`
          )
          assert.deepStrictEqual(
            pages.repository.defaultBranchRef.target.history.nodes.map(
              ({ message }: Rest.Json) => message.split("\n")[0]
            ),
            ["two", "seed"]
          )
        })
      })
    )

    it.effect("proposes, changes, lists, merges and closes pull requests", () =>
      Effect.gen(function* () {
        const octokit = yield* client()
        yield* Rest.repository("pulls", { "data/pens/a.json": "{}\n" })
        yield* Effect.promise(async () => {
          const { rest } = octokit
          const at = { owner: "local", repo: "pulls" }
          const main = await rest.git.getRef({ ...at, ref: "heads/main" })
          const write = (branch: string, path: string) =>
            rest.repos.createOrUpdateFileContents({
              ...at,
              branch,
              path,
              message: `write ${path}`,
              content: Rest.base64("{}\n")
            })
          const propose = async (head: string) => {
            await rest.git.createRef({ ...at, ref: `refs/heads/${head}`, sha: main.data.object.sha })
            await write(head, `data/pens/${head}.json`)
            return rest.pulls.create({ ...at, title: `Add ${head}`, head, base: "main", body: "Why." })
          }
          const one = await propose("one")
          assert.strictEqual(one.status, 201)
          assert.deepInclude(one.data, {
            number: 1,
            state: "open",
            commits: 1,
            changed_files: 1,
            mergeable: true
          })
          assert.strictEqual(
            (await refused(rest.pulls.create({ ...at, title: "x", head: "one", base: "main" }))).status,
            422
          )
          await propose("two")
          await propose("three")
          await rest.issues.addLabels({ ...at, issue_number: 2, labels: ["prices"] })
          await rest.pulls.update({ ...at, pull_number: 2, title: "Second" })
          const listed = await octokit.paginate(rest.pulls.list, { ...at, per_page: 2, state: "all" })
          assert.deepStrictEqual(
            listed.map(({ labels, number, title }) => [number, title, labels.map(({ name }) => name)]),
            [
              [3, "Add three", []],
              [2, "Second", ["prices"]],
              [1, "Add one", []]
            ]
          )
          const last = await write("one", "data/pens/more.json")
          const shown = await rest.pulls.get({ ...at, pull_number: 1 })
          assert.strictEqual(shown.data.head.sha, last.data.commit.sha)
          const files = await octokit.paginate(rest.pulls.listFiles, { ...at, pull_number: 1, per_page: 1 })
          assert.deepStrictEqual(
            files.map(({ filename, status }) => [filename, status]),
            [
              ["data/pens/more.json", "added"],
              ["data/pens/one.json", "added"]
            ]
          )
          const commits = await rest.pulls.listCommits({ ...at, pull_number: 1 })
          assert.deepStrictEqual(
            commits.data.map(({ commit }) => commit.message),
            ["write data/pens/one.json", "write data/pens/more.json"]
          )
          const stale = await refused(rest.pulls.merge({ ...at, pull_number: 1, sha: one.data.head.sha }))
          assert.strictEqual(stale.status, 409)
          assert.strictEqual((await refused(rest.pulls.checkIfMerged({ ...at, pull_number: 1 }))).status, 404)
          const merged = await rest.pulls.merge({ ...at, pull_number: 1, sha: shown.data.head.sha })
          assert.isTrue(merged.data.merged)
          assert.strictEqual((await rest.pulls.checkIfMerged({ ...at, pull_number: 1 })).status, 204)
          const tip = await rest.git.getRef({ ...at, ref: "heads/main" })
          assert.strictEqual(tip.data.object.sha, merged.data.sha)
          assert.strictEqual((await refused(rest.pulls.merge({ ...at, pull_number: 1 }))).status, 405)
          const closed = await rest.pulls.update({ ...at, pull_number: 2, state: "closed" })
          assert.deepInclude(closed.data, { state: "closed", merged: false })
          await rest.git.deleteRef({ ...at, ref: "heads/three" })
          const states = await rest.pulls.list({ ...at, state: "closed" })
          assert.deepStrictEqual(
            states.data.map(({ merge_commit_sha, number }) => [number, merge_commit_sha]),
            [
              [3, null],
              [2, null],
              [1, merged.data.sha]
            ]
          )
          assert.strictEqual((await refused(rest.pulls.get({ ...at, pull_number: 4 }))).status, 404)
        })
      })
    )

    it.effect("its retry plugin gets over faults", () =>
      Effect.gen(function* () {
        const { faults } = yield* HostServer
        yield* Rest.repository("retry", { "a.json": "1\n" })
        yield* faults.set({
          rules: [
            {
              method: "GET",
              path: "/retry/",
              times: 1,
              fault: { _tag: "Error", status: 502, when: "before" }
            }
          ]
        })
        const octokit = yield* client({ retry: { enabled: true, retryAfterBaseValue: 1 } })
        const read = yield* Effect.promise(() =>
          octokit.rest.repos.getContent({ owner: "local", repo: "retry", path: "a.json" })
        )
        assert.strictEqual(read.status, 200)
        yield* faults.set({})
      })
    )
  })

  layer(hostLayer({ limits: { core: 3, windowSeconds: 2, retryAfter: 1 } }), { timeout: 60_000 })(
    "octokit against a host with a small budget",
    (it) => {
      it.effect("its throttling plugin waits for the reset and continues", () =>
        Effect.gen(function* () {
          const waited: Array<string> = []
          const octokit = yield* client({
            retry: { enabled: true },
            throttle: {
              onRateLimit: (_after: number, _options: object, _octokit: unknown, count: number) => {
                waited.push("primary")
                return count < 3
              },
              onSecondaryRateLimit: (_after: number, _options: object, _octokit: unknown, count: number) => {
                waited.push("secondary")
                return count < 3
              }
            }
          })
          const logins: Array<string> = []
          for (let index = 0; index < 5; index++) {
            logins.push((yield* Effect.promise(() => octokit.rest.users.getAuthenticated())).data.login)
          }
          assert.deepStrictEqual(
            logins,
            Array.from({ length: 5 }, () => "local")
          )
          assert.isTrue(waited.includes("primary"))
        })
      )
    }
  )
})
