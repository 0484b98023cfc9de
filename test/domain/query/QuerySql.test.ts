import { assert, it } from "@effect/vitest"
import { PGlite } from "@electric-sql/pglite"
import * as Either from "effect/Either"
import * as fc from "fast-check"
import { matcherOf } from "../../../src/domain/query/Matching.js"
import { sortKeys } from "../../../src/domain/query/Ordering.js"
import type { AnyWhere } from "../../../src/domain/query/Query.js"
import { readQuery } from "../../../src/domain/query/ReadQuery.js"

it("a condition is what SQL says of scalars", async () => {
  const sql = await PGlite.create()
  const number = fc.constantFrom(null, -1.5, 0, 1, 2)
  const text = fc.constantFrom(null, "", "a", "ab", "b", "é", "\u{10000}", "\uffff")
  const rows = fc.sample(fc.record({ n: number, t: text }), { numRuns: 60, seed: 19 })
  await sql.exec(`create table d (id int primary key, n float8, t text collate "C")`)
  for (const [id, { n, t }] of rows.entries()) {
    await sql.query("insert into d values ($1, $2, $3)", [id, n, t])
  }
  const names = { is: "=", lessThan: "<", atMost: "<=", greaterThan: ">", atLeast: ">=" } as const
  const compared = fc.oneof(
    fc.tuple(fc.constant("n"), fc.constantFrom(...Object.keys(names)), fc.constantFrom(0, 1, 1.5)),
    fc.tuple(
      fc.constant("t"),
      fc.constantFrom(...Object.keys(names)),
      fc.constantFrom("", "a", "é", "\uffff")
    )
  )
  type Both = { readonly where: AnyWhere; readonly sql: string }
  const literal = (value: number | string) => (typeof value === "string" ? `'${value}'` : String(value))
  const both: fc.Arbitrary<Both> = fc.letrec<{ both: Both }>((tie) => ({
    both: fc.oneof(
      { maxDepth: 3 },
      compared.map(([field, operator, value]) => ({
        where: { [field]: { [operator]: value } },
        // Two truth values, as in JavaScript: what cannot be compared does not satisfy a comparison.
        sql: `coalesce(${field} ${names[operator as keyof typeof names]} ${literal(value)}, false)`
      })),
      fc.constant({ where: { t: { startsWith: "a" } }, sql: `coalesce(t like 'a%', false)` }),
      fc.constant({ where: { n: { in: [0, 2] } }, sql: "coalesce(n in (0, 2), false)" }),
      fc.constant({ where: { n: null }, sql: "n is null" }),
      fc.tuple(tie("both"), tie("both")).map(([a, b]) => ({
        where: { and: [a.where, b.where] },
        sql: `(${a.sql} and ${b.sql})`
      })),
      fc.tuple(tie("both"), tie("both")).map(([a, b]) => ({
        where: { or: [a.where, b.where] },
        sql: `(${a.sql} or ${b.sql})`
      })),
      tie("both").map((one) => ({ where: { not: one.where }, sql: `not ${one.sql}` }))
    )
  })).both
  const documents = rows.map((row, id) => ({ ...row, id }))
  const all = fc.sample(both, { numRuns: 150, seed: 20 })
  const ids = all.map(
    (one) => `array(select id from d where ${one.sql} order by t nulls first, n desc nulls last, id)`
  )
  const answers = await sql.query<{ ids: ReadonlyArray<number> }>(
    `${ids.map((list, at) => `select ${at} as at, ${list} as ids`).join(" union all ")} order by at`
  )
  for (const [at, one] of all.entries()) {
    const query = Either.getOrThrow(
      readQuery({
        where: one.where,
        orderBy: ["t", { field: "n", order: "desc" }, { field: "id", order: "asc" }]
      })
    )
    const matches = matcherOf(query.predicate)
    const keyOf = sortKeys(query.order, query.predicate)
    const found = documents
      .filter((document) => matches(document))
      .map((document) => [keyOf(document, String(document.id)), document.id] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, id]) => id)
    assert.deepStrictEqual(found, answers.rows[at]!.ids, one.sql)
  }
  await sql.close()
})
