import { mutant } from "../bundled.js"

const merge = "domain/merge/MergeDocuments.ts"
const writes = "store/internal/write/MergeWrites.ts"
const attempts = "store/internal/write/MergeAttempt.ts"
const base = "store/internal/write/BaseVersion.ts"
const levels = "store/internal/write/RuleLevels.ts"
const rules = "domain/merge/MergeRules.ts"

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
  ]),
  mutant(
    "rules.settle is given the last name of a path",
    "`rules.settle` decides each conflict by its path.",
    [
      merge,
      "settlementIn(settle(found), path, ",
      "settlementIn(settle({ ...found, path: found.path.slice(-1) }), path, "
    ]
  ),
  mutant("* takes precedence over a rule of its own", "`*` matches every member without a rule of its own.", [
    rules,
    '(named(node, name) ?? named(node, "*") ?? without)',
    '(named(node, "*") ?? named(node, name) ?? without)'
  ]),
  mutant(
    "a rule of a call hides other rules of the same object",
    "Rules of the call take precedence, then those of the definition, then those of the schema.",
    [levels, "if (!hasFields(nearer) || !hasFields(farther)) return nearer", "return nearer"]
  ),
  mutant(
    "counters that both sides add conflict",
    "what each side added is added, exactly",
    [merge, "const start = base === undefined ? 0 : base", "const start = base"],
    [
      merge,
      'if (rule === "counter" && isNumber(start) &&',
      'if (rule === "counter" && start !== undefined && isNumber(start) &&'
    ]
  ),
  mutant("edit ignores its rules", "Rules of the call take precedence", [
    writes,
    'const given = yield* beginMergeWrite(target, "edit", id, options)',
    'const given = yield* beginMergeWrite(target, "edit", id, { message: options?.message })'
  ]),
  mutant("a key may occur twice", "A list in which a key is missing or occurs twice is merged as a whole", [
    "domain/merge/ListMerge.ts",
    "    if (items.has(text)) return undefined\n",
    ""
  ]),
  mutant("items that both add are ours first", "Items that both add at one place are ordered by key", [
    "domain/merge/ListMerge.ts",
    "[left.get(anchor) ?? [], right.get(anchor) ?? []].sort(compareRuns).flat()",
    "[left.get(anchor) ?? [], right.get(anchor) ?? []].flat()"
  ]),
  mutant(
    "insertions at one place are ours first",
    "the same, but two insertions at one place are both kept, in the order of their content",
    ["domain/merge/SequenceMerge.ts", "...middles.sort(compareLists).flat()", "...middles.flat()"]
  ),
  mutant(
    "changes that touch do not conflict",
    "two different insertions at one place, or changes that touch, are a conflict",
    [
      "domain/merge/ListComparison.ts",
      "next !== undefined && next.start <= end;",
      "next !== undefined && (next.start < end || next.start === start);"
    ]
  ),
  mutant(
    "a conflict of onConflict: fail has no merge",
    '`"fail"`: a `ConflictError`, also where a merge would be clean.',
    [
      writes,
      "return yield* mergeConflict(writing, from, found, merge)",
      "return yield* mergeConflict(writing, from, found, merge === undefined ? merge : undefined)"
    ]
  ),
  mutant(
    "the newest of two versions with one revision is the base",
    "If two versions have the revision (because of a manual edit or a merge of branches), the write fails with a `ValidationError`, even if one of them is stored now",
    [
      base,
      "return isOne ? found : yield* ambiguous",
      "return isOne || Chunk.isNonEmpty(candidates) ? found : yield* ambiguous"
    ]
  ),
  mutant(
    "a deletion since the base has theirs",
    "A document that was deleted since the base is a `ConflictError` whose `merge` has no `theirs`.",
    [attempts, "  base,\n  ours,\n  document: ours,", "  base,\n  ours,\n  theirs: {},\n  document: ours,"]
  ),
  mutant("two orders of a keyed list", "another order given by both is a conflict", [
    "domain/merge/ListMerge.ts",
    "? { ours: listIn(keptOf(ours)), theirs: listIn(keptOf(theirs)) }",
    "? { ours: listIn(keptOf(ours)), theirs: undefined }"
  ]),
  mutant("counter that both add", "what each side added is added, exactly", [
    merge,
    "const start = base === undefined ? 0 : base",
    "const start = base"
  ]),
  mutant("recorded rules take precedence", "and have the lowest precedence", [
    attempts,
    "rulesOfLevels(rules, { fields: recorded })",
    "rulesOfLevels({ fields: recorded }, rules)"
  ]),
  mutant(
    "newest of two versions with one revision",
    "If two versions have the revision (because of a manual edit or a merge of branches), the write fails with a `ValidationError`, even if one of them is stored now",
    [base, "return isOne ? found : yield* ambiguous", "return found"]
  ),
  mutant("edit settles conflicts", applied, [
    writes,
    'sameChange: "conflict" as const, settle: undefined }',
    'sameChange: "conflict" as const }'
  ]),
  mutant("their other spelling of a number is a change", "Numbers are compared by value", [
    "domain/merge/MergeDocuments.ts",
    "    if (yield* this.values.isSame(base, theirs)) return ours\n",
    ""
  ])
]
