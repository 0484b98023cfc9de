import { mutant } from "../bundled.js"

const merge = "domain/merge/MergeDocuments.ts"
const writes = "store/internal/write/MergeWrites.ts"
const attempts = "store/internal/write/MergeAttempt.ts"
const base = "store/internal/write/BaseVersion.ts"

const kept =
  "changes of different fields are both kept, and a change of one field by both is a conflict, which is returned as data."
const found = "All conflicts are found, not only the first one."
const applied =
  "if both changed one field, even to the same value, the function is applied again to the stored document"
const holds = "`_rev` rises by one, and the schema and unique indexes hold for the merged document."
const named = "is searched in the history of the branch, newest versions first"

/** Faults of merges, and of writes that merge. */
export const merging = [
  mutant("a merge forgets what others changed", kept, [
    merge,
    "if (yield* this.isSpelledAlike(base, ours)) return theirs\n    if (yield* this.isSpelledAlike(base, theirs)) return ours\n    const { rule }",
    "if (yield* this.isSpelledAlike(base, ours)) return ours\n    if (yield* this.isSpelledAlike(base, theirs)) return ours\n    const { rule }"
  ]),
  mutant("a merge hides its conflicts", found, [
    merge,
    "if (settled === undefined) this.conflicts.push(found)",
    "if (settled === null) this.conflicts.push(found)"
  ]),
  mutant("a merge tells its first conflict alone", found, [
    merge,
    "if (settled === undefined) this.conflicts.push(found)",
    "if (settled === undefined && this.conflicts.length === 0) this.conflicts.push(found)"
  ]),
  mutant("an edit takes equal changes for one", applied, [
    writes,
    'sameChange: "conflict" as const',
    'sameChange: "once" as const'
  ]),
  mutant("a merged document need not fit", holds, [
    attempts,
    "const document = yield* codec.validate(place, found, merge.document)",
    "const document = merge.document"
  ]),
  mutant("a base is the version that is stored", named, [
    base,
    "Option.filter(version, ({ rev }) => rev === wanted)",
    "Option.filter(version, ({ rev }) => rev >= wanted)"
  ])
]
