import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import * as fc from "fast-check"
import {
  CannotMergeError,
  combineMergers,
  trimergeEquality,
  trimergeJsonDeepEqual,
  trimergeJsonObject
} from "trimerge"
import type { JsonObject } from "../../src/domain/json/Json.js"
import { type DocumentSides, mergeDocuments } from "../../src/domain/merge/index.js"
import { brokenRule, inventedValues, lostChanges, rules, triple } from "./mergeTriples.js"

const trimerge = combineMergers(trimergeEquality, trimergeJsonDeepEqual, trimergeJsonObject)

/** What trimerge makes of the sides; undefined where it finds a conflict. It drops members that are called `__proto__`. */
const byTrimerge = ({ base, ours, theirs }: DocumentSides): unknown => {
  try {
    return trimerge(base ?? {}, ours, theirs) as unknown
  } catch (error) {
    if (error instanceof CannotMergeError) return undefined
    throw error
  }
}

const holdsProto = (sides: DocumentSides): boolean => JSON.stringify(sides).includes("__proto__")

const withoutStamps = (sides: DocumentSides): DocumentSides => ({ ...sides, base: sides.base ?? {} })

/** The laws of merging, of as many random triples as are wanted. Returns how many of them had no conflict. */
export const checkMergeLaws = (numRuns: number): { readonly clean: number; readonly compared: number } => {
  let [clean, compared] = [0, 0]
  fc.assert(
    fc.property(triple, fc.boolean(), (sides, hasRules) => {
      const given = hasRules ? rules : {}
      const merged = mergeDocuments(sides, given)
      const swapped = mergeDocuments({ ...sides, ours: sides.theirs, theirs: sides.ours }, given)
      assert.strictEqual(swapped.conflicts.length, merged.conflicts.length)
      assert.deepStrictEqual(
        new Set(swapped.conflicts.map(({ path }) => JSON.stringify(path))),
        new Set(merged.conflicts.map(({ path }) => JSON.stringify(path)))
      )
      if (!hasRules) {
        assert.deepStrictEqual(lostChanges(sides, merged), [])
        assert.deepStrictEqual(inventedValues(sides, merged), [])
      }
      const { base, ours } = sides
      assert.deepStrictEqual(mergeDocuments({ base: ours, ours, theirs: ours }, given), {
        document: ours,
        conflicts: []
      })
      assert.deepStrictEqual(mergeDocuments({ base, ours, theirs: ours }), { document: ours, conflicts: [] })
      if (merged.conflicts.length > 0) return
      clean++
      assert.deepStrictEqual(swapped.document, merged.document)
      if (hasRules) assert.isUndefined(brokenRule(sides, merged))
      else if (!holdsProto(sides)) {
        const other = byTrimerge(withoutStamps(sides))
        if (other === undefined) return
        compared++
        assert.deepStrictEqual(merged.document, other)
      }
    }),
    { numRuns }
  )
  return { clean, compared }
}

const flat = fc.dictionary(
  fc.constantFrom(..."abcdefghijkl"),
  fc.oneof(fc.nat(3), fc.constantFrom("x", "y", null, true)),
  { maxKeys: 10 }
) as fc.Arbitrary<JsonObject>

const text = (document: JsonObject): string =>
  `${JSON.stringify(document, Object.keys(document).sort(), 2)}\n`

/** Documents without metadata, one field a line: what Git merges without a conflict, we merge to the same. */
export const checkAgainstGit = (numRuns: number): number => {
  const directory = mkdtempSync(join(tmpdir(), "chainstore-merge-file-"))
  let compared = 0
  try {
    const side = (base: JsonObject) =>
      fc
        .array(fc.tuple(fc.constantFrom(..."abcdefghijkl"), fc.option(fc.nat(3), { nil: undefined })), {
          maxLength: 2
        })
        .map(
          (changes) =>
            Object.fromEntries(
              [...new Map<string, unknown>([...Object.entries(base), ...changes])].filter(
                ([, value]) => value !== undefined
              )
            ) as JsonObject
        )
    const sides = flat.chain((base) =>
      fc.record({ base: fc.constant(base), ours: side(base), theirs: side(base) })
    )
    fc.assert(
      fc.property(sides, (given) => {
        const path = (name: string) => join(directory, name)
        for (const name of ["base", "ours", "theirs"] as const) writeFileSync(path(name), text(given[name]))
        try {
          execFileSync("git", ["merge-file", "-q", path("ours"), path("base"), path("theirs")], {
            stdio: "pipe"
          })
        } catch (error) {
          // The number of conflicts.
          if ((error as { readonly status?: number }).status! > 127) throw error
          return
        }
        const merged = mergeDocuments(given)
        if (merged.conflicts.length > 0) return
        compared++
        assert.deepStrictEqual(JSON.parse(readFileSync(path("ours"), "utf8")), merged.document)
      }),
      { numRuns }
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  return compared
}
