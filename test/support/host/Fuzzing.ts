import { existsSync, readdirSync, statSync } from "node:fs"
import { connect } from "node:net"
import { dirname, join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { routes } from "../../../src/http/host/rest/RestRoutes.js"
import { HostServer } from "./HostServer.js"
import * as Rest from "./Rest.js"

/** The number of runs of each kind of request, and the seed that reproduces them. */
export interface Runs {
  readonly runs: number
  readonly seed: number
}

/** Sends raw bytes and returns the status of the reply, or 0 if there is none. */
const send = (text: string) =>
  Effect.flatMap(HostServer, ({ url }) =>
    Effect.async<number>((resume) => {
      const { hostname, port } = new URL(url)
      let answer = ""
      const socket = connect(Number(port), hostname, () => socket.end(Buffer.from(text, "latin1")))
      socket.on("data", (chunk) => {
        answer += chunk.toString("latin1")
      })
      const done = () => resume(Effect.succeed(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)))
      socket.on("close", done)
      socket.on("error", done)
    })
  )

const check = <A, R>(
  { runs, seed }: Runs,
  arbitrary: fc.Arbitrary<A>,
  statusOf: (sample: A) => Effect.Effect<number, never, R>
) =>
  Effect.flatMap(Effect.runtime<R>(), (runtime) =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(arbitrary, async (sample) => {
          const status = await Effect.runPromise(Effect.provide(statusOf(sample), runtime)).catch((error) => {
            throw new Error(`${error} (${error?.cause ?? "no cause"}) for ${JSON.stringify(sample)}`)
          })
          assert.isTrue(status < 500, `${status} for ${JSON.stringify(sample)}`)
        }),
        { numRuns: runs, seed }
      )
    )
  )

const zeros = "0".repeat(40)

const hostile = fc.constantFrom(
  ...["..", ".", "%2e%2e", "..%2f..%2f", "%00", "%", "%zz", "%c0%ae", "%ff", "--upload-pack=touch%20x", "-x"],
  ...[".git", "config", "HEAD", "refs", "@{-1}", "main^{tree}", "main:..", ":/", "HEAD~1", "%0a", "%20"],
  ...["\\..\\", "a.lock", "x".repeat(300), zeros, "%F0%9F%92%A9", "__proto__", "constructor"]
)

const known = fc.constantFrom(
  ...["repos", "local", "fuzz", "contents", "git", "refs", "heads", "main", "trees", "blobs", "commits"],
  ...["ref", "compare", "main...main", "tarball", "branches", "tags", "merges", "matching-refs", "user"],
  ...["raw", "api", "v3", "graphql", "codeload", "legacy.tar.gz", "fuzz.git", "info", "git-upload-pack"],
  ...["data", "a.json", ""]
)

const segment = fc.oneof({ weight: 3, arbitrary: known }, { weight: 2, arbitrary: hostile }, fc.webSegment())

const start = fc.constantFrom(
  ...["/", "/raw/local/fuzz/", "/raw/local/fuzz/main/", "/local/fuzz.git/", "/api/codeload/local/fuzz/"],
  ...["", "git/", "compare/", "commits/", "contents/data/", "git/trees/", "git/refs/heads/"].map(
    (rest) => `/api/v3/repos/local/fuzz/${rest}`
  ),
  ...["/repos/local/fuzz/contents/", "/api/v3/repos/local/fuzz/git/matching-refs/"],
  "/api/codeload/local/fuzz/legacy.tar.gz/"
)

const query = fc.oneof(
  fc.constant(""),
  fc
    .tuple(
      fc.constantFrom(
        ...[
          "ref",
          "sha",
          "path",
          "page",
          "per_page",
          "recursive",
          "since",
          "until",
          "author",
          "service",
          "token"
        ]
      ),
      fc.oneof(hostile, fc.constantFrom("-1", "1e9", "git-upload-pack", "1970", "main", "data", "2"))
    )
    .map(([name, value]) => `?${name}=${value}`)
)

const method = fc.constantFrom(
  ...["GET", "GET", "GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "TRACE"]
)

const path = fc
  .tuple(start, fc.array(segment, { maxLength: 5 }), query)
  .map(([base, rest, asked]) => base + rest.join("/") + asked)

/** Creates the repository of the requests: files, a directory, a symbolic link, branches and a tag. */
export const prepare = (name = "fuzz") =>
  Effect.gen(function* () {
    const made = yield* Rest.repository(
      name,
      { "data/a.json": "{}\n", "data/b.bin": new Uint8Array([0, 255, 1]), "README.md": "# Fuzz\n" },
      { private: false }
    )
    const at = `/repos/local/${name}`
    const link = (yield* Rest.request("POST", `${at}/git/blobs`, { body: { content: "README.md" } })).body.sha
    const { body: tree } = yield* Rest.request("POST", `${at}/git/trees`, {
      body: { base_tree: made!.commit, tree: [{ path: "link", mode: "120000", type: "blob", sha: link }] }
    })
    const { body: commit } = yield* Rest.request("POST", `${at}/git/commits`, {
      body: { message: "link", tree: tree.sha, parents: [made!.commit] }
    })
    for (const ref of ["refs/heads/topic", "refs/tags/v1"]) {
      yield* Rest.request("POST", `${at}/git/refs`, { body: { ref, sha: commit.sha } })
    }
  })

/** Generates paths, methods and queries. */
export const paths = (runs: Runs) =>
  Effect.gen(function* () {
    const { token } = yield* HostServer
    const head = `Host: 127.0.0.1\r\nUser-Agent: f\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n`
    yield* check(
      runs,
      fc.tuple(method, path).map(([verb, target]) => `${verb} ${target} HTTP/1.1\r\n${head}\r\n`),
      send
    )
  })

const headerName = fc.constantFrom(
  ...["Accept", "Authorization", "If-None-Match", "Content-Type", "Content-Encoding"],
  ...["X-GitHub-Api-Version", "Git-Protocol", "Origin", "Range", "Expect", "X-Forwarded-Host"]
)

const headerValue = fc.oneof(
  fc.constantFrom(
    ...["*", "Bearer", "Basic =", 'W/""', "gzip", "version=2:object-format=x", "application/vnd.github.raw"],
    ...["100-continue", "evil.example"]
  ),
  fc.stringMatching(/^[\x21-\x7e\xa0-\xff]{0,60}$/)
)

/** Generates headers. */
export const headers = (runs: Runs) =>
  check(
    runs,
    fc
      .tuple(
        fc.constantFrom(
          "/api/v3/repos/local/fuzz/contents/data",
          "/local/fuzz.git/info/refs?service=git-upload-pack"
        ),
        fc.array(fc.tuple(headerName, headerValue), { maxLength: 6 })
      )
      .map(([target, all]) => {
        const lines = all.map(([name, text]) => `${name}: ${text}\r\n`).join("")
        return `GET ${target} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: f\r\n${lines}Connection: close\r\n\r\n`
      }),
    send
  )

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, "", "main", "../x", "refs/heads/x", "-x", "\u0000", "\ud800", 0, -1, Number.MAX_VALUE, true],
    ...[[], {}, [null], "e".repeat(40), "aGk="]
  ),
  fc.jsonValue({ maxDepth: 2 })
)

const field = fc.constantFrom(
  ...["message", "content", "sha", "branch", "tree", "base_tree", "parents", "author", "committer", "ref"],
  ...["force", "path", "mode", "encoding", "base", "head", "name", "private", "object", "type", "tag"],
  "__proto__"
)

const loose = fc.dictionary(field, value, { maxKeys: 6 })

const targets = fc.constantFrom(
  ...[
    ...["PUT contents/x.json", "PUT contents/..%2f..%2fx", "DELETE contents/data/a.json", "POST git/trees"],
    ...["POST git/blobs", "POST git/commits", "POST git/refs", "PATCH git/refs/heads/main", "POST merges"],
    "POST git/tags"
  ].map((target) => target.replace(" ", " /repos/local/fuzz/")),
  ...["POST /user/repos", "PUT /repos/..%2f..%2fetc/x/contents/y", "POST /orgs/..%2fx/repos"]
)

/** Lists all files in a directory, recursively. */
const files = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory).flatMap((name) => {
    const at = join(directory, name)
    return statSync(at).isDirectory() ? files(at) : [at]
  })

/** Generates bodies. Checks that nothing is written outside the data directory. */
export const bodies = (runs: Runs) =>
  Effect.gen(function* () {
    const { directory } = yield* HostServer
    const before = new Set(readdirSync(dirname(directory)))
    const entries = fc.oneof(loose, fc.record({ tree: fc.array(loose, { maxLength: 3 }) }))
    yield* check(
      runs,
      fc.tuple(
        targets,
        fc.oneof(
          entries.map((one) => JSON.stringify(one)),
          fc.string()
        )
      ),
      ([target, text]) => {
        const [verb = "", at = ""] = target.split(" ")
        return Effect.map(Rest.request(verb, at, { body: text }), ({ status }) => status)
      }
    )
    const mine = (name: string) => name.startsWith("x") || name.startsWith("y")
    assert.deepStrictEqual(
      readdirSync(dirname(directory)).filter((name) => !before.has(name) && mine(name)),
      []
    )
    assert.isFalse(existsSync(join(directory, "x")))
    for (const file of files(directory)) assert.match(file, /\/(host-token|repos\/[^/]+\/[^/]+\.git\/)/)
  })

const selectionName = fc.constantFrom(
  ...["repository", "ref", "object", "viewer", "file", "history", "nodes", "oid", "text", "__typename"],
  ...["__schema", "name", "a"]
)

const selectionArguments = fc.constantFrom(
  ...["", '(owner: "local", name: "fuzz")', '(owner: "../..", name: "etc")', '(expression: "main:../../x")'],
  ...['(qualifiedName: "-x")', "(first: 5)", "(first: $n)", '(path: ".git/config")'],
  '(expression: "HEAD^{tree}")'
)

const { selection } = fc.letrec<{ selection: string }>((tie) => ({
  selection: fc
    .array(
      fc.tuple(
        selectionName,
        selectionArguments,
        fc.oneof({ maxDepth: 5 }, fc.constant(""), tie("selection"))
      ),
      { minLength: 1, maxLength: 3 }
    )
    .map((all) => `{ ${all.map(([one, given, inner]) => `${one}${given} ${inner}`).join(" ")} }`)
}))

const text = fc.oneof(
  fc.constantFrom(
    ...[
      "main",
      "refs/heads/main",
      "heads/main",
      "v1",
      "data/a.json",
      "main:data",
      "main:data/a.json",
      "HEAD"
    ],
    ...[
      "",
      "..",
      "-x",
      "--output=x",
      ".git/config",
      "main:../x",
      zeros,
      "a..b",
      "\\u0000",
      "UmVmOi4uLy4uOi4u"
    ]
  ),
  fc.stringMatching(/^[\w.:/^~@{} -]{0,30}$/)
)

const quoted = text.map((one) => JSON.stringify(one).replaceAll("\\\\u", "\\u"))
const size = fc.constantFrom("0", "1", "5", "100", "101", "-1")

const blobFields = "... on Blob { oid byteSize isBinary isTruncated text }"
const treeFields = `... on Tree { entries { name path mode type size extension object { ${blobFields} } } }`
const commitFields =
  "... on Commit { oid message additions deletions changedFilesIfAvailable author { name date } }"

/** Generates queries that match the schema, with arbitrary arguments. */
const fitting = fc
  .array(
    fc.oneof(
      fc
        .tuple(quoted, quoted, size, quoted)
        .map(
          ([ref, at, first, after]) =>
            `ref(qualifiedName: ${ref}) { id name prefix target { oid ${commitFields} ... on Commit { file(path: ${at}) { oid size object { ${blobFields} } } history(first: ${first}, path: ${at}, after: ${after}) { totalCount nodes { oid } pageInfo { endCursor } } parents(first: ${first}) { totalCount } } } }`
        ),
      quoted.map(
        (one) =>
          `object(expression: ${one}) { oid abbreviatedOid ${blobFields} ${treeFields} ${commitFields} ... on Tag { name message target { oid } } }`
      ),
      fc
        .tuple(quoted, size)
        .map(
          ([prefix, first]) => `refs(refPrefix: ${prefix}, first: ${first}) { totalCount nodes { name } }`
        ),
      fc.constant("isEmpty pushedAt updatedAt defaultBranchRef { name } owner { login }")
    ),
    { minLength: 1, maxLength: 3 }
  )
  .map(
    (all) =>
      `{ repository(owner: "local", name: "fuzz") { ${all.map((one, index) => one.replace(/^(ref|object|refs)\(/, `a${index}: $1(`)).join(" ")} } }`
  )

/** Generates mutations that match the schema, with arbitrary input. */
const mutations = fc
  .tuple(
    fc.constantFrom("createRef", "updateRef", "deleteRef", "updateRefs", "createCommitOnBranch"),
    fc.tuple(quoted, quoted, quoted, fc.boolean())
  )
  .map(([name, [a, b, c, force]]) => {
    const id = Buffer.from("Repository:local:fuzz").toString("base64url")
    const ref = Buffer.from("Ref:local/fuzz:refs/heads/main").toString("base64url")
    const input = {
      createRef: `repositoryId: "${id}", name: ${a}, oid: ${b}`,
      updateRef: `refId: "${ref}", oid: ${a}, force: ${force}`,
      deleteRef: `refId: ${a}`,
      updateRefs: `repositoryId: "${id}", refUpdates: [{ name: ${a}, beforeOid: ${b}, afterOid: ${c}, force: ${force} }]`,
      createCommitOnBranch: `branch: { repositoryNameWithOwner: "local/fuzz", branchName: ${a} }, expectedHeadOid: ${b}, message: { headline: ${c} }, fileChanges: { additions: [{ path: ${b}, contents: ${c} }] }`
    }[name]
    return `mutation { ${name}(input: { ${input} }) { clientMutationId } }`
  })

const documents = fc.oneof(
  selection,
  fitting,
  fitting,
  mutations,
  selection.map((one) => `query($n: Int = 3) ${one}`),
  fc.constantFrom(
    '{ node(id: "UmVmOi4uLy4uOi4u") { id } nodes(ids: ["", "x", "UmVwb3NpdG9yeTouLjouLg"]) { id } }',
    "fragment a on User { ...b } fragment b on User { ...a } { viewer { ...a } }",
    'mutation { deleteRef(input: { refId: "UmVmOmxvY2FsL2Z1eno6cmVmcy9oZWFkcy8uLg" }) { clientMutationId } }'
  ),
  fc.string()
)

/** Generates GraphQL documents. */
export const graphql = (runs: Runs) =>
  check(runs, documents, (document) =>
    Effect.map(
      Rest.request("POST", "/api/graphql", { body: { query: document, variables: { n: 1 } } }),
      ({ status, text }) => (/SERVICE_UNAVAILABLE/.test(text) ? 599 : status)
    )
  )

const media = fc.constantFrom(
  ...["application/json", "application/vnd.github.raw+json", "application/vnd.github.object+json"],
  ...["application/vnd.github.sha", "application/vnd.github.diff", "text/html", "*/*"]
)

/** The number of operations per repository. Eventually one of them deletes its branches. */
const perRepository = 150

/** Sends requests of all operations, most of them nearly valid, and creates a new repository at intervals. */
export const operations = ({ runs, seed }: Runs) =>
  Effect.forEach(
    Array.from({ length: Math.ceil(runs / perRepository) }, (_, index) => index),
    (index) => operationsOf(`fuzz${index}`, { runs: Math.min(perRepository, runs), seed: seed + index }),
    { discard: true }
  )

const operationsOf = (repository: string, runs: Runs) =>
  Effect.gen(function* () {
    yield* prepare(repository)
    const blob = (yield* Rest.get(`/repos/local/${repository}/contents/data/a.json`)).body.sha as string
    const head = (yield* Rest.get(`/repos/local/${repository}/commits`)).body[0]
    const commit = head.sha as string
    const tree = head.commit.tree.sha as string
    const ids = fc.constantFrom(blob, tree, commit, commit.slice(0, 7), zeros, "main", "heads/main", "v1")
    const names = fc.constantFrom(
      ...["main", "heads/main", "refs/heads/main", "heads", "tags/v1", "topic", "heads/topic", "none"],
      ...[
        "main...topic",
        `${commit}...main`,
        "topic...none",
        "main:data",
        "data/a.json",
        "data",
        "link",
        "new/file.json"
      ]
    )
    const filler = fc.oneof(
      { weight: 4, arbitrary: names },
      { weight: 3, arbitrary: ids },
      { weight: 1, arbitrary: hostile },
      { weight: 1, arbitrary: fc.webSegment() }
    )
    const person = fc.oneof(
      value,
      fc.record(
        {
          name: fc.oneof(fc.constant("Ada"), value),
          email: fc.oneof(fc.constant("ada@example.org"), value),
          date: fc.oneof(fc.constantFrom("2026-01-01T00:00:00Z", "1969-01-01T00:00:00Z", "soon"), value)
        },
        { requiredKeys: [] }
      )
    )
    const likely = (good: fc.Arbitrary<unknown>) => fc.oneof({ weight: 4, arbitrary: good }, value)
    const entry = fc.record(
      {
        path: likely(fc.constantFrom("data/a.json", "b", "data", "deep/er/x", "a/../b", ".git/config")),
        mode: likely(fc.constantFrom("100644", "100755", "040000", "120000", "160000")),
        type: likely(fc.constantFrom("blob", "tree", "commit")),
        sha: likely(ids),
        content: likely(fc.string())
      },
      { requiredKeys: ["path"] }
    )
    const filled = fc.record(
      {
        message: likely(fc.string()),
        content: likely(fc.constantFrom("aGk=", "aGk", "", "e30K")),
        sha: likely(ids),
        branch: likely(fc.constantFrom("main", "topic", "none")),
        ref: likely(
          fc.constantFrom("refs/heads/topic", "refs/heads/x/y", "refs/tags/v2", "refs/heads/main/x", "x")
        ),
        force: likely(fc.boolean()),
        tree: fc.oneof(ids, fc.array(entry, { maxLength: 3 }), value),
        base_tree: likely(ids),
        parents: likely(fc.array(ids, { maxLength: 2 })),
        author: person,
        committer: person,
        tagger: person,
        encoding: likely(fc.constantFrom("utf-8", "base64")),
        base: likely(fc.constantFrom("main", "topic")),
        head: likely(fc.oneof(fc.constantFrom("topic", "main"), ids)),
        commit_message: likely(fc.string()),
        name: likely(fc.constantFrom("made", "local", "x y", "..")),
        private: likely(fc.boolean()),
        auto_init: likely(fc.boolean()),
        description: likely(fc.string()),
        tag: likely(fc.constantFrom("v2", "a..b")),
        object: likely(ids),
        type: likely(fc.constantFrom("commit", "blob"))
      },
      { requiredKeys: [] }
    )
    const asked = fc.record({
      route: fc.constantFrom(...routes),
      fillers: fc.array(filler, { minLength: 4, maxLength: 4 }),
      own: fc.integer({ min: 0, max: 9 }),
      query,
      media,
      version: fc.constantFrom("2022-11-28", "2026-03-10"),
      body: filled
    })
    yield* check(runs, asked, ({ body, fillers, media, own, query, route, version }) => {
      let at = 0
      const target = route.path.replace(/\{\+?(\w+)\*?\}/g, (_, name: string) => {
        const filler = fillers[at++ % fillers.length]!
        if (own === 0) return filler
        return name === "owner" ? "local" : name === "repo" ? repository : filler
      })
      const writes = route.method !== "GET"
      return Effect.map(
        Rest.request(route.method, target + query, {
          headers: { accept: media, "x-github-api-version": version },
          ...(writes ? { body } : {}),
          ...(own === 1 ? { token: null } : {})
        }),
        ({ status }) => status
      )
    })
  })
