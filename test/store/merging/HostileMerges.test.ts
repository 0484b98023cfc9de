import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Exit, Layer, Option, Schema } from "effect"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { MergeRuleId, type MergeRules, mergeDocuments } from "../../../src/domain/merge/index.js"
import { mergingExact } from "../../../src/domain/merge/MergeDocuments.js"
import { Collection } from "../../../src/store/index.js"
import type { GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { commandLine } from "../../cli/CommandLine.js"
import { local, remotes } from "../core/Remotes.js"
import { document, type StorePair, storePair } from "../operations/StorePair.js"

const put = (
  remote: GitRemoteService,
  branch: string,
  files: Readonly<Record<string, string | Uint8Array | null>>
) =>
  Effect.flatMap(remote.head(branch), (head) =>
    remote.commit(branch, head, {
      message: "by hand",
      changes: Object.entries(files).map(([path, text]) =>
        text === null
          ? { _tag: "Remove" as const, path }
          : {
              _tag: "Put" as const,
              path,
              content: typeof text === "string" ? new TextEncoder().encode(text) : text
            }
      )
    })
  )

const textOf = ({ remote }: StorePair, path: string, branch = "main") =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head(branch))
    return Option.getOrUndefined(
      Option.map(yield* remote.file(head, path), ({ content }) => new TextDecoder().decode(content))
    )
  })

const branched = (body: JsonObject, settings: Parameters<typeof storePair>[0] = {}) =>
  Effect.gen(function* () {
    const it = yield* storePair(settings)
    yield* it.store.collection("notes").insert(body, { id: "x" })
    yield* it.store.createBranch("draft")
    return {
      ...it,
      main: it.store.collection("notes"),
      draft: it.store.onBranch("draft").collection("notes")
    }
  })

/** Success, or a typed failure with a message; a defect fails the test. */
const outcome = <A, E extends { readonly _tag: string; readonly message: string }, R>(
  effect: Effect.Effect<A, E, R>
) =>
  Effect.map(
    Effect.exit(effect),
    Exit.match({
      onSuccess: (value) => ({ _tag: "Success" as const, value, message: "" }),
      onFailure: (cause) =>
        cause._tag === "Fail"
          ? { _tag: cause.error._tag, value: undefined, message: cause.error.message }
          : { _tag: "Defect" as const, value: undefined, message: String(cause) }
    })
  )

describe("an edit", () => {
  it.live("of a byContent list is not swallowed by an equal one", () =>
    // merging.md: "edit ... where both changed one field, even to the same value, the function is applied again".
    Effect.gen(function* () {
      const { store } = yield* storePair()
      const notes = store.collection("notes")
      yield* notes.insert({ log: [0] }, { id: "x" })
      let runs = 0
      const rules: MergeRules = { fields: { log: { sequence: "byContent" } } }
      const append = (document: JsonObject): JsonObject => ({
        ...document,
        log: [...(document["log"] as ReadonlyArray<number>), 1]
      })
      yield* notes.edit(
        "x",
        (document) =>
          Effect.gen(function* () {
            if (runs++ === 0) yield* Effect.orDie(notes.edit("x", append as never))
            return append(document as never) as never
          }),
        { rules }
      )
      assert.deepStrictEqual(Option.getOrThrow(yield* notes.get("x"))["log"], [0, 1, 1])
    })
  )

  it.live("counts every call where the definition says sameChange or settle", () =>
    // merging.md: "So edit(id, (d) => ({ ...d, n: d.n + 1 })) counts every call".
    Effect.gen(function* () {
      const counts: Array<unknown> = []
      for (const merge of [
        { sameChange: undefined },
        { sameChange: "once" },
        { settle: () => "ours" }
      ] as ReadonlyArray<MergeRules>) {
        const { store } = yield* storePair()
        const notes = store.collection(
          Collection.define("notes", Schema.Struct({ n: Schema.Number }), { merge })
        )
        yield* notes.insert({ n: 0 }, { id: "x" })
        let runs = 0
        yield* notes.edit("x", (document) =>
          Effect.gen(function* () {
            if (runs++ === 0) yield* Effect.orDie(notes.edit("x", (d) => ({ n: d.n + 1 })))
            return { n: document.n + 1 }
          })
        )
        counts.push(Option.getOrThrow(yield* notes.get("x")).n)
      }
      assert.deepStrictEqual(counts, [2, 2, 2])
    })
  )
})

describe("a base", () => {
  it.live("revision that two versions have is refused, also where one of them is stored now", () =>
    // merging.md: "a revision that two versions have (somebody edited the file by hand, ...) is a ValidationError".
    Effect.gen(function* () {
      const { remote, store } = yield* storePair()
      const notes = store.collection("notes")
      yield* notes.insert({ a: 1, b: 1 }, { id: "x" })
      const seen = Option.getOrThrow(yield* notes.get("x"))
      yield* put(remote, "main", {
        "data/notes/x.json": `${JSON.stringify({ ...seen, b: "edited by hand" }, null, 2)}\n`
      })
      const found = yield* outcome(notes.replace("x", { a: 2, b: 1 }, { base: 1 }))
      const now = Option.getOrThrow(yield* notes.get("x"))
      assert.deepStrictEqual([found._tag, now["b"]], ["ValidationError", "edited by hand"])
    })
  )

  it.live("revision of a document that was deleted is not taken for its successor's", () =>
    // merging.md: the same sentence; the person looked at revision 1 of a document that is gone.
    Effect.gen(function* () {
      const { store } = yield* storePair()
      const notes = store.collection("notes")
      yield* notes.insert({ a: 1, b: 1 }, { id: "x" })
      yield* notes.delete("x")
      yield* notes.insert({ a: 1, b: "of somebody else" }, { id: "x" })
      const found = yield* outcome(notes.replace("x", { a: 2, b: 1 }, { base: 1 }))
      const now = Option.getOrThrow(yield* notes.get("x"))
      assert.deepStrictEqual([found._tag, now["b"]], ["ValidationError", "of somebody else"])
    })
  )

  it.live("revision is found though the file had a lower one for a while", () =>
    // merging.md: "a revision is looked for in the history ...; a version that is nowhere is a NotFoundError".
    Effect.gen(function* () {
      const { remote, store } = yield* storePair()
      const notes = store.collection("notes")
      yield* notes.insert({ a: 1, b: 1 }, { id: "x" })
      yield* notes.update("x", { b: 2 })
      const third = yield* notes.update("x", { b: 3 })
      yield* put(remote, "main", { "data/notes/x.json": JSON.stringify({ ...third, _rev: 1, b: 4 }) })
      yield* notes.update("x", { b: 5 })
      const found = yield* outcome(notes.update("x", { a: 2 }, { base: 3 }))
      assert.strictEqual(found._tag, "Success", found.message)
    })
  )
})

describe("rules", () => {
  it.live("of the call leave those of the definition and the schema for other fields", () =>
    // merging.md: "in the schema; in the definition; or with one call. The nearer goes first: call, then definition, then schema".
    Effect.gen(function* () {
      const notes = Collection.define(
        "notes",
        Schema.Struct({
          stock: Schema.Number.annotations({ [MergeRuleId]: "counter" }),
          sold: Schema.Number,
          text: Schema.String
        }),
        { merge: { fields: { sold: "counter" } } }
      )
      const it = yield* branched({ stock: 5, sold: 0, text: "a" }, { collections: [notes] })
      yield* it.main.update("x", { stock: 4, sold: 1 })
      yield* it.draft.update("x", { stock: 4, sold: 1 })
      yield* it.store.merge("draft", { rules: { notes: { fields: { text: "lines" } } } })
      const { sold, stock } = (yield* document(it.other, "notes", "x"))!
      assert.deepStrictEqual({ stock, sold }, { stock: 3, sold: 2 })
    })
  )

  it.live("of the call go before those of the definition, however the path is written", () =>
    // merging.md: "The nearer goes first: call, then definition, then schema".
    Effect.gen(function* () {
      const Prices = Schema.Struct({ prices: Schema.Struct({ eur: Schema.Number }) })
      const { store } = yield* storePair()
      const notes = store.collection(
        Collection.define("notes", Prices, { merge: { fields: { "prices.eur": "counter" } } })
      )
      yield* notes.insert({ prices: { eur: 1 } }, { id: "x" })
      yield* notes.update("x", { prices: { eur: 2 } })
      const found = yield* outcome(
        notes.update(
          "x",
          { prices: { eur: 3 } },
          { base: 1, rules: { fields: { prices: { fields: { eur: "whole" } } } } }
        )
      )
      assert.strictEqual(found._tag, "ConflictError")
    })
  )

  it.live("of the schema apply to a member if its sibling has a rule in the definition", () =>
    // merging.md: "The nearer goes first": for prices.eur only the schema says anything.
    Effect.gen(function* () {
      const Prices = Schema.Struct({
        prices: Schema.Struct({
          eur: Schema.Number.annotations({ [MergeRuleId]: "counter" }),
          usd: Schema.Number
        })
      })
      const { store } = yield* storePair()
      const notes = store.collection(
        Collection.define("notes", Prices, {
          merge: { fields: { prices: { fields: { usd: "counter" } } } }
        })
      )
      yield* notes.insert({ prices: { eur: 5, usd: 5 } }, { id: "x" })
      yield* notes.update("x", { prices: { eur: 4, usd: 4 } })
      const written = yield* notes.update("x", { prices: { eur: 4, usd: 4 } }, { base: 1 })
      assert.deepStrictEqual(written.prices, { eur: 3, usd: 3 })
    })
  )

  it("of sequences do not see a change in another spelling of a number", async () => {
    // merging.md: "Numbers are compared by value: a side that writes 10.0 for 10 has not changed it".
    const { parseLossless: parseSpelled } = await import("../../../src/domain/json/LosslessJson.js")
    const read = (text: string) => Either.getOrThrow(parseSpelled(new TextEncoder().encode(text)))
    for (const rule of ["whole", "sequence", { sequence: "byContent" }] as const) {
      const sides = { base: read('{"a":[10,1]}'), ours: read('{"a":[10.0,1]}'), theirs: read('{"a":[11,1]}') }
      const { conflicts } = Steps.runSync(mergingExact(sides, { fields: { a: rule } }))
      assert.deepStrictEqual(conflicts, [], JSON.stringify(rule))
    }
  })

  it.live("that settle a place keep it settled when onConflict decides another place", () =>
    // branches.md: "onConflict: 'theirs' // at each conflict that side's value; everything else is merged".
    Effect.gen(function* () {
      const it = yield* branched({ best: 1, name: "a" })
      yield* it.main.update("x", { best: 7, name: "b" })
      yield* it.draft.update("x", { best: 3, name: "c" })
      const rules: MergeRules = {
        settle: ({ ours, path, theirs }) =>
          path[0] === "best" ? { value: Math.max(ours as number, theirs as number) } : undefined
      }
      yield* it.store.merge("draft", { onConflict: "theirs", rules: { notes: rules } })
      const { best, name } = (yield* document(it.other, "notes", "x"))!
      assert.deepStrictEqual({ best, name }, { best: 7, name: "c" })
    })
  )

  it("with sameChange find no conflict in the metadata that both have", () => {
    // merging.md, Comparison with Dolt: "row added by both, different: fields that do not contradict each other are merged".
    const { conflicts } = mergeDocuments(
      {
        base: undefined,
        ours: { _id: "x", _rev: 1, a: 1 },
        theirs: { _id: "x", _rev: 1, b: 1 }
      },
      { sameChange: "conflict" }
    )
    assert.deepStrictEqual(conflicts, [])
  })
})

describe("a merge of branches", () => {
  it.live("of a broken file and a document keeps the revision and the times of the document", () =>
    // branches.md: a function returns "a document: its metadata is the store's"; `_rev` never goes back.
    Effect.gen(function* () {
      const it = yield* branched({ n: 1 })
      yield* it.main.update("x", { n: 2 })
      const kept = yield* it.main.update("x", { n: 3 })
      yield* put(it.remote, "draft", { "data/notes/x.json": "{ broken" })
      yield* it.store.merge("draft", { onConflict: () => ({ n: 4 }) })
      const now = (yield* document(it.other, "notes", "x"))!
      assert.deepInclude(now, { n: 4, _rev: 4, _created_at: kept._created_at })
    })
  )

  it.live("takes a side or a value for each field, and refuses a value that is not JSON", () =>
    // branches.md: `({ path }) => "ours"`, or `{ value }`, for each path.
    Effect.gen(function* () {
      const it = yield* branched({ a: 1, b: 1, c: 1, d: 1 })
      yield* it.main.update("x", { a: 2, b: 2, c: 2, d: 2 })
      yield* it.draft.update("x", { a: 3, b: 3, c: 3, d: 3 })
      const bad = [{ value: new Date(0) }, { value: Number.NaN }, { worth: 1 }, Option.some(1)]
      for (const settled of bad) {
        const found = yield* outcome(it.store.merge("draft", { onConflict: () => () => settled as never }))
        assert.strictEqual(found._tag, "ValidationError", JSON.stringify(settled))
      }
      yield* it.store.merge("draft", {
        onConflict: () => (conflict) => {
          const [name] = conflict.path
          if (name === "a") return "ours"
          if (name === "b") return "theirs"
          return { value: name === "c" ? [conflict.ours!, conflict.theirs!] : undefined }
        }
      })
      const now = (yield* document(it.other, "notes", "x"))!
      assert.deepInclude(now, { a: 2, b: 3, c: [2, 3] })
      assert.notProperty(now, "d")
    })
  )

  it.live("refuses a result of onConflict that is not a plain document", () =>
    // branches.md: the function returns a document, null or undefined (an async one on the Promise face alone).
    Effect.gen(function* () {
      const kinds: Array<string> = []
      const values = [
        Promise.resolve({ n: 9 }),
        new Date(0),
        new Map([["n", 9]]),
        { n: new Date(0) },
        { n: Number.NaN },
        "base",
        true
      ]
      for (const value of values) {
        const it = yield* branched({ n: 1 })
        yield* it.main.update("x", { n: 2 })
        yield* it.draft.update("x", { n: 3 })
        const found = yield* outcome(it.store.merge("draft", { onConflict: () => value as never }))
        const now = yield* textOf(it, "data/notes/x.json")
        kinds.push(
          `${found._tag}${found._tag === "Success" ? ` ${JSON.stringify({ ...JSON.parse(now!), _id: 0, _created_at: 0, _updated_at: 0 })}` : ""}`
        )
      }
      assert.deepStrictEqual(
        kinds,
        values.map(() => "ValidationError")
      )
    })
  )

  it.live("keeps a rule's garbage out of documents", () =>
    // merging.md: "Every change of either side is in the merged document or in a conflict".
    Effect.gen(function* () {
      const taken: Array<string> = []
      for (const [name, rules] of Object.entries({
        "a merger that returns no Option": { fields: { n: () => 5 } },
        "an unknown word": { settle: () => "their" },
        "an Option": { settle: () => Option.none() },
        "a promise": { settle: () => Promise.resolve("ours") }
      })) {
        const it = yield* branched({ n: 1, m: 1 })
        yield* it.main.update("x", { n: 2 })
        yield* it.draft.update("x", { n: 3 })
        const found = yield* outcome(it.store.merge("draft", { rules: { notes: rules as never } }))
        if (found._tag === "Success")
          taken.push(`${name}: n is ${String((yield* document(it.other, "notes", "x"))!["n"])}`)
      }
      assert.deepStrictEqual(taken, [])
    })
  )
})

describe("the merge driver", () => {
  const drive = (base: string | Uint8Array, ours: string | Uint8Array, theirs: string | Uint8Array) =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const names = Object.entries({ base, ours, theirs }).map(([name, content]) => {
        writeFileSync(join(directory, name), content)
        return join(directory, name)
      })
      const ran = yield* call(["merge-driver", ...names, "data/c/x.json"])
      return { ...ran, bytes: readFileSync(join(directory, "ours")) }
    })

  it.scopedLive("writes markers around every field that is in conflict", () =>
    // merging.md: "with a conflict it writes conflict markers around the fields".
    Effect.gen(function* () {
      const found = yield* drive(
        '{\n  "a": [\n    1,\n    2,\n    3\n  ]\n}\n',
        '{\n  "a": [\n    0,\n    2,\n    3\n  ]\n}\n',
        '{\n  "a": [\n    1,\n    2,\n    4\n  ]\n}\n'
      )
      assert.notStrictEqual(found.code, 0)
      assert.match(found.bytes.toString(), /<<<<<<< ours/, found.bytes.toString())
    })
  )

  it.scopedLive("keeps the bytes of texts that it does not understand", () =>
    // merging.md: the driver merges "as git merge-file does"; no side changed these bytes.
    Effect.gen(function* () {
      const latin = (text: string) => Buffer.from(text, "latin1")
      const found = yield* drive(
        latin('{"a": "\xe9",\n\n\n"b": 1}\n'),
        latin('{"a": "\xe9",\n\n\n"b": 2}\n'),
        latin('{"c": 1, "a": "\xe9",\n\n\n"b": 1}\n')
      )
      assert.strictEqual(found.bytes.toString("latin1"), '{"c": 1, "a": "\xe9",\n\n\n"b": 2}\n')
    })
  )
})

/** Two branches of a document that were merged into each other, each by its own decision. */
const crossed = (
  bodies: readonly [base: JsonObject, main: JsonObject, draft: JsonObject],
  decisions: readonly [inMain: (conflict: any) => any, inDraft: (conflict: any) => any],
  files = false
) =>
  Effect.gen(function* () {
    const it = yield* branched(bodies[0])
    yield* it.main.replace("x", bodies[1])
    yield* it.draft.replace("x", bodies[2])
    if (files) {
      yield* put(it.remote, "main", { README: "main" })
      yield* put(it.remote, "draft", { README: "draft" })
    }
    yield* it.store.createBranch("main-before")
    yield* it.store.merge("draft", { onConflict: decisions[0] })
    yield* it.store.merge("main-before", { into: "draft", onConflict: decisions[1] })
    return it
  })

describe("histories that cross", () => {
  it.live("never expose the mark of a conflict of merge bases", () =>
    // branches.md: "if not, it is a conflict without a `base`"; a mark of the merge's own is in no document.
    Effect.gen(function* () {
      const it = yield* crossed([{ n: 1 }, { n: 2 }, { n: 3 }], [() => "ours", () => "ours"], true)
      const seen: Array<any> = []
      const failed = yield* outcome(
        it.store.merge("draft", {
          onConflict: (conflict) => {
            seen.push(conflict)
            return undefined
          }
        })
      )
      assert.strictEqual(failed._tag, "ConflictError")
      const file = seen.find(({ kind }) => kind === "file")
      assert.notInclude(JSON.stringify(seen), "u0000conflict")
      assert.isUndefined(file.base)
    })
  )

  it.live("give a rule no mark as base", () =>
    // merging.md: a rule is given `({ base, ours, theirs })`, the values of documents.
    Effect.gen(function* () {
      const it = yield* crossed([{ n: 1 }, { n: 2 }, { n: 3 }], [() => "ours", () => "ours"])
      const rule: Array<unknown> = []
      yield* outcome(
        it.store.merge("draft", {
          rules: {
            notes: {
              fields: {
                n: (sides) => {
                  rule.push(Object.hasOwn(sides, "base") ? sides.base : "no base")
                  return Option.none()
                }
              }
            }
          }
        })
      )
      assert.notInclude(JSON.stringify(rule), "u0000conflict")
    })
  )

  it.live("that decided an object differently are a conflict there", () =>
    // branches.md: "if M1 and M2 decided the same there, nothing is asked; if not, it is a conflict".
    Effect.gen(function* () {
      const it = yield* crossed(
        [{ s: { w: 1 } }, { s: "none" }, { s: { w: 2 } }],
        [() => ({ s: { w: 2 } }), () => ({ s: { h: 5 } })]
      )
      const found = yield* outcome(it.store.merge("draft"))
      assert.strictEqual(found._tag, "ConflictError", yield* textOf(it, "data/notes/x.json"))
    })
  )
})

/** The files of a document of which each side changed another member, in the order in which the driver is given them. */
const disjoint = (directory: string) =>
  Object.entries({ o: '{"a":1,"b":1}', a: '{"a":2,"b":1}', b: '{"a":1,"b":2}' }).map(([name, text]) => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  })

describe("more of the driver", () => {
  it.scopedLive("loses no side of a file that only looks derived by a directory's name", () =>
    // merging.md: "Git calls merge-driver for documents that both sides changed": what it calls clean has both changes.
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const names = disjoint(directory)
      for (const path of ["data/notes/_index/x.json", "site/_manifest/x.json"]) {
        const ran = yield* call(["merge-driver", ...names, path])
        const text = readFileSync(join(directory, "a"), "utf8")
        assert.isTrue(
          ran.code !== 0 || (JSON.parse(text).a === 2 && JSON.parse(text).b === 2),
          `${path} ${text}`
        )
      }
    })
  )

  it.scopedLive("is set up for a root with a space", () =>
    // merging.md: "init --git-attributes writes .gitattributes"; "documents are merged by field".
    Effect.gen(function* () {
      const { execFileSync } = yield* Effect.promise(() => import("node:child_process"))
      const { call, directory } = yield* commandLine
      const work = join(directory, "work")
      execFileSync("git", ["init", "-q", work])
      for (const root of ["my data", "data[1]", "a#b"]) {
        const ran = yield* call(["init", "--git-attributes", "--clone", work, "--root", root])
        if (ran.code !== 0) continue
        const said = execFileSync("git", ["-C", work, "check-attr", "merge", "--", `${root}/notes/x.json`], {
          encoding: "utf8"
        })
        assert.match(said, /merge: chainstore/, root)
      }
    })
  )
})

describe.each(remotes)("branches on %s", (_name, layer) => {
  const on = <A>(test: (it: StorePair) => Effect.Effect<A, unknown>) =>
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* Store.make()
      yield* store.collection("notes").insert({ n: 1, m: 1 }, { id: "x" })
      yield* store.createBranch("draft")
      yield* test({ store, other: store, remote, repository: undefined as never })
    }).pipe(Effect.provide(Layer.fresh(layer)))

  it.live("are merged as their dry run says, where one has a file and the other a directory", () =>
    // branches.md: "store.merge('autumn', { dryRun: true }) // what it would do, and every conflict".
    on((it) =>
      Effect.gen(function* () {
        yield* put(it.remote, "main", { docs: "a", "data/other/y.json": '{"a":1}' })
        yield* put(it.remote, "draft", { "docs/guide.md": "b", "data/other": "b" })
        const dry = yield* outcome(it.store.merge("draft", { dryRun: true }))
        const found = yield* outcome(it.store.merge("draft"))
        assert.strictEqual(yield* textOf(it, "docs"), "a")
        assert.notStrictEqual(found._tag, "Defect", found.message)
        const isDryClean = dry._tag === "Success" && (dry.value as any).conflicts.length === 0
        assert.deepStrictEqual(
          { isDryClean, merge: found._tag },
          { isDryClean: false, merge: "ConflictError" },
          found.message
        )
      })
    )
  )
})

describe("a stock clone", () => {
  it.scopedLive("accepts a file name that begins with a dash", () =>
    // merging.md: Git calls `chainstore merge-driver %O %A %B`, with %P behind, for every document below the root.
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const names = disjoint(directory)
      const ran = yield* call(["merge-driver", ...names, "-notes/x.json"])
      assert.strictEqual(ran.code, 0, ran.err)
    })
  )

  it.scopedLive("refuses to resolve over a document that has conflict markers", () =>
    // merging.md: "It refuses while a document is in conflict, and names it."
    Effect.gen(function* () {
      const { execFileSync, spawnSync } = yield* Effect.promise(() => import("node:child_process"))
      const { mkdirSync } = yield* Effect.promise(() => import("node:fs"))
      const { call, directory } = yield* commandLine
      const env = {
        ...process.env,
        GIT_AUTHOR_NAME: "A",
        GIT_AUTHOR_EMAIL: "a@b",
        GIT_COMMITTER_NAME: "A",
        GIT_COMMITTER_EMAIL: "a@b"
      }
      const work = join(directory, "work")
      execFileSync("git", ["init", "-q", "-b", "main", work])
      mkdirSync(join(work, "data/notes"), { recursive: true })
      writeFileSync(join(work, "data/_chainstore.json"), '{"format":1,"indexes":{"notes":["n"]}}')
      const git = (...line: Array<string>) =>
        spawnSync("git", ["-C", work, ...line], { env, encoding: "utf8" })
      const write = (text: string) => writeFileSync(join(work, "data/notes/x.json"), text)
      write('{"n":1}\n')
      git("add", "-A")
      git("commit", "-qm", "1")
      git("checkout", "-qb", "draft")
      write('{"n":2}\n')
      git("commit", "-qam", "2")
      git("checkout", "-q", "main")
      write('{"n":3}\n')
      git("commit", "-qam", "3")
      git("merge", "draft")
      git("add", "-A")
      const staged = yield* call(["resolve", "--clone", work])
      assert.notStrictEqual(staged.code, 0, `${staged.out}\n${git("show", ":data/notes/x.json").stdout}`)
      assert.match(staged.err, /x\.json/)
    })
  )
})

describe("a decision", () => {
  it.live(
    "on local repositories can be written to by onConflict",
    () =>
      // merging.md, of onConflict: "may return an Effect"; "No other writer waits for it".
      Effect.gen(function* () {
        const store = yield* Store.make()
        const it = { store }
        yield* store.collection("notes").insert({ n: 1 }, { id: "x" })
        yield* store.createBranch("draft")
        yield* it.store.collection("notes").update("x", { n: 2 })
        yield* it.store.onBranch("draft").collection("notes").update("x", { n: 3 })
        let asked = 0
        const found = yield* outcome(
          it.store
            .merge("draft", {
              onConflict: () =>
                Effect.gen(function* () {
                  if (asked++ === 0) yield* Effect.orDie(it.store.collection("log").insert({ decided: "x" }))
                  return "theirs" as const
                })
            })
            .pipe(
              Effect.timeoutFail({
                duration: Duration.seconds(8),
                onTimeout: () => ({ _tag: "Hangs", message: "the merge hangs" })
              })
            ) as Effect.Effect<unknown, any>
        )
        assert.strictEqual(found._tag, "Success", found.message)
      }).pipe(Effect.provide(Layer.fresh(local))),
    20_000
  )
})
