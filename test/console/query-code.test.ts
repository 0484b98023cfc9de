import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { initialRoute, type Route } from "../../src/console/navigation/Route.js"
import { canExpress, queryCode } from "../../src/console/results/QueryCode.js"
import type { SessionView } from "../../src/http/console/Api.js"
import type { Filter } from "../../src/store/browse/Filter.js"
import { commandLine } from "../cli/CommandLine.js"

const session: SessionView = {
  api: "Host",
  repo: "local/demo",
  branch: "main",
  root: "data",
  collections: [],
  readOnly: false
}
const place = (...filters: ReadonlyArray<Filter>): Route => ({
  ...initialRoute,
  collection: "things",
  filters
})

/** The arguments that a shell makes of a command. */
const argumentsOf = (command: string): ReadonlyArray<string> =>
  JSON.parse(
    execFileSync(
      "sh",
      ["-c", `chainstore() { node -p 'JSON.stringify(process.argv.slice(1))' -- "$@"; }\n${command}`],
      {
        encoding: "utf8"
      }
    )
  )

describe("the query as code", () => {
  it.scopedLive("the command line takes what is copied for it, and finds the same", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const values = [5, "5", -5, "it's", true, null, "a b", "$(id)", ""]
      for (const [i, n] of values.entries()) {
        yield* call(["put", "things", `t${i}`, "--repo", "local/demo"], { input: JSON.stringify({ n }) })
      }
      for (const [i, value] of values.entries()) {
        const [, ...line] = argumentsOf(
          queryCode("Command line", session, place({ path: "n", operator: "is", value }))
        )
        const ran = yield* call(["query", ...line])
        assert.strictEqual(ran.code, 0, ran.err)
        assert.deepStrictEqual(
          (ran.json() as ReadonlyArray<{ readonly _id: string }>).map(({ _id }) => _id),
          [`t${i}`],
          JSON.stringify(value)
        )
      }
    })
  )

  it("nothing of a name is run by the shell", () => {
    const hostile = { ...session, repo: "a/$(id)", branch: "x;touch${IFS}y", root: "`id`" }
    const line = argumentsOf(queryCode("Command line", hostile, { ...place(), at: "v1;id" }))
    for (const given of ["a/$(id)", "x;touch${IFS}y", "`id`", "v1;id"]) assert.include(line, given)
  })

  it("a query that the command line cannot ask is not offered for it", () => {
    const one: Filter = { path: "a", operator: "is", value: 1 }
    assert.isTrue(canExpress("Command line", place()))
    assert.isTrue(canExpress("Command line", place(one)))
    assert.isTrue(canExpress("Command line", place(one, { ...one, operator: "atLeast" })))
    assert.isFalse(canExpress("Command line", place({ ...one, operator: "contains" })))
    assert.isFalse(canExpress("Command line", place({ ...one, path: "and" })))
    assert.isTrue(canExpress("Command line", place({ ...one, path: "a.b" }), [{ a: { b: 1 } }]))
    assert.isFalse(canExpress("Command line", place({ ...one, path: "a.b" }), [{ a: [{ b: 1 }] }]))
    assert.isFalse(canExpress("Command line", { ...place(), columns: ["a, b"] }))
    assert.isTrue(canExpress("curl", place({ ...one, operator: "contains" })))
  })

  it.scopedLive("operators, order and columns are copied with the query", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      for (const [i, n] of [1, 2, 3, 4].entries()) {
        const document = { n, more: "x", size: { width: 10 - n }, ...(n === 2 ? { note: null } : {}) }
        yield* call(["put", "things", `t${i + 1}`, "--repo", "local/demo"], {
          input: JSON.stringify(document)
        })
      }
      const asked: Route = {
        ...place(
          { path: "n", operator: "greaterThan", value: 1 },
          { path: "n", operator: "isNot", value: 3 },
          { path: "more", operator: "exists" },
          { path: "size.width", operator: "atMost", value: 8 }
        ),
        sort: [{ path: "size.width", descending: false }],
        columns: ["_id", "size.width"]
      }
      const rows = [{ _id: "t1", size: { width: 9 } }]
      const [, ...line] = argumentsOf(queryCode("Command line", session, asked, rows))
      const ran = yield* call(["query", ...line])
      assert.strictEqual(ran.code, 0, ran.err)
      assert.deepStrictEqual(ran.json(), [
        { _id: "t4", size: { width: 6 } },
        { _id: "t2", size: { width: 8 } }
      ])
      const curl = queryCode("curl", session, asked, rows)
      assert.include(curl, '"orderBy":{"field":"size.width","order":"asc"}')
      assert.include(
        curl,
        'jq \'[.documents[] | {"_id": getpath(["_id"]), "size.width": getpath(["size","width"])}]\''
      )
      const program = queryCode("TypeScript", session, asked, rows).replace(/\s+/g, " ")
      assert.include(program, '"select": [ "_id", "size.width" ], "limit": 50 })')
      assert.include(program, '"orderBy": { "field": "size.width", "order": "asc" }')
      const two: Route = {
        ...place(),
        sort: [
          { path: "more", descending: true },
          { path: "n", descending: true }
        ]
      }
      const [, ...sorted] = argumentsOf(queryCode("Command line", session, two, rows))
      const byTwo = yield* call(["query", ...sorted])
      assert.strictEqual(byTwo.code, 0, byTwo.err)
      assert.deepStrictEqual(
        (byTwo.json() as ReadonlyArray<{ readonly _id: string }>).map(({ _id }) => _id),
        ["t4", "t3", "t2", "t1"]
      )
      const fields = [
        { field: "more", order: "desc" },
        { field: "n", order: "desc" }
      ]
      for (const code of ["TypeScript", "curl"] as const) {
        const said = queryCode(code, session, two, rows).replace(/\s+/g, "")
        assert.include(said, `"orderBy":${JSON.stringify(fields)}`, code)
      }
      const by: Filter = { path: "more", operator: "contains", value: "X" }
      const streamed = queryCode("TypeScript", session, { ...asked, filters: [by] }, rows)
      assert.include(streamed, "Stream.filter((document) => matchesAll(document, filters)), Stream.take(50)")
    })
  )

  it("TypeScript looks at the same commit, and at all where nothing is filtered", () => {
    const program = queryCode("TypeScript", session, { ...place(), at: "v1" })
    assert.include(program, 'store.at("v1")')
    assert.include(program, ".page({ limit: 50 })")
  })
})
