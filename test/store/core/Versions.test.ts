import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { Json, JsonObject } from "../../../src/domain/json/Json.js"
import * as GitObject from "../../../src/git/GitObject.js"
import type {
  DocumentEdit,
  DocumentOperation,
  Precondition,
  StoredVersion
} from "../../../src/store/internal/commit/DocumentEdit.js"
import {
  checkPrecondition,
  checkPreconditions,
  countConflicts,
  describeVersion,
  editProblem,
  newConflictCount
} from "../../../src/store/internal/commit/Preconditions.js"
import {
  givenVersion,
  pastVersion,
  readDocument,
  readVersion,
  unreadableError,
  withMetadata,
  withoutMetadata,
  writeVersion
} from "../../../src/store/internal/commit/VersionCodec.js"

const place = {
  operation: "Collection.update",
  collection: "people",
  id: "ada",
  path: "data/people/ada.json"
}

const bytes = (text: string) => new TextEncoder().encode(text)

const stored = (text: string) => {
  const content = bytes(text)
  return Effect.runSync(readVersion(place.path, { content, oid: GitObject.hash("blob", content) }))
}

const now = "2026-11-29T12:00:00.000Z"

const write = (
  document: JsonObject,
  next: Partial<Parameters<typeof writeVersion>[2]> = {},
  before?: StoredVersion
) =>
  Effect.map(
    writeVersion(place, document, { ...givenVersion(document), ...next }, Option.fromNullable(before), now),
    ({ content, document }) => {
      assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(content)) as unknown, document as unknown)
      return document
    }
  )

describe("a file as a version of a document", () => {
  it("has a revision and a time of creation if the file has valid ones", () => {
    const found = (text: string) => {
      const { createdAt, rev } = stored(text)
      return [rev, createdAt]
    }
    assert.deepStrictEqual(found('{"_rev": 3, "_created_at": "then"}'), [3, "then"])
    for (const rev of ["0", "-1", "1.5", '"3"', "null", "1e300", "[3]"]) {
      assert.deepStrictEqual(found(`{"_rev": ${rev}, "_created_at": "then"}`), [0, "then"], rev)
    }
    for (const created of ['""', "1", "null"]) {
      assert.deepStrictEqual(found(`{"_rev": 1, "_created_at": ${created}}`), [1, undefined], created)
    }
    // Of the document's own members: a document inherits nothing.
    assert.deepStrictEqual(found('{"__proto__": {"_rev": 3}}'), [0, undefined])
  })

  it("has no document if it contains no JSON object, and says why", () => {
    for (const text of ["", "[]", "{", "1", '{"a": 1, "a": 2}x']) {
      const version = stored(text)
      assert.isTrue(Option.isNone(version.document), text)
      assert.isString(version.problem, text)
      assert.deepStrictEqual([version.rev, version.createdAt, version.path], [0, undefined, place.path])
      assert.deepStrictEqual(version.content, bytes(text))
    }
    assert.isUndefined(stored("{}").problem)
    const error = unreadableError(place, stored("[]").problem!)
    assert.include(error.message, `${place.path} ${stored("[]").problem}`)
    assert.match(error.hint!, /correct the file in a commit, or replace or delete the document/)
  })

  it.effect("is read with the id of its name, revision 0 and empty times where it has none", () =>
    Effect.gen(function* () {
      const read = (text: string) => readDocument(place, bytes(text))
      assert.deepStrictEqual(yield* read('{"n": 1}'), {
        n: 1,
        _id: "ada",
        _rev: 0,
        _created_at: "",
        _updated_at: ""
      } as never)
      const whole = { n: 1, _id: "ada", _rev: 2, _created_at: "a", _updated_at: "b" }
      assert.deepStrictEqual(yield* read(JSON.stringify(whole)), whole as never)
      const wrong = { _id: "bob", _rev: -2, _created_at: 1, _updated_at: null }
      assert.deepStrictEqual(yield* read(JSON.stringify(wrong)), {
        _id: "ada",
        _rev: 0,
        _created_at: "",
        _updated_at: ""
      } as never)
      assert.deepStrictEqual(withMetadata("ada", { _rev: 1 }), {
        _id: "ada",
        _rev: 1,
        _created_at: "",
        _updated_at: ""
      } as never)
      const failed = yield* Effect.flip(read("[]"))
      assert.deepStrictEqual([failed.collection, failed.id, failed.path], ["people", "ada", place.path])
    })
  )
})

describe("the next version of a document", () => {
  it.effect("has the next revision, keeps the time of creation, and has the time of the write", () =>
    Effect.gen(function* () {
      const times = { _created_at: now, _updated_at: now }
      assert.deepStrictEqual(yield* write({ n: 1 }), { _id: "ada", _rev: 1, ...times, n: 1 } as never)
      const before = stored('{"_rev": 6, "_created_at": "then", "n": 0}')
      const after = { _id: "ada", _rev: 7, _created_at: "then", _updated_at: now, n: 1 }
      assert.deepStrictEqual(yield* write({ n: 1 }, {}, before), after as never)
      // What a caller gives as metadata is not written.
      const given = { _id: "bob", _rev: 70, _created_at: "x", _updated_at: "y", n: 1 }
      assert.deepStrictEqual(yield* write(given, {}, before), after as never)
      // A file without them, and one that cannot be read.
      assert.deepStrictEqual(yield* write({}, {}, stored("{}")), { _id: "ada", _rev: 1, ...times } as never)
      assert.deepStrictEqual(yield* write({}, {}, stored("[]")), { _id: "ada", _rev: 1, ...times } as never)
    })
  )

  it.effect("goes on from a past version only if nothing readable is stored", () =>
    Effect.gen(function* () {
      const past = pastVersion(stored('{"_rev": 4, "_created_at": "then", "_id": "ada", "n": 1}'))
      assert.deepStrictEqual(past.document, Option.some({ n: 1 }))
      const { _created_at, _rev } = yield* write({ n: 1 }, past)
      assert.deepStrictEqual([_rev, _created_at], [5, "then"])
      const unreadable = yield* write({ n: 1 }, past, stored("[]"))
      assert.deepStrictEqual([unreadable._rev, unreadable._created_at], [5, "then"])
      const over = yield* write({ n: 1 }, past, stored('{"_rev": 8, "_created_at": "before"}'))
      assert.deepStrictEqual([over._rev, over._created_at], [9, "before"])
      // A stored version without a time of creation gets one.
      const bare = yield* write({ n: 1 }, past, stored('{"_rev": 8}'))
      assert.deepStrictEqual([bare._rev, bare._created_at], [9, now])
      assert.deepStrictEqual(pastVersion(undefined), {
        document: Option.none(),
        createdAt: undefined,
        rev: undefined,
        numberSources: []
      })
      assert.isTrue(Option.isNone(pastVersion(stored("[]")).document))
    })
  )

  it.effect("does not change a number that JavaScript cannot represent, wherever it came from", () =>
    Effect.gen(function* () {
      const inexact = '{"n": 12345678901234567890, "m": 1}'
      const n = Number("12345678901234567890")
      const before = stored(inexact)
      const error = yield* Effect.flip(write({ n, m: 2 }, {}, before))
      assert.include(error.message, "the number 12345678901234567890 at n cannot be written again")
      assert.match(error.hint!, /as text/)
      assert.deepStrictEqual(error.issues, [
        { path: "n", message: "12345678901234567890 is not exactly a JavaScript number" }
      ])
      assert.deepStrictEqual([error.collection, error.id], ["people", "ada"])
      // A write without it is a decision of the caller.
      assert.strictEqual((yield* write({ m: 2 }, {}, before))._rev, 1)
      assert.strictEqual((yield* write({ n: "12345678901234567890" }, {}, before))._rev, 1)
      // A number that the file spells exactly is the caller's own.
      assert.strictEqual((yield* write({ n: 1 }, {}, before))._rev, 1)
      const source = { numberSources: [bytes("{}"), bytes(inexact)] }
      assert.instanceOf(yield* Effect.flip(write({ deep: [{ n }] }, source)), Error)
      assert.strictEqual((yield* write({ n: 1 }, source))._rev, 1)
      // Each source counts, also behind one with another such number.
      const other = { numberSources: [bytes('{"x": 98765432109876543210}'), bytes(inexact)] }
      assert.instanceOf(yield* Effect.flip(write({ n }, other)), Error)
      assert.instanceOf(yield* Effect.flip(write({ n }, pastVersion(before))), Error)
      // Neither bytes that are not UTF-8 nor a file that is not JSON has numbers to keep.
      assert.strictEqual((yield* write({ n }, { numberSources: [new Uint8Array([0xff])] }))._rev, 1)
      assert.strictEqual((yield* write({ n }, {}, stored(`${inexact}]`)))._rev, 1)
    })
  )

  it.effect("is refused where it is no JSON, or larger than a document may be", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(write({ a: { b: Number.NaN } }))
      assert.match(error.message, /^people\/ada: a\.b: /)
      assert.strictEqual(error.issues?.[0]?.path, "a.b")
      let deep: Json = 1
      for (let at = 0; at < 2000; at++) deep = [deep]
      assert.match((yield* Effect.flip(write({ deep }))).message, /^people\/ada: /)
    })
  )

  it("of a caller is the document, or a removal", () => {
    assert.deepStrictEqual(givenVersion({ n: 1 }), { document: Option.some({ n: 1 }), numberSources: [] })
    for (const none of [null, undefined]) assert.isTrue(Option.isNone(givenVersion(none).document))
    assert.deepStrictEqual(withoutMetadata({ _id: "a", _rev: 1, _created_at: "", _updated_at: "", n: 1 }), {
      n: 1
    })
  })
})

const version = (rev: number, text = `{"_rev": ${rev}}`) => stored(text)
const ada = version(2)
const bob = version(5, '{"_rev": 5, "n": 1}')

const operation = (needs: DocumentOperation["needs"], precondition?: Precondition): DocumentOperation => ({
  collection: "people",
  id: "ada",
  needs,
  precondition,
  next: () => Effect.succeed(givenVersion(null))
})

const edit = (given: Partial<DocumentEdit>): DocumentEdit => ({
  operation: "Collection.update",
  message: "m",
  mode: "document",
  operations: [],
  ...given
})

const outcome = (needs: DocumentOperation["needs"], given: Precondition | undefined, at?: StoredVersion) =>
  Effect.runSync(
    Effect.match(checkPrecondition("Collection.update", operation(needs, given), at), {
      onFailure: (error) => error.message,
      onSuccess: () => "written"
    })
  )

describe("what a write expects", () => {
  const sha = ada.oid
  const [short, other] = [sha.slice(0, 7), "1".repeat(40)]

  it("is a document that exists, or one that does not", () => {
    assert.strictEqual(outcome("present", undefined), "people/ada does not exist")
    assert.strictEqual(outcome("present", undefined, ada), "written")
    assert.strictEqual(outcome("absent", undefined), "written")
    assert.strictEqual(outcome("absent", undefined, ada), "people/ada exists already")
    for (const at of [undefined, ada]) assert.strictEqual(outcome("any", undefined, at), "written")
  })

  it("is a revision, a version or that there is none", () => {
    const any = (given: Precondition, at?: StoredVersion) => outcome("any", given, at)
    assert.strictEqual(any({ rev: 2 }, ada), "written")
    assert.strictEqual(any({ rev: 3 }, ada), "people/ada has revision 2, expected 3")
    assert.strictEqual(any({ rev: 2 }), "people/ada is missing, expected revision 2")
    assert.strictEqual(any({ sha }, ada), "written")
    assert.strictEqual(any({ sha: other }, ada), `people/ada is version ${short}, expected 1111111`)
    assert.strictEqual(any({ sha }), `people/ada is missing, expected version ${short}`)
    assert.strictEqual(any({ rev: 2, sha }, ada), "written")
    assert.strictEqual(any({ rev: 2, sha: other }, ada), `people/ada is version ${short}, expected 1111111`)
    assert.strictEqual(any({ absent: true }), "written")
    assert.strictEqual(any({ absent: true }, ada), "people/ada exists")
    assert.strictEqual(any({ absent: false }, ada), "written")
    assert.strictEqual(any({}, ada), "written")
  })

  it.effect("is in the error, with what is stored", () =>
    Effect.gen(function* () {
      const failure = (needs: DocumentOperation["needs"], given?: Precondition) =>
        Effect.flip(checkPrecondition("Collection.update", operation(needs, given), ada))
      const actual = { rev: 2, sha, document: { _rev: 2 } }
      const at = { collection: "people", id: "ada" }
      for (const [needs, given, expected, hint] of [
        ["absent", undefined, null, /use update, replace or upsert/],
        ["any", { absent: true }, null, /read the document again/],
        ["any", { rev: 3 }, { rev: 3, sha: undefined }, /read the document again/],
        ["any", { sha: other }, { rev: undefined, sha: other }, /read the document again/]
      ] as const) {
        const error = yield* failure(needs, given)
        assert.strictEqual(error._tag, "ConflictError")
        if (error._tag !== "ConflictError") continue
        assert.deepStrictEqual(error.conflicts, [{ ...at, expected, actual }] as never)
        assert.deepStrictEqual(
          [error.operation, error.collection, error.id],
          ["Collection.update", "people", "ada"]
        )
        assert.match(error.hint!, hint)
      }
      assert.isNull(describeVersion(undefined))
      assert.deepStrictEqual(describeVersion(stored("[]")), {
        rev: 0,
        sha: stored("[]").oid,
        document: undefined
      } as never)
    })
  )

  it.effect("of other documents is checked for all of them, and the error lists each conflict", () =>
    Effect.gen(function* () {
      const expect = (id: string, precondition: Precondition) => ({ collection: "people", id, precondition })
      const versions = new Map([
        ["people/ada", ada],
        ["people/bob", bob]
      ])
      const check = (...preconditions: DocumentEdit["preconditions"] & {}) =>
        checkPreconditions(edit({ preconditions }), versions)
      yield* checkPreconditions(edit({}), versions)
      yield* check()
      yield* check(expect("ada", { rev: 2 }), expect("bob", { rev: 5 }), expect("cleo", { absent: true }))
      const error = yield* Effect.flip(
        check(expect("ada", { rev: 2 }), expect("bob", { rev: 4 }), expect("cleo", { rev: 1 }))
      )
      assert.strictEqual(
        error.message,
        "people/bob has revision 5, expected 4; people/cleo is missing, expected revision 1"
      )
      assert.deepStrictEqual(error.conflicts, [
        {
          collection: "people",
          id: "bob",
          expected: { rev: 4, sha: undefined },
          actual: describeVersion(bob)
        },
        { collection: "people", id: "cleo", expected: { rev: 1, sha: undefined }, actual: null }
      ] as never)
      assert.deepStrictEqual([error.collection, error.id], ["people", "bob"])
      assert.match(error.hint!, /read the documents again/)
    })
  )
})

describe("a document that changes during a write", () => {
  const versions = (given?: StoredVersion) => new Map(given === undefined ? [] : [["people/ada", given]])
  const one = edit({ operations: [operation("any")] })

  it.effect("may change as often as is allowed", () =>
    Effect.gen(function* () {
      const count = newConflictCount(1)
      yield* countConflicts(one, count, versions(version(1)))
      // The branch moved for another reason.
      yield* countConflicts(one, count, versions(version(1)))
      yield* countConflicts(one, count, versions(version(2)))
      yield* countConflicts(one, count, versions(version(2)))
      const error = yield* Effect.flip(countConflicts(one, count, versions(version(3))))
      assert.strictEqual(error.message, "people/ada changed 2 times during the write")
      assert.deepStrictEqual(error.conflicts, [
        {
          collection: "people",
          id: "ada",
          expected: describeVersion(version(2)),
          actual: describeVersion(version(3))
        }
      ] as never)
      assert.match(error.hint!, /read the document again and repeat the decision/)
    })
  )

  it.effect("is named with all others that changed", () =>
    Effect.gen(function* () {
      const both = edit({ operations: [operation("any"), { ...operation("any"), id: "bob" }] })
      const count = newConflictCount(0)
      yield* countConflicts(both, count, new Map())
      const versions = new Map([
        ["people/ada", ada],
        ["people/bob", bob]
      ])
      const error = yield* Effect.flip(countConflicts(both, count, versions))
      assert.strictEqual(error.message, "people/ada, people/bob changed 1 times during the write")
      assert.deepStrictEqual(
        error.conflicts.map(({ id }) => id),
        ["ada", "bob"]
      )
    })
  )

  it.effect("may also appear or vanish", () =>
    Effect.gen(function* () {
      for (const [before, after] of [
        [undefined, ada],
        [ada, undefined]
      ]) {
        const count = newConflictCount(0)
        yield* countConflicts(one, count, versions(before))
        const error = yield* Effect.flip(countConflicts(one, count, versions(after)))
        assert.deepStrictEqual(
          error.conflicts.map(({ actual, expected }) => [expected?.rev, actual?.rev]),
          [[before?.rev, after?.rev]]
        )
      }
    })
  )

  it.effect("is not counted for a batch, which counts the moves of its branch", () =>
    Effect.gen(function* () {
      const count = newConflictCount(0)
      const batch = edit({ mode: "batch", operations: [operation("any")] })
      yield* countConflicts(batch, count, versions(version(1)))
      yield* countConflicts(batch, count, versions(version(2)))
      assert.strictEqual(count.counted, 0)
    })
  )
})

describe("names and messages of an edit", () => {
  it("are checked before anything is read", () => {
    assert.isUndefined(editProblem(edit({ operations: [operation("any")] })))
    assert.match(editProblem(edit({ message: "a\0b" }))!.message, /cannot contain a NUL character/)
    assert.match(editProblem(edit({ message: "a\0b" }))!.hint!, /remove it/)
    assert.isUndefined(editProblem(edit({ message: () => "a\0b" })))
    const planned = { operation: "o", message: "m", mode: "batch", plan: () => Effect.succeedNone } as const
    assert.isUndefined(editProblem(planned))
    assert.match(editProblem({ ...planned, message: "\0" })!.message, /NUL/)
    for (const [collection, id] of [
      ["people", "a/b"],
      ["_people", "a"]
    ] as const) {
      const wrong = { ...operation("any"), collection, id }
      const inOperations = editProblem(edit({ operations: [operation("any"), wrong] }))!
      const inPreconditions = editProblem(
        edit({ preconditions: [{ collection, id, precondition: { rev: 1 } }] })
      )!
      for (const error of [inOperations, inPreconditions]) {
        assert.deepStrictEqual(
          [error.collection, error.id, error.operation],
          [collection, id, "Collection.update"]
        )
        assert.include(error.message, `"${collection}", "${id}": `)
      }
    }
  })
})
