import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const zeros = "0".repeat(40)

layer(host(), { timeout: 60_000 })("graphql", (it) => {
  it.effect("a query needs a token, and mistakes come with status 200 and their place", () =>
    Effect.gen(function* () {
      const anonymous = yield* Rest.request("POST", "/api/graphql", {
        token: null,
        body: { query: "{ viewer { login } }" }
      })
      assert.strictEqual(anonymous.status, 401)
      const unknown = yield* Rest.graphql("{ viewer { salary } }")
      assert.strictEqual(
        unknown.errors![0].message,
        `Cannot query field "salary" on type "User": this host serves a part of GitHub's schema.`
      )
      assert.deepStrictEqual(unknown.errors![0].locations, [{ line: 1, column: 12 }])
      assert.notProperty(unknown, "data")
      assert.isArray((yield* Rest.graphql("{ viewer {")).errors)
      assert.isArray((yield* Rest.graphql("")).errors)
    })
  )

  it.effect("repositories are made, filtered and ordered", () =>
    Effect.gen(function* () {
      const make = (input: Record<string, unknown>) =>
        Rest.graphql(
          `mutation($input: CreateRepositoryInput!) { createRepository(input: $input) {
             clientMutationId repository { nameWithOwner visibility description isEmpty parent { id }
               hasIssuesEnabled hasWikiEnabled mergeCommitAllowed rebaseMergeAllowed squashMergeAllowed
               latestRelease { tagName } releases(first: 1) { totalCount nodes { name } pageInfo { hasNextPage } }
               resourcePath } } }`,
          { input: { visibility: "PRIVATE", ...input } }
        )
      const { id } = (yield* Rest.graphql("{ viewer { id } }")).data.viewer
      const { createRepository } = (yield* make({
        name: "made b",
        description: "one",
        clientMutationId: "me"
      })).data
      assert.deepStrictEqual(createRepository, {
        clientMutationId: "me",
        repository: {
          nameWithOwner: "local/made-b",
          visibility: "PRIVATE",
          description: "one",
          isEmpty: true,
          parent: null,
          hasIssuesEnabled: false,
          hasWikiEnabled: false,
          mergeCommitAllowed: true,
          rebaseMergeAllowed: false,
          squashMergeAllowed: false,
          latestRelease: null,
          releases: { totalCount: 0, nodes: [], pageInfo: { hasNextPage: false } },
          resourcePath: "/local/made-b"
        }
      })
      assert.isUndefined((yield* make({ name: "made-a", ownerId: id, visibility: "PUBLIC" })).errors)
      for (const [input, type, message] of [
        [{ name: "made-a" }, "UNPROCESSABLE", "Name already exists on this account"],
        [{ name: "." }, "UNPROCESSABLE", "Name is invalid"],
        [{ name: "x", ownerId: "eA" }, "NOT_FOUND", "Could not resolve to a node with the global id of 'eA'."]
      ] as const) {
        const { errors } = yield* make(input)
        assert.deepStrictEqual([errors![0].type, errors![0].message], [type, message])
      }
      yield* Rest.repository("made-c", { "a.json": "1\n" })
      const names = (args: string) =>
        Effect.map(
          Rest.graphql(`{ viewer { repositories(first: 100, ${args}) { nodes { name } } } }`),
          ({ data }) =>
            data.viewer.repositories.nodes
              .map(({ name }: Rest.Json) => name.slice(5))
              .filter((name: string) => /^[abc]$/.test(name))
              .join("")
        )
      for (const [args, expected] of [
        ["orderBy: { field: NAME, direction: DESC }", "cba"],
        ["orderBy: { field: NAME, direction: ASC }", "abc"],
        ["privacy: PRIVATE", "b"],
        ["visibility: PUBLIC", "ac"],
        ["isFork: true", ""],
        ["isFork: false, isArchived: false", "abc"],
        ["isArchived: true", ""],
        ["isLocked: true", ""],
        ["ownerAffiliations: [OWNER, COLLABORATOR]", "abc"],
        ["ownerAffiliations: [COLLABORATOR]", ""],
        ["affiliations: [OWNER]", "abc"],
        ["affiliations: [ORGANIZATION_MEMBER]", ""]
      ] as const)
        assert.strictEqual(yield* names(args), expected, args)
      const pushed = yield* names("orderBy: { field: PUSHED_AT, direction: DESC }")
      assert.strictEqual([...pushed].sort().join(""), "abc")
      const refs = yield* Rest.graphql(`{ repository(owner: "local", name: "made-c") {
        refs(refPrefix: "refs/heads/", first: 5, direction: DESC) { nodes { name } } } }`)
      assert.deepStrictEqual(refs.data.repository.refs.nodes, [{ name: "main" }])
    })
  )

  it.effect("text is cut at exactly 512,000 bytes, binary has none", () =>
    Effect.gen(function* () {
      const long = `${"é".repeat(256_000)}!`
      yield* Rest.repository("blobs", {
        "long.txt": long,
        "exact.txt": "x".repeat(512_000),
        "odd.txt": `x${long}`,
        "b.bin": Buffer.from([1, 0, 2])
      })
      const { data } = yield* Rest.graphql(`{ repository(owner: "local", name: "blobs") {
        long: object(expression: "main:long.txt") { ...blob } exact: object(expression: "HEAD:exact.txt") { ...blob }
        odd: object(expression: "main:odd.txt") { ...blob } bin: object(expression: "main:b.bin") { ...blob }
        none: object(expression: "main:none") { ...blob } nowhere: object(expression: "nowhere:x") { ...blob }
        root: object(expression: "main:") { ... on Tree { entries { name type mode size object { ... on Blob { byteSize } } } } }
      } } fragment blob on Blob { byteSize isTruncated isBinary text }`)
      const { bin, exact, long: cut, none, nowhere, odd, root } = data.repository
      assert.deepStrictEqual(
        [cut.byteSize, cut.isTruncated, Buffer.byteLength(cut.text)],
        [512_001, true, 512_000]
      )
      assert.deepStrictEqual([exact.isTruncated, exact.text.length], [false, 512_000])
      assert.deepStrictEqual([odd.isTruncated, Buffer.byteLength(odd.text)], [true, 511_999])
      assert.deepStrictEqual([bin.text, bin.isBinary, none, nowhere], [null, true, null, null])
      assert.deepStrictEqual(root.entries[0], {
        name: "b.bin",
        type: "blob",
        mode: 33188,
        size: 3,
        object: { byteSize: 3 }
      })
    })
  )

  it.effect("a commit on a branch: additions and deletions at once, at the expected head alone", () =>
    Effect.gen(function* () {
      const head = (yield* Rest.repository("commit", { "a.json": "1\n", "b.json": "2\n" }))!
      const commit = (input: Record<string, unknown>) =>
        Rest.graphql(
          `mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) {
             clientMutationId commit { oid message parents(first: 1) { nodes { oid } } f: file(path: "c.json") { oid } }
             ref { name prefix target { oid } } } }`,
          {
            input: {
              branch: { repositoryNameWithOwner: "local/commit", branchName: "main" },
              expectedHeadOid: head.commit,
              message: { headline: "head", body: "body" },
              clientMutationId: "me",
              ...input
            }
          }
        )
      const addition = { path: "c.json", contents: Rest.base64("3\n") }
      const failed = (answer: { readonly data?: Rest.Json; readonly errors?: ReadonlyArray<Rest.Json> }) => {
        assert.deepStrictEqual(answer.data, { createCommitOnBranch: null })
        assert.deepStrictEqual(answer.errors![0].path, ["createCommitOnBranch"])
        return [answer.errors![0].type, answer.errors![0].message]
      }
      const absent = yield* commit({ fileChanges: { deletions: [{ path: "none.json" }] } })
      assert.deepStrictEqual(failed(absent), [
        "UNPROCESSABLE",
        `A path was requested for deletion which does not exist as of commit oid ${head.commit}`
      ])
      const twice = yield* commit({ fileChanges: { additions: [addition], deletions: [{ path: "c.json" }] } })
      assert.strictEqual(failed(twice)[0], "UNPROCESSABLE")
      const outside = yield* commit({ fileChanges: { additions: [{ ...addition, path: "../x" }] } })
      assert.strictEqual(failed(outside)[0], "UNPROCESSABLE")
      const loose = yield* commit({ fileChanges: { additions: [{ path: "x", contents: "aGk" }] } })
      assert.strictEqual(failed(loose)[0], "UNPROCESSABLE")
      const none = yield* commit({ branch: { repositoryNameWithOwner: "local/commit", branchName: "none" } })
      assert.strictEqual(failed(none)[0], "NOT_FOUND")
      const nowhere = yield* commit({
        branch: { repositoryNameWithOwner: "local/nowhere", branchName: "main" }
      })
      assert.deepStrictEqual(failed(nowhere), [
        "NOT_FOUND",
        "Could not resolve to a Repository with the name 'local/nowhere'."
      ])
      const made = yield* commit({ fileChanges: { additions: [addition], deletions: [{ path: "a.json" }] } })
      const { commit: told, ref, clientMutationId } = made.data.createCommitOnBranch
      assert.deepStrictEqual(
        [clientMutationId, told.message, told.parents.nodes[0].oid],
        ["me", "head\n\nbody", head.commit]
      )
      assert.deepStrictEqual([ref.name, ref.prefix, ref.target.oid], ["main", "refs/heads/", told.oid])
      assert.strictEqual((yield* Rest.get("/repos/local/commit/contents/a.json")).status, 404)
      assert.deepStrictEqual(failed(yield* commit({ fileChanges: { additions: [addition] } })), [
        "STALE_DATA",
        `Expected branch to point to "${head.commit}" but it did not.  Pull and try again.`
      ])
    })
  )

  it.effect("refs are made, moved all or none, and deleted", () =>
    Effect.gen(function* () {
      const head = (yield* Rest.repository("refs", { "a.json": "1\n" }))!.commit
      const tree = (yield* Rest.get(`/repos/local/refs/git/commits/${head}`)).body.tree.sha
      const next: string = (yield* Rest.request("POST", "/repos/local/refs/git/commits", {
        body: { message: "n", tree, parents: [head] }
      })).body.sha
      const { data } = yield* Rest.graphql(
        `{ repository(owner: "local", name: "refs") { id ref(qualifiedName: "main") { id } } }`
      )
      const repositoryId: string = data.repository.id
      const create = (name: string, oid: string) =>
        Rest.graphql(`mutation($input: CreateRefInput!) { createRef(input: $input) { ref { id name } } }`, {
          input: { repositoryId, name, oid }
        })
      const work = (yield* create("refs/heads/work", head)).data.createRef.ref
      assert.strictEqual(work.name, "work")
      assert.match((yield* create("refs/heads/work", head)).errors![0].message, /already exists/)
      const update = (refUpdates: ReadonlyArray<object>) =>
        Rest.graphql(
          `mutation($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }`,
          {
            input: { repositoryId, refUpdates }
          }
        )
      const at = (name: string) =>
        Effect.map(Rest.get(`/repos/local/refs/git/ref/heads/${name}`), ({ body }) => body.object?.sha)
      const half = yield* update([
        { name: "refs/heads/main", beforeOid: head, afterOid: next },
        { name: "refs/heads/work", beforeOid: next, afterOid: next }
      ])
      assert.deepStrictEqual([half.errors![0].type, half.data.updateRefs], ["STALE_DATA", null])
      assert.strictEqual(yield* at("main"), head)
      const unsaid = yield* update([{ name: "refs/heads/main", beforeOid: "", afterOid: next }])
      assert.strictEqual(unsaid.errors?.[0].type, "STALE_DATA")
      assert.strictEqual(yield* at("main"), head)
      const both = yield* update([
        { name: "refs/heads/main", beforeOid: head, afterOid: next },
        { name: "refs/heads/work", beforeOid: head, afterOid: next },
        { name: "refs/heads/new", beforeOid: zeros, afterOid: head }
      ])
      assert.isUndefined(both.errors)
      assert.deepStrictEqual([yield* at("main"), yield* at("work"), yield* at("new")], [next, next, head])
      const back = yield* update([{ name: "refs/heads/main", afterOid: head }])
      assert.match(back.errors![0].message, /not a fast forward/)
      assert.isUndefined((yield* update([{ name: "refs/heads/main", afterOid: head, force: true }])).errors)
      assert.isUndefined((yield* update([{ name: "refs/heads/new", afterOid: zeros }])).errors)
      assert.isUndefined(yield* at("new"))
      const gone = yield* Rest.graphql(
        `mutation($input: DeleteRefInput!) { deleteRef(input: $input) { clientMutationId } }`,
        {
          input: { refId: work.id }
        }
      )
      assert.isUndefined(gone.errors)
      assert.isUndefined(yield* at("work"))
    })
  )

  it.effect("refs are found by a part of their own name", () =>
    Effect.gen(function* () {
      const head = (yield* Rest.repository("found", { "a.json": "1\n" }))!.commit
      for (const ref of ["refs/heads/feature/head", "refs/tags/heads"])
        yield* Rest.request("POST", "/repos/local/found/git/refs", { body: { ref, sha: head } })
      const named = (refPrefix: string, query: string) =>
        Effect.map(
          Rest.graphql(
            `query($refPrefix: String!, $query: String!) {
              repository(owner: "local", name: "found") {
                refs(refPrefix: $refPrefix, query: $query, first: 10) { nodes { name } }
              }
            }`,
            { refPrefix, query }
          ),
          ({ data }) => data.repository.refs.nodes.map(({ name }: Rest.Json) => name)
        )
      assert.deepStrictEqual(yield* named("refs/heads/", "head"), ["feature/head"])
      assert.deepStrictEqual(yield* named("refs/heads/", "heads"), [])
      assert.deepStrictEqual(yield* named("refs/tags/", "heads"), ["heads"])
      assert.deepStrictEqual(yield* named("refs/tags/", "tags"), [])
    })
  )

  it.effect("bounds: pages need a size, and no query may ask for too much", () =>
    Effect.gen(function* () {
      yield* Rest.repository("bounds", { "a.json": "1\n" })
      const history = (args: string) =>
        Rest.graphql(`{ repository(owner: "local", name: "bounds") { ref(qualifiedName: "main") { target { ... on Commit {
          history${args} { totalCount nodes { oid } } } } } } rateLimit { cost nodeCount remaining limit } }`)
      assert.strictEqual((yield* history("")).errors![0].type, "MISSING_PAGINATION_BOUNDARIES")
      assert.strictEqual((yield* history("(first: 101)")).errors![0].type, "EXCESSIVE_PAGINATION")
      const fine = yield* history("(first: 100)")
      assert.deepStrictEqual([fine.data.rateLimit.cost, fine.data.rateLimit.nodeCount], [1, 100])
      const nested = (depth: number): string =>
        depth === 0 ? "oid" : `history(first: 100) { nodes { ${nested(depth - 1)} } }`
      const vast = yield* Rest.graphql(
        `{ repository(owner: "local", name: "bounds") { object(expression: "main") { ... on Commit { ${nested(4)} } } } }`
      )
      assert.strictEqual(vast.errors![0].type, "MAX_NODE_LIMIT_EXCEEDED")
      const long = `{ ${Array.from({ length: 20_000 }, (_, index) => `a${index}: viewer { login }`).join(" ")} }`
      assert.match((yield* Rest.graphql(long)).errors![0].message, /tokens/)
      const large = { query: "{ viewer { login } }", variables: { unused: "x".repeat(50 * 1024 * 1024) } }
      assert.strictEqual((yield* Rest.request("POST", "/api/graphql", { body: large })).status, 413)
    })
  )
})
