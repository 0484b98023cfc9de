import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, Stream } from "effect"
import type { RateLimitError, StoreError } from "../../../../src/domain/errors/StoreError.js"
import * as GitObject from "../../../../src/git/GitObject.js"
import type { GitRemoteService, Head } from "../../../../src/store/remote/GitRemote.js"
import type { Reply } from "../../../support/github/InProcess.js"
import { type Fault, faults, replying, verbs } from "../../../support/github/InProcess.js"
import { token } from "../../../support/github/Remote.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"
import { deleteFile, putFile } from "../../../support/singleFile.js"

const graphql = { useGraphql: true, commitVia: "graphql" } as const
const bytes = (text: string) => new TextEncoder().encode(text)
const put = (path: string, text: string) => ({ _tag: "Put", path, content: bytes(text) }) as const

const rest = (status: number, message: string, headers = {}, more = {}): Reply => ({
  status,
  headers,
  body: { message, status: String(status), ...more }
})

const told = (type: string | undefined, message: string, headers = {}): Reply => ({
  status: 200,
  headers,
  body: { data: null, errors: [{ ...(type === undefined ? {} : { type }), message }] }
})

const usedUp = (resource: string, inSeconds: number) => ({
  "x-ratelimit-limit": "5000",
  "x-ratelimit-remaining": "0",
  "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + inSeconds),
  "x-ratelimit-resource": resource
})

interface Outcome {
  /** The error; none when a later try succeeds. */
  readonly tag?: string
  readonly reason?: string
  readonly hint?: RegExp
  /** Virtual milliseconds until the end. */
  readonly waits?: readonly [least: number, most: number]
  /** The operation succeeds without another try. */
  readonly believed?: boolean
}

/** What the API answers to any request, and what becomes of it. */
const everywhere = (resource: string): ReadonlyArray<readonly [string, Reply, Outcome]> => [
  ["401", rest(401, "Bad credentials"), { tag: "AuthError", hint: /wrong, expired or revoked/ }],
  [
    "403 for want of a permission",
    rest(403, "Resource not accessible by integration", {
      "x-accepted-github-permissions": "contents=write"
    }),
    { tag: "AuthError", hint: /contents=write/ }
  ],
  [
    "403 for want of a single sign-on",
    rest(403, "Resource protected by organization SAML enforcement", {
      "x-github-sso": "required; url=https://github.com/orgs/o/sso?x=1"
    }),
    { tag: "AuthError", hint: /orgs\/o\/sso/ }
  ],
  [
    "403 for want of a User-Agent, in plain text",
    {
      status: 403,
      headers: { "content-type": "text/html" },
      body: "Request forbidden by administrative rules. Please make sure your request has a User-Agent header.\n"
    },
    { tag: "RemoteError", reason: "Denied", hint: /User-Agent/ }
  ],
  [
    "403 of a used-up quota, over in less than a minute",
    rest(403, "API rate limit exceeded", usedUp(resource, 55)),
    { waits: [10_000, 56_000] }
  ],
  [
    "403 of a used-up quota, over in 40 min",
    rest(403, "API rate limit exceeded", usedUp(resource, 2400)),
    { tag: "RateLimitError" }
  ],
  ...["You have exceeded a secondary rate limit", "You have triggered an abuse detection mechanism"].map(
    (said) => [`403: ${said}, without advice`, rest(403, said), { waits: [60_000, 60_000] as const }] as const
  ),
  ["429 with advice", rest(429, "Too many", { "retry-after": "17" }), { waits: [17_000, 17_000] }],
  ["429 without advice", rest(429, "Too many"), { waits: [60_000, 60_000] }],
  ["429 that advises too long", rest(429, "Too many", { "retry-after": "61" }), { tag: "RateLimitError" }]
]

/** What the GraphQL API says beside that, all of it with a 200. */
const inside: ReadonlyArray<readonly [string, Reply, Outcome]> = [
  [
    "RATE_LIMITED, over in less than a minute",
    told("RATE_LIMITED", "API rate limit exceeded", usedUp("graphql", 55)),
    { waits: [10_000, 56_000] }
  ],
  [
    "RATE_LIMITED, over in 40 min",
    told("RATE_LIMITED", "API rate limit exceeded", usedUp("graphql", 2400)),
    { tag: "RateLimitError" }
  ],
  [
    "a secondary limit without a word",
    told(undefined, "You have exceeded a secondary rate limit"),
    { waits: [60_000, 60_000] }
  ],
  ["FORBIDDEN", told("FORBIDDEN", "Resource not accessible by personal access token"), { tag: "AuthError" }],
  ["INSUFFICIENT_SCOPES", told("INSUFFICIENT_SCOPES", "needs ['repo']"), { tag: "AuthError" }],
  [
    "a time-out of the host's",
    told(undefined, "Something went wrong while executing your query."),
    { waits: [0, 500] }
  ]
]

/** What the REST API answers to a read beside that. */
const toReads: ReadonlyArray<readonly [string, Reply, Outcome]> = [
  [
    "429 with a date as advice",
    rest(429, "Too many requests", { "retry-after": new Date(Date.now() + 55_000).toUTCString() }),
    { waits: [15_000, 56_000] }
  ],
  [
    "403 that says of the quota only that nothing remains",
    rest(403, "Forbidden", { "x-ratelimit-remaining": "0" }),
    { waits: [60_000, 60_000] }
  ],
  [
    "403 that says of the quota only what remains and until when",
    rest(403, "Forbidden", {
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 3000)
    }),
    { tag: "RateLimitError" }
  ],
  ["409 of an empty repository", rest(409, "Git Repository is empty."), { believed: true }],
  ["422", rest(422, "Invalid request."), { tag: "ValidationError" }],
  ...[500, 502, 503, 504].map((status) => [`${status}`, rest(status, "oh"), { waits: [0, 500] }] as const),
  [
    "a redirect to another origin",
    { status: 301, headers: { location: "https://elsewhere.example/repos/octo/store" } },
    { tag: "RemoteError", reason: "Unsupported" }
  ],
  [
    "a redirect to what is no address",
    { status: 301, headers: { location: "http://[" } },
    { tag: "RemoteError" }
  ]
]

const rule = "Repository rule violations found\n\nChanges must be made through a pull request."

interface Form {
  readonly name: string
  readonly options: typeof graphql | {}
  readonly isIt: (verb: string) => boolean
  readonly run: (remote: GitRemoteService, head: Head) => Effect.Effect<unknown, unknown>
  readonly cases: ReadonlyArray<readonly [string, Reply, Outcome]>
  readonly writes: boolean
}

const commit = (remote: GitRemoteService, head: Head) =>
  remote.commit("main", Option.some(head), { message: "ours", changes: [put("data/a.json", "after")] })

const paths = ["data/a.json", "data/b.json", "data/c.json"]

const first = GitObject.hash("blob", bytes("1"))

const moved = [
  "409 of a branch that moved meanwhile",
  rest(409, `is at ${"2".repeat(40)} but expected ${"1".repeat(40)}`),
  { waits: [0, 2_000] }
] as const

const forms: ReadonlyArray<Form> = [
  {
    name: "a bulk read by GraphQL",
    options: graphql,
    isIt: (verb) => verb === "POST /graphql",
    run: (remote, head) =>
      Effect.map(
        Stream.runCollect(
          remote.blobs(
            head,
            paths.map((path) => ({ path }))
          )
        ),
        (found) =>
          assert.deepStrictEqual(
            Array.from(found, ({ content }) => new TextDecoder().decode(content)),
            ["1", "2", "3"]
          )
      ),
    cases: [...everywhere("graphql"), ...inside],
    writes: false
  },
  {
    name: "a commit by GraphQL",
    options: graphql,
    isIt: (verb) => verb === "POST /graphql",
    run: commit,
    cases: [
      ...everywhere("graphql"),
      ...inside.map(
        ([name, reply, outcome]) =>
          // Whether it happened is looked up first, so the wait is no jittered one.
          [name, reply, name.includes("time-out") ? { waits: [500, 500] as const } : outcome] as const
      ),
      [
        "a rule",
        told("UNPROCESSABLE", rule),
        { tag: "RemoteError", reason: "Denied", hint: /rule of the repository/ }
      ]
    ],
    writes: true
  },
  ...(["trees", "commits"] as const).map(
    (what): Form => ({
      name: `a commit by Git Data, making its ${what}`,
      options: {},
      isIt: (verb) => verb === `POST /git/${what}`,
      run: commit,
      cases: everywhere("core"),
      writes: true
    })
  ),
  {
    name: "a commit by Git Data, moving the branch",
    options: {},
    isIt: (verb) => verb.startsWith("PATCH"),
    run: commit,
    cases: [
      ...everywhere("core"),
      ["409 of a rule", rest(409, rule), { tag: "RemoteError", reason: "Denied", hint: /rule/ }],
      ["422 of a rule", rest(422, rule), { tag: "RemoteError", reason: "Denied", hint: /rule/ }],
      ["403 of a rule", rest(403, rule), { tag: "RemoteError", reason: "Denied", hint: /rule/ }]
    ],
    writes: true
  },
  {
    name: "a file read by the Contents API",
    options: {},
    isIt: (verb) => verb.startsWith("GET /contents"),
    run: (remote) => remote.snapshot("main").file("data/a.json"),
    cases: [...everywhere("core"), ...toReads],
    writes: false
  },
  {
    name: "a file updated by the Contents API",
    options: {},
    isIt: (verb) => verb.startsWith("PUT"),
    run: (remote) =>
      putFile(remote, "main", "data/a.json", bytes("new"), Option.some(first), {
        message: "ours"
      }),
    cases: [
      moved,
      ["409 of a rule", rest(409, rule), { tag: "RemoteError", reason: "Denied", hint: /rule/ }],
      ["422 of a rule", rest(422, rule), { tag: "RemoteError", reason: "Denied", hint: /rule/ }],
      ["422 of anything else", rest(422, "content is not valid Base64"), { tag: "ValidationError" }],
      [
        "422 of a path that is not there",
        rest(422, "repository file does not exist [path: data/a.json]"),
        { tag: "NotFoundError" }
      ],
      ["404 of a branch", rest(404, "Branch main not found"), { tag: "NotFoundError" }]
    ],
    writes: true
  },
  {
    name: "a file put by the Contents API",
    options: {},
    isIt: (verb) => verb.startsWith("PUT"),
    run: (remote) =>
      putFile(remote, "main", "data/new.json", bytes("new"), Option.none(), {
        message: "ours"
      }),
    cases: [
      ...everywhere("core"),
      [
        "422 of an existing file, which everything else denies",
        rest(422, `Invalid request.\n\n"sha" wasn't supplied.`),
        { waits: [0, 7_000] }
      ]
    ],
    writes: true
  },
  {
    name: "a file deleted by the Contents API",
    options: {},
    isIt: (verb) => verb.startsWith("DELETE"),
    run: (remote, head) =>
      Effect.flatMap(remote.file(head, "data/a.json"), (found) =>
        deleteFile(remote, "main", "data/a.json", Option.getOrThrow(found).oid, {
          message: "ours"
        })
      ),
    cases: [
      ...everywhere("core"),
      moved,
      ["409 of a rule", rest(409, rule), { tag: "RemoteError", reason: "Denied", hint: /rule/ }]
    ],
    writes: true
  }
]

const start = (options: Form["options"]) =>
  Effect.gen(function* () {
    const world = yield* virtual(options)
    world.server.commit(
      "main",
      paths.map((path, n) => put(path, `${n + 1}`)),
      "base"
    )
    const head = Option.getOrThrow(yield* world.remote.head("main"))
    return { ...world, head }
  })

describe.each(forms)("what $name makes of a refusal", ({ cases, isIt, options, run, writes }) => {
  for (const [name, reply, outcome] of cases) {
    it.scoped(name, () =>
      Effect.gen(function* () {
        const { flight, head, remote, server } = yield* start(options)
        let met = 0
        server.fault = (seen) => {
          const [verb] = verbs({ seen: [seen] })
          return isIt(verb!) && met++ === 0 ? replying(reply) : undefined
        }
        const { result, took } = yield* settle(flight, run(remote, head))
        const error = Option.getOrUndefined(Either.getLeft(result)) as StoreError | undefined
        assert.strictEqual(error?._tag, outcome.tag, String(error))
        assert.strictEqual(met, outcome.tag === undefined && outcome.believed !== true ? 2 : 1)
        assert.strictEqual(server.history().length, writes && outcome.tag === undefined ? 2 : 1)
        const [least, most] = outcome.waits ?? [0, 0]
        assert.isAtLeast(took, least)
        assert.isAtMost(took, most)
        if (error === undefined) return
        if (outcome.reason !== undefined) assert.propertyVal(error, "reason", outcome.reason)
        if (outcome.hint !== undefined) assert.match(error.hint ?? "", outcome.hint)
        if (outcome.tag === "RateLimitError") assert.isDefined((error as RateLimitError).resetAt)
        assert.notInclude(JSON.stringify(error) + String(error) + error.stack, token)
      })
    )
  }
})

describe("a bulk read by GraphQL", () => {
  const bulk = forms[0]!
  for (const [what, fault] of faults) {
    it.scoped(`is whole after all: ${what}`, () =>
      Effect.gen(function* () {
        const { flight, head, remote, server } = yield* start(graphql)
        let met = 0
        server.fault = (seen) => (seen.url === "/graphql" && met++ === 0 ? fault : undefined)
        const { result } = yield* settle(flight, bulk.run(remote, head), {
          stuck: fault._tag === "Cut" && fault.then === "silence"
        })
        assert.isTrue(Either.isRight(result), String(Option.getOrNull(Either.getLeft(result))))
        assert.isAtLeast(met, 2)
      })
    )
  }

  it.scoped("of more than the host can return is halved until it can", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual(graphql)
      const many = Array.from({ length: 8 }, (_, n) => put(`data/${n}.json`, `${n}`))
      server.commit("main", many, "base")
      const head = Option.getOrThrow(yield* remote.head("main"))
      const tooMuch: Fault = replying(rest(502, "timeout"))
      server.fault = ({ body, url }) => (url === "/graphql" && body.includes("d2:") ? tooMuch : undefined)
      const read = Stream.runCollect(
        remote.blobs(
          head,
          many.map(({ path }) => ({ path }))
        )
      )
      const { result } = yield* settle(flight, read)
      assert.deepStrictEqual(
        Array.from(Either.getOrThrow(result), ({ content }) => new TextDecoder().decode(content)),
        many.map((_, n) => `${n}`)
      )
    })
  )

  it.scoped("reads files one by one that a partial reply leaves out", () =>
    Effect.gen(function* () {
      const { flight, head, remote, server } = yield* start(graphql)
      const some = { repository: { at: { oid: head.commit }, d0: null, d1: null, d2: null } }
      const errors = [
        { type: "RESOURCE_LIMITS_EXCEEDED", message: "Resource limits for this query exceeded." }
      ]
      const partial: Fault = replying({ status: 200, body: { data: some, errors } })
      server.fault = ({ url }) => (url === "/graphql" ? partial : undefined)
      const { result } = yield* settle(flight, bulk.run(remote, head))
      assert.isTrue(Either.isRight(result), String(Option.getOrNull(Either.getLeft(result))))
    })
  )
})

it.scoped("nobody listens: reads and writes are unreachable, and nothing is claimed of a write", () =>
  Effect.gen(function* () {
    const { connect, flight, head } = yield* start(graphql)
    const port = yield* Effect.async<number>((resume) => {
      const probe = createServer().listen(0, "127.0.0.1", () => {
        const address = probe.address()
        probe.close(() => resume(Effect.succeed(typeof address === "object" ? (address?.port ?? 0) : 0)))
      })
    })
    for (const { options, run } of forms.filter(({ name }) => !name.includes("deleted"))) {
      const plain = { useGraphql: false, commitVia: "git-data" } as const
      const remote = yield* connect({ ...plain, ...options, apiUrl: `http://127.0.0.1:${port}/api/v3` })
      const { result } = yield* settle(flight, run(remote, head))
      const error = Option.getOrThrow(Either.getLeft(result)) as StoreError
      assert.strictEqual(error._tag, "RemoteError", String(error))
      assert.propertyVal(error, "reason", "Unreachable")
    }
  })
)

it.scoped(
  "a file that the Contents API calls too large is read as a blob, whichever way it is asked for",
  () =>
    Effect.gen(function* () {
      const { flight, head, remote, server } = yield* start({})
      const errors = [{ resource: "Blob", field: "data", code: "too_large" }]
      const tooLarge = rest(403, "This API returns blobs up to 1 MB in size.", {}, { errors })
      server.fault = ({ url }) => (url.includes("/contents/") ? replying(tooLarge) : undefined)
      const reads: ReadonlyArray<Effect.Effect<Option.Option<unknown>, unknown>> = [
        remote.snapshot("main").file("data/a.json"),
        remote.file(head.commit, "data/b.json")
      ]
      for (const read of reads) {
        const { result } = yield* settle(flight, read)
        assert.isTrue(Either.isRight(result), String(Option.getOrNull(Either.getLeft(result))))
        assert.isTrue(Option.isSome(Either.getOrThrow(result)))
      }
    })
)
