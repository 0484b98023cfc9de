import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Browse, type Filter } from "../../../src/store/browse/index.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { connect, remotes } from "./Remotes.js"

const idOf = (n: number) => `d${String(n).padStart(2, "0")}`
const person = (n: number) => ({ city: ["Oslo", "Rome", "Bern"][n % 3]!, age: (n * 7) % 30, tags: [`t${n}`] })
const ids = (answer: Browse.QueryAnswer) => answer.documents.map(({ _id }) => _id)
const all = Array.from({ length: 30 }, (_, n) => n)

describe.each(remotes)("the console's queries on %s", (_name, layer) => {
  const test = (
    title: string,
    options: Parameters<typeof Store.make>[0],
    body: (
      ask: (query: Partial<Browse.Query>) => ReturnType<Browse.Browse["query"]>
    ) => Effect.Effect<void, unknown>
  ) =>
    it.live(title, () =>
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const store = yield* Store.make(options)
        yield* store.batch({}, (batch) =>
          Effect.forEach(all, (n) => batch.insert("people", person(n), { id: idOf(n) }), { discard: true })
        )
        const browse = yield* Browse.make({ store, remote, readOnly: true })
        yield* body((query) => browse.query({ collection: "people", filters: [], limit: 4, ...query }))
      }).pipe(Effect.provide(Layer.fresh(layer)))
    )

  const rome: Filter = { path: "city", operator: "is", value: "Rome" }
  const older: Filter = { path: "age", operator: "atLeast", value: 10 }
  const byAge = { path: "age", descending: true }
  const oldest = all.toSorted((a, b) => person(b).age - person(a).age)

  test("filter and sort by indexes, and say so", { format: 2, indexes: { people: ["city", "age"] } }, (ask) =>
    Effect.gen(function* () {
      const filtered = yield* ask({ filters: [rome, older] })
      assert.strictEqual(filtered.source, "index")
      assert.match(filtered.reason ?? "", /index (city|age)/)
      assert.isAtLeast(filtered.read?.documents ?? 0, 4)
      assert.isAbove(filtered.read?.entries ?? 0, 0)
      const romans = all.filter((n) => person(n).city === "Rome" && person(n).age >= 10)
      const rest = yield* ask({ filters: [rome, older], limit: 30, cursor: filtered.cursor })
      assert.deepStrictEqual([...ids(filtered), ...ids(rest)], romans.map(idOf))

      const sorted = yield* ask({ sort: byAge })
      assert.deepInclude(sorted, { source: "index", sorted: true })
      const more = yield* ask({ sort: byAge, limit: 30, cursor: sorted.cursor })
      assert.deepStrictEqual([...ids(sorted), ...ids(more)], oldest.map(idOf))
      const both = yield* ask({ filters: [rome], sort: byAge })
      assert.deepStrictEqual(
        ids(both),
        oldest
          .filter((n) => person(n).city === "Rome")
          .slice(0, 4)
          .map(idOf)
      )

      const two = [{ path: "city", descending: false }, byAge]
      const cities = all.toSorted(
        (a, b) => person(a).city.localeCompare(person(b).city) || person(b).age - person(a).age
      )
      const romansFirst = yield* ask({ filters: [older], sort: two })
      assert.strictEqual(romansFirst.sorted, true)
      const others = yield* ask({ filters: [older], sort: two, limit: 30, cursor: romansFirst.cursor })
      assert.deepStrictEqual(
        [...ids(romansFirst), ...ids(others)],
        cities.filter((n) => person(n).age >= 10).map(idOf)
      )
      assert.match(
        String(yield* Effect.flip(ask({ sort: Array.from({ length: 17 }, () => byAge) }))),
        /at most 16 sorts/
      )

      // What no condition expresses is looked at document by document, among those that the index finds.
      const contains: Filter = { path: "tags", operator: "contains", value: "T1" }
      const mixed = yield* ask({ filters: [rome, contains], limit: 2 })
      const tagged = all.filter((n) => person(n).city === "Rome" && `t${n}`.startsWith("t1"))
      assert.strictEqual(mixed.source, "index")
      const last = yield* ask({ filters: [rome, contains], cursor: mixed.cursor, limit: 30 })
      assert.deepStrictEqual([...ids(mixed), ...ids(last)], tagged.map(idOf))
      const scanned = yield* ask({ filters: [contains], sort: { path: "tags", descending: false } })
      assert.strictEqual(scanned.source, "scan")
      assert.isUndefined(scanned.sorted)
      assert.isAtLeast(scanned.read?.documents ?? 0, 5)
      const plain = yield* ask({ limit: 3 })
      assert.deepStrictEqual(plain.read, { entries: 0, documents: 3 })
    })
  )

  test(
    "sort the rows of a manifest of format 1 by several fields",
    { format: 1, manifests: { people: ["city", "age"] } },
    (ask) =>
      Effect.gen(function* () {
        const sort = [
          { path: "none", descending: true },
          { path: "city", descending: true },
          { path: "age", descending: false }
        ]
        const cities = all.toSorted(
          (a, b) => person(b).city.localeCompare(person(a).city) || person(a).age - person(b).age
        )
        const scanned = yield* ask({ projected: true, sort })
        assert.strictEqual(scanned.source, "scan", "the manifest does not hold all of them")
        const two = sort.slice(1)
        const found: Array<unknown> = []
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page = yield* ask({ projected: true, sort: two, cursor: cursor ?? null, limit: 7 })
          const read = { entries: 30, documents: 0 }
          assert.deepInclude(page, { source: "manifest", sorted: true, total: 30, read })
          found.push(...ids(page))
          cursor = page.cursor
        }
        assert.deepStrictEqual(found, cities.map(idOf))
        const first = yield* ask({ projected: true, sort: two })
        yield* Effect.flip(ask({ projected: true, sort: byAge, cursor: first.cursor }))
      })
  )

  test(
    "take rows from a manifest of format 2",
    { format: 2, manifests: { people: ["city", "age"] } },
    (ask) =>
      Effect.gen(function* () {
        const rows = yield* ask({ projected: true, sort: byAge })
        assert.deepInclude(rows, { source: "manifest", sorted: true, total: 30 })
        assert.deepStrictEqual(rows.columns, ["_id", "_rev", "_updated_at", "age", "city"])
        assert.deepStrictEqual(
          rows.documents,
          oldest.slice(0, 4).map((n) => ({ _id: idOf(n), city: person(n).city, age: person(n).age }))
        )
        const next = yield* ask({ projected: true, sort: byAge, cursor: rows.cursor })
        assert.deepStrictEqual(ids(next), oldest.slice(4, 8).map(idOf))
        const two = [
          { path: "city", descending: true },
          { path: "age", descending: false }
        ]
        const cities = all.toSorted(
          (a, b) => person(b).city.localeCompare(person(a).city) || person(a).age - person(b).age
        )
        const byTwo = yield* ask({ projected: true, sort: two })
        assert.deepInclude(byTwo, { source: "manifest", sorted: true })
        const rest = yield* ask({ projected: true, sort: two, limit: 30, cursor: byTwo.cursor })
        assert.deepStrictEqual([...ids(byTwo), ...ids(rest)], cities.map(idOf))
        const romans = yield* ask({ projected: true, filters: [rome] })
        assert.deepInclude(romans, { source: "manifest" })
        assert.deepStrictEqual(ids(romans), [1, 4, 7, 10].map(idOf))
        const whole = yield* ask({ projected: true, filters: [{ path: "tags", operator: "exists" }] })
        assert.strictEqual(whole.source, "scan")
        assert.property(whole.documents[0], "tags")
      })
  )
})

describe("the console's queries", () => {
  it.scopedLive(
    "go on with a sorted page when a document has come meanwhile",
    () =>
      Effect.gen(function* () {
        const remote = yield* connect(remotes[0]![1])
        const options = { format: 2 as const, indexes: { people: ["city"] } }
        const store = yield* Effect.provideService(Store.make(options), GitRemote, remote)
        const put = (from: number, count: number) =>
          store.batch({}, (batch) =>
            Effect.forEach(
              Array.from({ length: count }, (_, n) => from + n),
              (n) => batch.put("people", `p${n}`, { city: "Rome", age: n }),
              { discard: true }
            )
          )
        yield* put(0, 1_000)
        const browse = yield* Browse.make({ store, remote, readOnly: true })
        const query = {
          collection: "people",
          filters: [{ path: "city", operator: "is" as const, value: "Rome" }],
          sort: { path: "age", descending: false },
          limit: 4
        }
        const first = yield* browse.query(query)
        assert.strictEqual(first.sorted, true)
        yield* put(1_000, 1)
        const next = yield* browse.query({ ...query, cursor: first.cursor })
        assert.deepStrictEqual(
          next.documents.map(({ _id }) => _id),
          ["p4", "p5", "p6", "p7"]
        )
      }),
    60_000
  )
})
