import { assert, it } from "@effect/vitest"
import { nearest } from "../../../src/domain/text/NearestName.js"

it("the name that was meant is the one with the fewest changed letters, whatever its case and its marks", () => {
  const options = ["limit", "fetchSize", "onInvalid", "branch"]
  for (const [given, meant] of [
    ["limt", "limit"],
    ["limitt", "limit"],
    ["lomit", "limit"],
    ["imit", "limit"],
    ["fetch_size", "fetchSize"],
    ["Branch", "branch"],
    ["$limit", "limit"],
    ["oninvlaid", "onInvalid"]
  ] as const)
    assert.strictEqual(nearest(given, options), meant, given)
})

it("a beginning of at least three letters means the name that it begins, in either direction", () => {
  assert.strictEqual(nearest("max", ["maxSeconds", "may"]), "maxSeconds")
  assert.strictEqual(nearest("branches", ["bronches", "branch"]), "branch")
  assert.isUndefined(nearest("on", ["onInvalid"]))
  assert.isUndefined(nearest("seconds", ["maxSeconds"]))
  // A name that is equal but for its marks is nearer than one that it begins.
  assert.strictEqual(nearest("max_s", ["maxSeconds", "maxS"]), "maxS")
})

it("no name is meant where more than one letter of three differs", () => {
  assert.strictEqual(nearest("abcdefghi", ["xyzdefghi"]), "xyzdefghi")
  assert.isUndefined(nearest("abcdefghi", ["wxyzefghi"]))
  assert.strictEqual(nearest("ab", ["ax"]), "ax")
  assert.isUndefined(nearest("ab", ["xy"]))
  assert.isUndefined(nearest("anything", []))
})

it("of two names that are equally near the first is meant", () => {
  assert.strictEqual(nearest("cat", ["bat", "cut"]), "bat")
  assert.strictEqual(nearest("cat", ["cut", "bat"]), "cut")
})
