import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { MergeRule } from "../../domain/merge/index.js"
import { nameOf } from "./StoreBranchLaws.js"
import { pushTo, textAt } from "./StoreForeignCommit.js"
import { law, promiseOf } from "./StoreLaw.js"

const merging = promiseOf("merging")

/** Numbers of a document as they are written, by the names of the fields. */
const spelled = (text: string | null) =>
  Object.fromEntries([...(text ?? "").matchAll(/"(\w+)":\s*(-?[\d.eE+-]+)/g)].map(([, name, n]) => [name, n]))

/** Numbers are compared by their values and written as they were, also if JavaScript has no such number. */
export const mergedNumbers = law(
  "mergedNumbers",
  merging(
    "a merge keeps every digit, and knows equal numbers",
    "lists-texts-and-numbers",
    "Numbers are compared by value: a side that writes `10.0` for `10` has not changed it. A number that JavaScript cannot represent keeps all its digits in a merge."
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, expectFailure, head, people, root, store } = given
      const push = pushTo(given)
      const document = (id: string, numbers: string) => `{"_id":"${id}","_rev":1,${numbers}}\n`
      const [big, bigger, other] = ["12345678901234567891", "12345678901234567893", "12345678901234567897"]
      // A float has no such digits, although they are few.
      const [short, shorter] = ["9.700747204989683", "9.700747204989684"]
      yield* push(branch, {
        "people/both.json": document(
          "both",
          `"big":${big},"ten":10,"own":10,"short":${shorter},"count":9007199254740993,"f":${big},"g":${big}`
        ),
        "people/plain.json": document("plain", '"ten":10,"zero":0,"n":1')
      })
      const base = Option.getOrThrow(yield* people.version("plain"))
      const name = nameOf(root, "numbers")
      yield* store.createBranch(name)
      yield* push(name, {
        "people/both.json": document(
          "both",
          `"big":${big},"ten":11,"own":10.0,"short":${short},"count":9007199254740997,"f":${other},"g":${other}`
        )
      })
      yield* push(branch, {
        "people/both.json": document(
          "both",
          `"big":${bigger},"ten":1e1,"own":11,"short":${shorter},"count":9007199254740995,"f":${bigger},"g":${bigger}`
        ),
        "people/plain.json": document("plain", '"ten":10.0,"zero":0e3,"n":2')
      })
      yield* people.update("plain", { ten: 11, zero: 1 }, { base })
      const written = spelled(yield* textAt(given, branch, "people/plain.json"))
      yield* expectEqual("a write with a base", written, { _rev: "2", ten: "11", zero: "1", n: "2" })
      const before = yield* head
      const merge = (f: MergeRule) =>
        store.merge(name, {
          rules: { people: { fields: { count: "counter", f } } },
          onConflict: () => () => "theirs"
        })
      const rounded = merge(({ ours }) => Option.some(ours))
      yield* expectFailure("a function whose result was rounded", rounded, "ValidationError")
      yield* expectEqual("nothing was written", yield* head, before)
      yield* merge(() => Option.some(1))
      yield* expectEqual("a merge of branches", spelled(yield* textAt(given, branch, "people/both.json")), {
        _rev: "2",
        big: bigger,
        ten: "11",
        own: "11",
        short,
        count: "9007199254740999",
        f: "1",
        g: other
      })
    }),
  { shardDepth: 0 }
)
