import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Option, Schema } from "effect"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { MergeRuleId, type MergeSides } from "../../../src/domain/merge/index.js"
import type { MergeOptions } from "../../../src/store/Branches.js"
import { Collection } from "../../../src/store/index.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { remotes } from "../core/Remotes.js"

const Price = Schema.Struct({ from: Schema.Number, to: Schema.Number }).pipe(
  Schema.filter(({ from, to }) => from <= to)
)

/** A store with a branch `draft`, and a document `x` that both branches have changed by hand. */
const changedByHand = (base: string, ours: string, theirs: string, options?: StoreOptions) =>
  Effect.gen(function* () {
    const remote = yield* GitRemote
    const put = (branch: string, text: string) =>
      Effect.flatMap(remote.head(branch), (head) =>
        remote.commit(branch, head, {
          message: "by hand",
          changes: [{ _tag: "Put", path: "data/notes/x.json", content: Buffer.from(text) }]
        })
      )
    const store = yield* Store.make(options)
    yield* put("main", base)
    yield* store.createBranch("draft")
    yield* put("main", ours)
    yield* put("draft", theirs)
    const text = Effect.gen(function* () {
      const head = Option.getOrThrow(yield* remote.head("main"))
      const { content } = Option.getOrThrow(yield* remote.file(head, "data/notes/x.json"))
      return Buffer.from(content).toString()
    })
    return { store, text }
  })

const Counted = Schema.Struct({
  stock: Schema.Number.annotations({ [MergeRuleId]: "counter" }),
  title: Schema.String
})
const counted = (stock: string, title: string) => `{ "stock": ${stock}, "title": "${title}" }\n`
const sums = [
  ["9007199254740993", "9007199254741003", "9007199254741005", "9007199254741015"],
  // JavaScript can represent all three, but not the sum.
  ["9007199254740990", "9007199254740992", "9007199254740991", "9007199254740993"],
  ["0.1234567890123456789", "1.1234567890123456789", "2.1234567890123456789", "3.1234567890123456789"]
] as const

for (const [name, layer] of remotes) {
  describe(`a document of a merge that the caller decides, in ${name}`, () => {
    it.scopedLive(
      "has a revision above both sides, also if it is the side of a merge that breaks the schema",
      () =>
        Effect.gen(function* () {
          const store = yield* Store.make({ collections: [Collection.define("prices", Price)] })
          const main = store.collection("prices")
          yield* main.insert({ from: 1, to: 9 }, { id: "x" })
          yield* store.createBranch("draft")
          yield* main.update("x", { to: 5 })
          yield* store.onBranch("draft").collection("prices").update("x", { from: 7 })
          const seen = Option.getOrThrow(yield* main.get("x"))
          yield* store.merge("draft", { onConflict: "theirs" })
          const merged = Option.getOrThrow(yield* main.get("x"))
          assert.deepInclude(merged, { from: 7, to: 9 })
          const late = yield* Effect.either(main.update("x", { from: 0, to: 4 }, { expectedRev: seen._rev }))
          assert.isTrue(Either.isLeft(late), "the update did not see that the document had changed")
          assert.strictEqual(merged._rev, seen._rev + 1)
        }).pipe(Effect.provide(layer))
    )

    it.scopedLive("is refused if a number in it would lose its digits, as in an update", () =>
      Effect.gen(function* () {
        const of = (title: string) => `{ "line": { "account": 12345678901234567890, "title": "${title}" } }\n`
        const { store, text } = yield* changedByHand(of("base"), of("ours"), of("theirs"))
        const refusal = (options: MergeOptions) =>
          Effect.map(Effect.flip(store.merge("draft", options)), ({ _tag, message }) => [_tag, message])
        const updated = yield* Effect.flip(store.collection("notes").update("x", { title: "none" }))
        const problem =
          "the number 12345678901234567890 at line.account cannot be written again without changing it"
        assert.deepStrictEqual(
          [updated._tag, updated.message],
          ["ValidationError", `data/notes/x.json: ${problem}`]
        )
        assert.deepStrictEqual(
          yield* refusal({
            onConflict: (conflict) =>
              conflict.kind === "changed" ? { ...conflict.ours, title: "none" } : undefined
          }),
          ["ValidationError", `data/notes/x.json: ${problem}`]
        )
        const both = ({ ours }: MergeSides) => Option.some({ ...(ours as JsonObject), title: "both" })
        assert.deepStrictEqual(yield* refusal({ rules: { notes: { fields: { line: both } } } }), [
          "ValidationError",
          "notes/x: a merge rule failed: the rule for line returned a value that changes the number 12345678901234567890: " +
            "it must return an Option of the merged value, or Option.none() for a conflict"
        ])
        assert.strictEqual(yield* text, of("ours"))
        // A decision about the place in conflict keeps the number.
        yield* store.merge("draft", { onConflict: () => () => ({ value: "both" }) })
        assert.include(yield* text, '"account": 12345678901234567890,\n    "title": "both"')
      }).pipe(Effect.provide(layer))
    )

    for (const [base, ours, theirs, sum] of sums) {
      it.scopedLive(`has the exact sum of a counter, or is refused: ${sum}`, () =>
        Effect.gen(function* () {
          const merged = <T extends string>(title: Schema.Schema<T>, ourTitle: string, theirTitle: string) =>
            Effect.gen(function* () {
              const { store, text } = yield* changedByHand(
                counted(base, "base"),
                counted(ours, ourTitle),
                counted(theirs, theirTitle),
                { collections: [Collection.define("notes", Schema.Struct({ ...Counted.fields, title }))] }
              )
              const kinds: Array<string> = []
              const result = yield* Effect.either(
                store.merge("draft", {
                  onConflict: (conflict) => {
                    kinds.push(conflict.kind)
                    return "document" in conflict
                      ? { ...(conflict.document as JsonObject), title: "both" }
                      : undefined
                  }
                })
              )
              const problem = Either.isLeft(result) ? result.left.message : undefined
              return { kinds, problem, text: yield* text }
            }).pipe(Effect.provide(Layer.fresh(layer)))
          const clean = yield* merged(Schema.String, "base", "base")
          assert.deepStrictEqual(clean.kinds, [])
          assert.include(clean.text, `"stock": ${sum},`)
          const problem = `data/notes/x.json: the number ${sum} at stock cannot be written again without changing it`
          const changed = yield* merged(Schema.String, "ours", "theirs")
          assert.deepStrictEqual([changed.kinds, changed.problem], [["changed"], problem])
          const invalid = yield* merged(Schema.Literal("both"), "base", "base")
          assert.deepStrictEqual([invalid.kinds, invalid.problem], [["invalid"], problem])
        })
      )
    }
  })
}
