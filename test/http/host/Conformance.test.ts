import { assert, describe, it } from "@effect/vitest"
import { type CheckedReply, restProblems } from "../../support/host/Conformance.js"
import { graphqlProblems } from "../../support/host/GraphQlConformance.js"

const headers = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag",
  "cache-control": "private, max-age=60, s-maxage=60",
  vary: "Accept",
  "x-github-api-version-selected": "2022-11-28",
  "x-github-media-type": "github.v3; format=json",
  "x-github-request-id": "0",
  "x-ratelimit-limit": "1",
  "x-ratelimit-remaining": "1",
  "x-ratelimit-reset": "1",
  "x-ratelimit-resource": "core",
  "x-ratelimit-used": "0"
}

const { "cache-control": _kept, ...unkept } = headers

const error = (status: number, message: string) => ({
  status,
  headers: unkept,
  body: { message, status: String(status), documentation_url: "https://docs.github.com/rest" }
})

const limit = { limit: 1, used: 0, remaining: 1, reset: 1 }
const limited = { resources: { core: limit, search: limit }, rate: limit }

const checked = (answered: Partial<CheckedReply>) =>
  restProblems({ method: "GET", path: "/rate_limit", status: 200, headers, body: limited, ...answered })

const newer = { ...headers, "x-github-api-version-selected": "2026-03-10" }
const ref = "/repos/o/r/git/ref/heads/main"
const reference = {
  ref: "refs/heads/main",
  node_id: "",
  url: "http://x/",
  object: { type: "commit", sha: "a".repeat(40), url: "http://x/" }
}

describe("the check of the host's responses", () => {
  it("a response that GitHub describes passes", () => {
    assert.deepStrictEqual(checked({}), [])
    assert.deepStrictEqual(checked({ path: ref, body: reference }), [])
    assert.deepStrictEqual(checked({ path: ref, ...error(404, "Not Found") }), [])
    assert.deepStrictEqual(checked({ path: "/repos/o/r/git/refs/heads/ma", body: [reference] }), [])
    assert.deepStrictEqual(checked({ path: "/nowhere", ...error(404, "Not Found") }), [])
    const { rate: _, ...resources } = limited
    assert.deepStrictEqual(checked({ headers: newer, body: resources }), [])
  })

  it.each([
    ["a status that the operation does not have", { path: ref, status: 202, body: reference }],
    ["a body that does not fit", { path: ref, body: { ...reference, ref: 1 } }],
    ["a member that the version has no more", { headers: newer }],
    ["a header that is missing", { headers: { ...headers, vary: undefined } }],
    ["an address that is none", { path: "/nowhere" }],
    ["a refusal in other words", { path: ref, ...error(404, "not there") }],
    ["a refusal that the operation does not have", { path: ref, ...error(422, "Reference does not exist") }],
    ["a refusal without its status as a string", { path: ref, status: 404, body: { message: "Not Found" } }],
    [
      "a creation without its location",
      { method: "POST", path: "/repos/o/r/git/refs", status: 201, body: reference }
    ],
    ["an unchanged answer with a body", { path: ref, status: 304, body: reference }]
  ])("%s is found", (_, answered) => {
    assert.isNotEmpty(checked(answered))
  })

  const query = (text: string, variables = {}) => JSON.stringify({ query: text, variables })
  const asked = query(
    'query ($more: Boolean!) { viewer { login id @include(if: $more) } repository(owner: "o", name: "r") { object(expression: "x") { oid ...T } } } fragment T on Tree { entries { name mode } }',
    { more: false }
  )
  const data = (object: unknown) => ({ data: { viewer: { login: "a" }, repository: { object } } })
  const oid = "a".repeat(40)

  it("a GraphQL response that matches the query passes", () => {
    for (const object of [null, { oid }, { oid, entries: null }, { oid, entries: [{ name: "a", mode: 1 }] }])
      assert.deepStrictEqual(graphqlProblems(asked, data(object)), [])
    const missing = {
      type: "NOT_FOUND",
      path: ["repository"],
      message: "Could not resolve to a Repository with the name 'o/r'."
    }
    assert.deepStrictEqual(
      graphqlProblems(asked, { data: { viewer: { login: "a" }, repository: null }, errors: [missing] }),
      []
    )
    assert.deepStrictEqual(graphqlProblems(asked, { errors: [{ message: "Syntax Error" }] }), [])
  })

  it.each([
    ["a missing field", { data: { repository: null, viewer: {} } }],
    ["a field too many", { data: { repository: null, viewer: { login: "a", id: "b" } } }],
    ["null where the schema has none", { data: { repository: null, viewer: { login: null } } }],
    ["a value of another type", data({ oid, entries: [{ name: "a", mode: "1" }] })],
    ["an id that is none", data({ oid: "abc" })],
    [
      "an error of an unknown type",
      { data: data(null).data, errors: [{ type: "ODD", path: ["repository"], message: "?" }] }
    ],
    [
      "an error of a field without a type",
      { data: data(null).data, errors: [{ path: ["repository"], message: "?" }] }
    ],
    ["nothing at all", {}]
  ])("GraphQL: %s is found", (_, answer) => {
    assert.isNotEmpty(graphqlProblems(asked, answer))
  })
})
