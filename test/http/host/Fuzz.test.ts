import { existsSync, readdirSync, statSync } from "node:fs"
import { connect } from "node:net"
import { dirname, join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

/** Bytes over a socket, as nobody's client would send them; the status of the answer, 0 for none. */
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

const check = (
  runs: number,
  arbitrary: fc.Arbitrary<string>,
  statusOf: (text: string) => Effect.Effect<number, never, HostServer>
) =>
  Effect.flatMap(Effect.runtime<HostServer>(), (runtime) =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(arbitrary, async (text) => {
          const status = await Effect.runPromise(Effect.provide(statusOf(text), runtime))
          assert.isTrue(status < 500, `${status} for ${JSON.stringify(text)}`)
        }),
        { numRuns: runs }
      )
    )
  )

const hostile = fc.constantFrom(
  "..",
  ".",
  "%2e%2e",
  "..%2f..%2f",
  "%00",
  "%",
  "%zz",
  "%c0%ae",
  "%ff",
  "--upload-pack=touch%20x",
  "-x",
  ".git",
  "config",
  "HEAD",
  "refs",
  "@{-1}",
  "main^{tree}",
  "main:..",
  ":/",
  "HEAD~1",
  "%0a",
  "%20",
  "\\..\\",
  "a.lock",
  "x".repeat(300),
  "0".repeat(40),
  "%F0%9F%92%A9",
  "__proto__",
  "constructor"
)

const known = fc.constantFrom(
  ...[
    "repos",
    "local",
    "fuzz",
    "contents",
    "git",
    "refs",
    "heads",
    "main",
    "trees",
    "blobs",
    "commits",
    "ref"
  ],
  ...[
    "compare",
    "main...main",
    "tarball",
    "branches",
    "tags",
    "merges",
    "matching-refs",
    "user",
    "raw",
    "api",
    "v3"
  ],
  ...["graphql", "codeload", "legacy.tar.gz", "fuzz.git", "info", "git-upload-pack", "data", "a.json", ""]
)

const segment = fc.oneof({ weight: 3, arbitrary: known }, { weight: 2, arbitrary: hostile }, fc.webSegment())
const start = fc.constantFrom(
  ...[
    "/",
    "/api/v3/repos/local/fuzz/",
    "/api/v3/repos/local/fuzz/git/",
    "/repos/local/fuzz/contents/",
    "/raw/local/fuzz/"
  ],
  ...[
    "/local/fuzz.git/",
    "/api/codeload/local/fuzz/",
    "/api/v3/repos/local/fuzz/compare/",
    "/api/v3/repos/local/fuzz/commits/",
    "/api/v3/repos/local/fuzz/contents/data/",
    "/api/v3/repos/local/fuzz/git/trees/",
    "/api/v3/repos/local/fuzz/git/refs/heads/",
    "/api/v3/repos/local/fuzz/git/matching-refs/",
    "/raw/local/fuzz/main/",
    "/api/codeload/local/fuzz/legacy.tar.gz/"
  ]
)
const query = fc.oneof(
  fc.constant(""),
  fc
    .tuple(
      fc.constantFrom("ref", "sha", "path", "page", "per_page", "recursive", "since", "service", "token"),
      fc.oneof(hostile, fc.constantFrom("-1", "1e9", "git-upload-pack", "1970"))
    )
    .map(([name, value]) => `?${name}=${value}`)
)
const method = fc.constantFrom(
  "GET",
  "GET",
  "GET",
  "HEAD",
  "PUT",
  "POST",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE"
)
const path = fc
  .tuple(start, fc.array(segment, { maxLength: 5 }), query)
  .map(([base, rest, asked]) => base + rest.join("/") + asked)

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    "",
    "main",
    "../x",
    "refs/heads/x",
    "-x",
    "\u0000",
    "\ud800",
    0,
    -1,
    Number.MAX_VALUE,
    true,
    [],
    {},
    [null],
    "e".repeat(40),
    "aGk="
  ),
  fc.jsonValue({ maxDepth: 2 })
)
const field = fc.constantFrom(
  ...[
    "message",
    "content",
    "sha",
    "branch",
    "tree",
    "base_tree",
    "parents",
    "author",
    "committer",
    "ref",
    "force"
  ],
  ...["path", "mode", "encoding", "base", "head", "name", "private", "object", "type", "tag", "__proto__"]
)
const body = fc.dictionary(field, value, { maxKeys: 6 })

/** Every file below a directory. */
const files = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory).flatMap((name) => {
    const at = join(directory, name)
    return statSync(at).isDirectory() ? files(at) : [at]
  })

layer(host({ createOnFirstUse: true }), { timeout: 120_000 })("whatever is sent", (it) => {
  it.effect("paths, methods and queries never meet a 5xx", () =>
    Effect.gen(function* () {
      const { token } = yield* HostServer
      yield* Rest.repository("fuzz", { "data/a.json": "{}\n" }, { private: false })
      const head = `Host: 127.0.0.1\r\nUser-Agent: f\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n`
      yield* check(
        200,
        fc.tuple(method, path).map(([verb, target]) => `${verb} ${target} HTTP/1.1\r\n${head}\r\n`),
        send
      )
    })
  )

  it.effect("headers never meet a 5xx", () =>
    check(
      80,
      fc
        .array(
          fc.tuple(
            fc.constantFrom(
              ...[
                "Accept",
                "Authorization",
                "If-None-Match",
                "Content-Type",
                "Content-Encoding",
                "X-GitHub-Api-Version"
              ],
              ...["Git-Protocol", "Origin", "Range", "Expect", "X-Forwarded-Host"]
            ),
            fc.oneof(
              fc.constantFrom(
                "*",
                "Bearer",
                "Basic =",
                'W/""',
                "gzip",
                "version=2:object-format=x",
                "application/vnd.github.raw",
                "100-continue",
                "evil.example"
              ),
              fc.stringMatching(/^[\x21-\x7e\xa0-\xff]{0,60}$/)
            )
          ),
          { maxLength: 6 }
        )
        .map(
          (all) =>
            `GET /api/v3/repos/local/fuzz/contents/data HTTP/1.1\r\nHost: localhost\r\nUser-Agent: f\r\n${all.map(([name, text]) => `${name}: ${text}\r\n`).join("")}Connection: close\r\n\r\n`
        ),
      send
    )
  )

  it.effect("bodies never meet a 5xx, and nothing is written outside the data directory", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const before = new Set(readdirSync(dirname(directory)))
      const targets = fc.constantFrom(
        ...[
          "PUT /repos/local/fuzz/contents/x.json",
          "DELETE /repos/local/fuzz/contents/data/a.json",
          "POST /repos/local/fuzz/git/trees"
        ],
        ...[
          "POST /repos/local/fuzz/git/blobs",
          "POST /repos/local/fuzz/git/commits",
          "POST /repos/local/fuzz/git/refs"
        ],
        ...[
          "PATCH /repos/local/fuzz/git/refs/heads/main",
          "POST /repos/local/fuzz/merges",
          "POST /user/repos",
          "POST /repos/local/fuzz/git/tags"
        ],
        ...[
          "PUT /repos/local/fuzz/contents/..%2f..%2fx",
          "PUT /repos/..%2f..%2fetc/x/contents/y",
          "POST /orgs/..%2fx/repos"
        ]
      )
      const entries = fc.oneof(body, fc.record({ tree: fc.array(body, { maxLength: 3 }) }))
      yield* check(
        150,
        fc
          .tuple(
            targets,
            fc.oneof(
              entries.map((one) => JSON.stringify(one)),
              fc.string()
            )
          )
          .map(([target, text]) => `${target}\n${text}`),
        (text) => {
          const [verb = "", target = ""] = text.slice(0, text.indexOf("\n")).split(" ")
          return Effect.map(
            Rest.request(verb, target, { body: text.slice(text.indexOf("\n") + 1) }),
            ({ status }) => status
          )
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
  )

  it.effect("GraphQL documents never meet a 5xx", () =>
    Effect.gen(function* () {
      const name = fc.constantFrom(
        "repository",
        "ref",
        "object",
        "viewer",
        "file",
        "history",
        "nodes",
        "oid",
        "text",
        "__typename",
        "__schema",
        "name",
        "a"
      )
      const args = fc.constantFrom(
        "",
        '(owner: "local", name: "fuzz")',
        '(owner: "../..", name: "etc")',
        '(expression: "main:../../x")',
        '(qualifiedName: "-x")',
        "(first: 5)",
        "(first: $n)",
        '(path: ".git/config")',
        '(expression: "HEAD^{tree}")'
      )
      const { selection } = fc.letrec<{ selection: string }>((tie) => ({
        selection: fc
          .array(fc.tuple(name, args, fc.oneof({ maxDepth: 5 }, fc.constant(""), tie("selection"))), {
            minLength: 1,
            maxLength: 3
          })
          .map((all) => `{ ${all.map(([one, given, inner]) => `${one}${given} ${inner}`).join(" ")} }`)
      }))
      const wild = fc.oneof(
        selection,
        selection.map((one) => `query($n: Int = 3) ${one}`),
        fc.constantFrom(
          '{ repository(owner: "local", name: "fuzz") { object(expression: "main:../x") { oid } ref(qualifiedName: "a..b") { id } refs(refPrefix: "--x", first: 3) { nodes { name } } } }',
          '{ repository(owner: "local", name: "fuzz") { object(expression: "main") { ... on Commit { file(path: "../../../etc/passwd") { oid } history(first: 2, path: "--output=x", after: "bm8=") { nodes { oid } } } } } }',
          '{ node(id: "UmVmOi4uLy4uOi4u") { id } nodes(ids: ["", "x", "UmVwb3NpdG9yeTouLjouLg"]) { id } }',
          "fragment a on User { ...b } fragment b on User { ...a } { viewer { ...a } }",
          'mutation { deleteRef(input: { refId: "UmVmOmxvY2FsL2Z1eno6cmVmcy9oZWFkcy8uLg" }) { clientMutationId } }'
        ),
        fc.string()
      )
      yield* check(120, wild, (query_) =>
        Effect.map(
          Rest.request("POST", "/api/graphql", { body: { query: query_, variables: { n: 1 } } }),
          ({ status }) => status
        )
      )
    })
  )
})
