import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Json } from "../../domain/json/Json.js"
import { matches } from "../program/StoreModel.js"
import { drawnLaw, law, promiseOf } from "./StoreLaw.js"

const store = promiseOf("store")

const collected = <A, E>(stream: Stream.Stream<A, E>) =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

export const idsOf = (documents: Iterable<{ readonly _id: string }>) =>
  Array.from(documents, ({ _id }) => _id)

export const reads = "`get`, `exists`, `list`, `count`, `page` and `findBy` read the branch's head."
const streams = "A Stream reads the one commit that was the head when it began, however long it takes"

/** Lists, pages, streams and counts show the same documents, in order of id. */
export const listings = law(
  "listings",
  store("every listing shows the same documents in order", "reading", reads),
  ({ people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* expectEqual("an empty collection", [yield* people.list(), yield* people.count], [[], 0])
      yield* expectEqual("a page of nothing", yield* people.page(), { documents: [], cursor: null })
      const ids = ["b", "B", "a.1", "a-1", "z", "10", "9", "A"]
      yield* store.batch({}, (batch) => Effect.forEach(ids, (id, n) => batch.put("people", id, { n })))
      const sorted = [...ids].sort()
      yield* expectEqual("list", yield* people.list(), sorted)
      yield* expectEqual("count", yield* people.count, ids.length)
      yield* expectEqual(
        "list after an id",
        yield* people.list({ limit: 3, after: sorted[1] }),
        sorted.slice(2, 5)
      )
      yield* expectEqual("list after a missing id", yield* people.list({ after: "B5" }), sorted.slice(4))
      yield* expectEqual("list after the last id", yield* people.list({ after: "z" }), [])
      yield* expectEqual("all", idsOf(yield* collected(people.all())), sorted)
      yield* expectEqual(
        "all, limited",
        idsOf(yield* collected(people.all({ limit: 2, after: "A" }))),
        sorted.slice(3, 5)
      )
      const odd = (document: { readonly [key: string]: Json }) => Number(document["n"]) % 2 === 1
      const found = sorted.filter((id) => ids.indexOf(id) % 2 === 1)
      yield* expectEqual("find", idsOf(yield* collected(people.find(odd))), found)
      yield* expectEqual(
        "find, limited",
        idsOf(yield* collected(people.find(odd, { limit: 2 }))),
        found.slice(0, 2)
      )
      yield* expectEqual("collections", (yield* store.collections).includes("people"), true)
      yield* expectFailure("a limit of 0", people.list({ limit: 0 }), "ValidationError")
      yield* expectFailure("a page of 0", people.page({ limit: 0 }), "ValidationError")
    })
)

/** A page's cursor leads to the next page; it is null when nothing follows. */
export const pages = law(
  "pages",
  store("pages follow each other by their cursor", "reading", reads),
  ({ people, expectEqual, store }) =>
    Effect.gen(function* () {
      const ids = ["a", "b", "c", "d", "e", "f"]
      yield* store.batch({}, (batch) => Effect.forEach(ids, (id) => batch.put("people", id, {})))
      const first = yield* people.page({ limit: 4 })
      yield* expectEqual("the first page", [idsOf(first.documents), first.cursor], [ids.slice(0, 4), "d"])
      const second = yield* people.page({ limit: 4, after: "d" })
      yield* expectEqual("the last page", [idsOf(second.documents), second.cursor], [["e", "f"], null])
      const full = yield* people.page({ limit: 6 })
      yield* expectEqual("a full last page", [full.documents.length, full.cursor], [6, null])
      const exact = yield* people.page({ limit: 2, after: "d" })
      yield* expectEqual(
        "a last page that is exactly full",
        [idsOf(exact.documents), exact.cursor],
        [["e", "f"], null]
      )
      const all = yield* collected(people.pages({ size: 4 }))
      yield* expectEqual(
        "pages",
        all.map(({ cursor, documents }) => [idsOf(documents), cursor]),
        [
          [ids.slice(0, 4), "d"],
          [ids.slice(4), null]
        ]
      )
      const rest = yield* collected(people.pages({ size: 2, after: "b" }))
      yield* expectEqual(
        "pages after an id",
        rest.map(({ documents }) => idsOf(documents)),
        [
          ["c", "d"],
          ["e", "f"]
        ]
      )
    })
)

/** Streams go on with the commit that they began with. */
export const pinnedStreams = law(
  "pinnedStreams",
  store("a stream reads one commit", "reading", streams),
  ({ open, people, expectEqual, store }) =>
    Effect.gen(function* () {
      const ids = ["a", "b", "c", "d", "e", "f"]
      yield* store.batch({}, (batch) => Effect.forEach(ids, (id) => batch.put("people", id, { n: 1 })))
      const others = (yield* open()).collection("people")
      const change = Effect.zipRight(
        Effect.zipRight(others.upsert("f", { n: 2 }), others.delete("e")),
        others.insert({ n: 3 }, { id: "ff" })
      )
      const restore = others
        .delete("ff")
        .pipe(
          Effect.zipRight(others.insert({ n: 1 }, { id: "e" })),
          Effect.zipRight(others.update("f", { n: 1 }))
        )
      const kinds: Record<string, Stream.Stream<ReadonlyArray<unknown>, unknown>> = {
        all: Stream.map(people.all(), ({ _id, n }) => [_id, n]),
        find: Stream.map(
          people.find(() => true),
          ({ _id, n }) => [_id, n]
        ),
        pages: Stream.flatMap(people.pages({ size: 2 }), ({ documents }) =>
          Stream.fromIterable(documents.map(({ _id, n }) => [_id, n]))
        )
      }
      for (const [kind, stream] of Object.entries(kinds)) {
        let begun = false
        const seen = yield* collected(
          Stream.mapEffect(stream, (one) => {
            if (begun) return Effect.succeed(one)
            begun = true
            return Effect.as(change, one)
          })
        )
        yield* expectEqual(
          kind,
          seen,
          ids.map((id) => [id, 1])
        )
        yield* expectEqual(`${kind} does not hold what others write`, yield* people.list(), [
          "a",
          "b",
          "c",
          "d",
          "f",
          "ff"
        ])
        yield* restore
      }
    })
)

const values: ReadonlyArray<Json> = [
  1,
  "1",
  null,
  true,
  [1, "x"],
  [],
  { a: 1 },
  1.5,
  ["x", "x"],
  [[1]],
  [null]
]
const questions: ReadonlyArray<Json> = [
  1,
  "1",
  null,
  true,
  "x",
  2,
  { a: 1 },
  { a: "1" },
  1.5,
  [1, "x"],
  [],
  [1],
  "null",
  "true"
]

const finds =
  '`findBy(field, value)` matches when the field equals the value (`1` is not `"1"`) or is a list that contains it.'

/** `findBy` finds what a look at every document finds, with an index and without. */
export const finding = drawnLaw(
  "finding",
  store("findBy and a scan agree", "reading", finds),
  ({ fields, open, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      const one = yield* open({ indexes: { people: ["value"] } })
      const people = one.collection("people")
      const given = values.map((value, n) => ({
        id: `d${String(n).padStart(2, "0")}`,
        document: { ...fields[n % 8], value }
      }))
      const collections = ["people", "plain"]
      yield* one.batch({}, (batch) =>
        Effect.forEach(collections, (name) =>
          Effect.zipRight(
            batch.put(name, "zz", { other: 1 }),
            Effect.forEach(given, ({ document, id }) => batch.put(name, id, document))
          )
        )
      )
      for (const question of questions) {
        const expected = given
          .filter(({ document }) => matches(document, "value", question))
          .map(({ id }) => id)
        for (const name of collections) {
          const found = yield* one.collection(name).findBy("value", question)
          yield* expectEqual(
            `${name === "people" ? "by index" : "by a scan"}: ${JSON.stringify(question)}`,
            idsOf(found),
            expected
          )
        }
      }
      const [how, other] = [
        yield* people.explain("value", 1),
        yield* one.collection("plain").explain("value", 1)
      ]
      yield* expectEqual("explain", [how.source, how.current, other.source], ["index", true, "scan"])
      for (const name of collections) {
        const limited = yield* one.collection(name).findBy("value", 1, { limit: 1 })
        const after = yield* one.collection(name).findBy("value", 1, { after: "d00" })
        yield* expectEqual("limit and after", [idsOf(limited), idsOf(after)], [["d00"], ["d04"]])
      }
      yield* expectFailure("a limit of 0", people.findBy("value", 1, { limit: 0 }), "ValidationError")
    })
)
