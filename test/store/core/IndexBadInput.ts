import { assert, it } from "@effect/vitest"
import { Chunk, Effect, Option, type Scope, Stream } from "effect"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { GitRemote, type GitRemoteService, takesRequests } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { file, foreignCommit } from "./ForeignCommit.js"
import { connect, hosted, pushed, remotes } from "./Remotes.js"

/** A repository of its own on every kind of remote. */
export const everywhere: ReadonlyArray<
  readonly [string, Effect.Effect<GitRemoteService, unknown, Scope.Scope>]
> = [
  ...[...remotes, ...hosted].map(([name, layer]) => [name, connect(layer)] as const),
  ...pushed.map(([name, repository]) => [name, Effect.flatten(repository)] as const)
]

const cities = ["Oslo", "Rome", "Bern"]
const person = (n: number): JsonObject => ({ city: cities[n % 3]!, price: n % 7, tags: [`t${n % 2}`] })
const idOf = (n: number) => `p${String(n).padStart(4, "0")}`

const derived: StoreOptions = {
  format: 2,
  indexes: { people: ["city", "price"] },
  manifests: { people: ["city"] }
}

const filled = (remote: GitRemoteService, count: number, options: StoreOptions = derived) =>
  Effect.gen(function* () {
    const store = yield* open(remote, options)
    yield* store.batch({}, (batch) =>
      Effect.forEach(
        Array.from({ length: count }, (_, n) => n),
        (n) => batch.insert("people", person(n), { id: idOf(n) })
      )
    )
    return store
  })

const open = (remote: GitRemoteService, options: StoreOptions = {}) =>
  Effect.provideService(Store.make(options), GitRemote, remote)

type Query = Parameters<ReturnType<StoreService["collection"]>["queryAll"]>[0]

const queries: ReadonlyArray<Query> = [
  { where: { city: "Oslo" } },
  { where: { price: { atLeast: 3, lessThan: 6 } }, orderBy: "price" },
  { orderBy: [{ field: "city", order: "desc" }] },
  { where: { city: { in: ["Rome", "Bern"] }, price: 2 } }
]

/** What queries by indexes find, beside what the documents say. */
const agrees = (store: StoreService, what: string) =>
  Effect.gen(function* () {
    const people = store.collection("people")
    const all = Chunk.toReadonlyArray(yield* Stream.runCollect(people.all()))
    const plain = yield* Store.make({})
    yield* plain.batch({}, (batch) =>
      Effect.forEach(all, ({ _created_at, _id, _rev, _updated_at, ...document }) =>
        batch.insert("people", document, { id: _id })
      )
    )
    for (const query of queries) {
      const ids = (from: StoreService) =>
        Effect.map(Stream.runCollect(from.collection("people").queryAll(query)), (found) =>
          Chunk.toReadonlyArray(found).map(({ _id }) => _id)
        )
      const [found, expected] = [yield* ids(store), yield* ids(plain)]
      if (query?.orderBy === undefined) assert.sameMembers([...found], [...expected], what)
      else assert.deepStrictEqual(found, expected, what)
    }
    assert.strictEqual(
      yield* people.countWhere({ city: "Oslo" }),
      yield* plain.collection("people").countWhere({ city: "Oslo" }),
      what
    )
    assert.deepStrictEqual(
      yield* people.distinct("city"),
      yield* plain.collection("people").distinct("city"),
      what
    )
    assert.strictEqual(yield* people.count, all.length, what)
  }).pipe(Effect.provide(remotes[0]![1]))

const pathsBelow = (remote: GitRemoteService, directory: string) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    const tree = yield* remote.tree(head, `data/${directory}`, { recursive: true })
    return Option.match(tree, {
      onNone: () => [],
      onSome: ({ entries }) => entries.map(({ path }) => `${directory}/${path}`)
    })
  })

/** What bad input does to indexes of a repository. */
export const indexesAndBadInput = (
  _name: string,
  repository: Effect.Effect<GitRemoteService, unknown, Scope.Scope>
) => {
  const test = (title: string, body: (remote: GitRemoteService) => Effect.Effect<void, unknown>) =>
    it.scopedLive(title, () => Effect.flatMap(repository, body), 60_000)

  test("a field without an index, and a value of another kind, are what the documents say", (remote) =>
    Effect.gen(function* () {
      const store = yield* filled(remote, 12)
      const people = store.collection("people")
      assert.deepInclude(yield* people.explainQuery({ where: { tags: "t1" } }), { source: "scan" })
      assert.strictEqual(yield* people.countWhere({ tags: "t1" }), 6)
      assert.strictEqual(yield* people.countWhere({ nothing: 1 }), 0)
      for (const other of ["3", true, null, { is: [3] }, { is: { n: 3 } }]) {
        assert.strictEqual(yield* people.countWhere({ price: other }), 0)
      }
      for (const [where, message] of [
        [{ price: { atLeast: Number.NaN } }, /NaN/],
        [{ price: { over: 3 } }, /over/],
        [{ price: { in: 3 } }, /in/],
        [{ city: { startsWith: 3 } }, /startsWith/],
        [{ price: { exists: "yes" } }, /exists/],
        [{ and: { price: 3 } }, /and/],
        [3, /where/]
      ] as const) {
        const error = yield* Effect.flip(people.countWhere(where as never))
        assert.strictEqual(error._tag, "ValidationError")
        assert.match(error.message, message)
      }
    }))

  test("a cursor that is cut, made up, or of another query, order, collection or definition", (remote) =>
    Effect.gen(function* () {
      const store = yield* filled(remote, 12)
      const people = store.collection("people")
      const wanted = { where: { city: "Oslo" }, orderBy: "price", limit: 2 } as const
      const { cursor } = yield* people.query(wanted)
      assert.isString(cursor)
      const wrong: ReadonlyArray<
        Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>
      > = [
        people.query({ ...wanted, cursor: cursor!.slice(0, -1) }),
        people.query({ ...wanted, cursor: `${cursor}x` }),
        people.query({ ...wanted, cursor: "" }),
        people.query({ ...wanted, cursor: "💥".repeat(10_000) }),
        people.query({ ...wanted, cursor: Buffer.from('{"a":1}').toString("base64url") }),
        people.query({ ...wanted, where: { city: "Rome" }, cursor }),
        people.query({ ...wanted, orderBy: [{ field: "price", order: "desc" }], cursor }),
        people.query({ limit: 2, cursor }),
        store.collection("others").query({ ...wanted, cursor })
      ]
      for (const [at, query] of wrong.entries()) {
        const error = yield* Effect.flip(query)
        assert.strictEqual(error._tag, "ValidationError", String(at))
        assert.match(error.message, /cursor/, String(at))
      }
      const rest = yield* people.query({ ...wanted, cursor })
      assert.lengthOf(rest.documents, 2)
    }))

  test("keys of 10 kB, and many equal keys, are found, paged, changed and removed", (remote) =>
    Effect.gen(function* () {
      const store = yield* open(remote, derived)
      const people = store.collection("people")
      const long = (end: string) => "long ".repeat(2_000) + end
      const count = 150
      yield* store.batch({}, (batch) =>
        Effect.gen(function* () {
          for (const end of ["b", "a"]) yield* batch.insert("people", { city: long(end) }, { id: end })
          for (let n = 0; n < count; n++)
            yield* batch.insert("people", { city: "same", price: n }, { id: idOf(n) })
        })
      )
      const ids = (query: Query) =>
        Effect.map(Stream.runCollect(people.queryAll(query)), (found) =>
          Chunk.toReadonlyArray(found).map(({ _id }) => _id)
        )
      assert.deepStrictEqual(yield* ids({ where: { city: long("a") } }), ["a"])
      assert.deepStrictEqual(yield* ids({ where: { city: { startsWith: "long " } }, orderBy: "city" }), [
        "a",
        "b"
      ])
      assert.strictEqual(yield* people.countWhere({ city: "same" }), count)
      const paged: Array<string> = []
      for (let cursor: string | null | undefined; ; ) {
        const page = yield* people.query({
          where: { city: "same" },
          orderBy: "city",
          limit: 60,
          cursor: cursor ?? undefined
        })
        paged.push(...page.documents.map(({ _id }) => String(_id)))
        cursor = page.cursor
        if (cursor === null) break
      }
      assert.deepStrictEqual(
        paged,
        Array.from({ length: count }, (_, n) => idOf(n))
      )
      yield* people.update(idOf(7), { city: long("c") })
      yield* people.delete(idOf(8))
      assert.strictEqual(yield* people.countWhere({ city: "same" }), count - 2)
      assert.deepStrictEqual(yield* ids({ where: { city: { atLeast: long("b") }, price: 7 } }), [idOf(7)])
    }))

  test("fifty indexes of one collection follow every write", (remote) =>
    Effect.gen(function* () {
      const fields = Array.from({ length: 50 }, (_, n) => `f${n}`)
      const store = yield* open(remote, { format: 2, indexes: { people: fields } })
      const people = store.collection("people")
      const document = (value: number) => Object.fromEntries(fields.map((field, n) => [field, value + n]))
      yield* people.insert(document(1), { id: "a" })
      yield* people.insert(document(2), { id: "b" })
      yield* people.update("a", { f49: 7 })
      assert.isTrue((yield* store.indexes).every(({ current, rows }) => current && rows === 2))
      assert.lengthOf(yield* store.indexes, 50)
      const how = yield* people.explainQuery({ where: { f49: 7 } })
      assert.deepStrictEqual([how.source, how.index], ["index", "data/_index/people/f49"])
      assert.strictEqual(yield* people.countWhere({ f49: 7, f0: 1 }), 1)
      assert.strictEqual(yield* people.countWhere({ f49: 50 }), 0)
    }))

  test("damaged or partly removed index files never give a wrong result, and are rebuilt", (remote) =>
    Effect.gen(function* () {
      const store = yield* filled(remote, 20)
      const people = store.collection("people")
      const index = "_index/people/city"
      const removed = (paths: ReadonlyArray<string>) =>
        paths.map((path) => ({ _tag: "Remove", path: `data/${path}` }) as const)
      const rows = yield* pathsBelow(remote, `${index}/rows`)
      const damages: ReadonlyArray<readonly [string, ReadonlyArray<Parameters<typeof foreignCommit>[1]>]> = [
        ["a leaf that is gone", removed(rows.slice(0, 1))],
        ["all rows gone", removed(rows)],
        ["the header gone", removed([`${index}/_header.json`])],
        ["the whole index gone", removed([...rows, `${index}/_header.json`])],
        ["a cut leaf", [file(rows[0]!, '[\n{"_id": "p0000", "ci')]],
        ["a leaf of another kind", [file(rows[0]!, "{}")]],
        ["a row too few", [file(rows[0]!, '[\n{"_id": "p0000", "city": "Oslo"}\n]\n')]],
        ["a header that is no JSON", [file(`${index}/_header.json`, "{")]],
        [
          "a header of another index",
          [file(`${index}/_header.json`, { format: 2, count: 1, tree: "0", rows: "0" })]
        ],
        ["a file beside", [file(`${index}/rows/zzz.txt`, "notes")]],
        ["a directory beside", [file(`${index}/rows/more/0.json`, "[]\n")]],
        ["a manifest without rows", removed(yield* pathsBelow(remote, "_manifest/people/rows"))]
      ]
      // What takes requests is tried with one damage of each kind of file.
      const tried = takesRequests(remote)
        ? damages.filter(([what]) => ["a leaf that is gone", "the header gone"].includes(what))
        : damages
      for (const [at, [what, changes]] of tried.entries()) {
        yield* foreignCommit(remote, ...changes)
        const fresh = yield* open(remote)
        yield* agrees(fresh, `${what}: a new client`)
        yield* agrees(store, `${what}: an open client`)
        const codes = (yield* fresh.doctorWith({ deep: true })).flatMap(({ code, severity }) =>
          severity === "ok" ? [] : [code]
        )
        assert.isTrue(
          codes.some((code) => /^(index|manifest)-/.test(code)),
          `${what}: ${codes.join()}`
        )
        yield* people.update(idOf(at), { price: 5 })
        const after = (yield* fresh.doctorWith({ deep: true })).filter(
          ({ code, severity }) => severity !== "ok" && /^(index|manifest)-/.test(code)
        )
        assert.deepStrictEqual(after, [], what)
        yield* agrees(store, `${what}: after a write`)
      }
    }))

  test("documents that others commit without indexes are found at once, and are in the indexes after the next write", (remote) =>
    Effect.gen(function* () {
      const store = yield* filled(remote, 20)
      yield* foreignCommit(
        remote,
        file("people/new.json", { city: "Oslo", price: 4 }),
        file(`people/${idOf(0)}.json`, { city: "Bern", price: 3 }),
        { _tag: "Remove", path: `data/people/${idOf(3)}.json` }
      )
      yield* agrees(store, "after the commit of others")
      const how = yield* store.collection("people").explainQuery({ where: { city: "Oslo" } })
      assert.isFalse(how.current)
      yield* store.collection("people").insert(person(1))
      yield* agrees(store, "after the next write")
      assert.isTrue((yield* store.indexes).every(({ current }) => current))
    }))

  test("a client of format 1 beside is refused with a hint, and what an older one writes is healed", (remote) =>
    Effect.gen(function* () {
      const store = yield* filled(remote, 20)
      const old = yield* open(remote, { format: 1, indexes: { people: ["city", "price"] } })
      for (const call of [
        old.collection("people").insert(person(1)),
        old.collection("people").countWhere({ city: "Oslo" })
      ] as ReadonlyArray<
        Effect.Effect<unknown, { readonly message: string; readonly hint?: string | undefined }>
      >) {
        const error = yield* Effect.flip(call)
        assert.match(`${error.message} ${error.hint}`, /format/)
        assert.match(String(error.hint), /leave|adopt|reindex/)
      }
      // One that does not look at the settings writes the files that it knows.
      yield* foreignCommit(
        remote,
        file("people/old.json", { city: "Oslo", price: 1 }),
        file("_index/people/city.json", {
          _index: "city",
          collection: "people",
          values: { Oslo: ["old"] },
          ids: { old: ["Oslo"] }
        }),
        file("_manifest/people.json", {
          collection: "people",
          count: 1,
          ids: ["old"],
          documents: { old: { city: "Oslo" } }
        })
      )
      yield* agrees(store, "beside files of format 1")
      yield* store.collection("people").insert(person(2))
      yield* agrees(store, "after the next write")
      yield* store.reindex()
      assert.notInclude(yield* pathsBelow(remote, "_index/people"), "_index/people/city.json")
      yield* agrees(store, "after reindex")
    }))

  test("settings that change under a running query change nothing of it, and hold for the next one", (remote) =>
    Effect.gen(function* () {
      yield* filled(remote, 150)
      const store = yield* open(remote)
      const people = store.collection("people")
      const wanted = { where: { city: { in: ["Oslo", "Rome"] } }, orderBy: "city" } as const
      const ids = (found: Iterable<JsonObject>) => Array.from(found, ({ _id }) => String(_id))
      const expected = ids(yield* Stream.runCollect(people.queryAll(wanted)))
      const changes: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        foreignCommit(
          remote,
          file("_chainstore.json", { format: 2, indexes: { people: ["price"] }, manifests: {} })
        ),
        Effect.flatMap(open(remote), (other) => other.reindex({ format: 1 })),
        foreignCommit(remote, { _tag: "Remove", path: "data/_chainstore.json" })
      ]
      for (const change of changes) {
        let seen = 0
        const streamed = yield* people.queryAll(wanted).pipe(
          Stream.tap(() => Effect.when(Effect.orDie(change), () => ++seen === 5)),
          Stream.runCollect
        )
        assert.deepStrictEqual(ids(streamed), expected)
        yield* store.invalidate()
        assert.deepStrictEqual(ids(yield* Stream.runCollect(people.queryAll(wanted))), expected)
      }
    }))
}
