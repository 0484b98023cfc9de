import { mutant } from "../bundled.js"

const plan = "store/internal/merge/MergePlan.ts"
const unit = "store/internal/merge/MergeEdit.ts"
const items = "store/internal/merge/MergeItems.ts"
const settings = "store/internal/merge/MergeBranches.ts"
const bases = "git/MergeBases.ts"
const compare = "store/internal/merge/BranchCompare.ts"
const creation = "store/internal/merge/Branches.ts"
const content = "store/internal/merge/MergeContent.ts"
const decisions = "store/internal/merge/MergeDecisions.ts"

const derived =
  "They are derived from the merged documents, in the same commit, and unique indexes are checked as in any write"
const told = "A conflict fails the merge with a `ConflictError`. Its `unmerged` has every conflict"
const parents =
  "The `merges` of the commit become its further parents; a merged commit that is not in the repository is a `ValidationError`."
const common =
  "All best common ancestors of two commits, ordered by id. Criss-cross histories have several, unrelated histories have none."

/** Faults of branches and of their merge. */
export const branches = [
  mutant("a merge forgets documents that only they changed", derived, [
    plan,
    "...taken.map(({ after,",
    "...taken.slice(1).map(({ after,"
  ]),
  mutant("a merge leaves indexes as they were", derived, [
    unit,
    "if (indexes.size > 0 || manifest !== undefined) derived.add(collection)",
    "if (indexes.size > 9 && manifest !== undefined) derived.add(collection)"
  ]),
  mutant("a merge has one parent", parents, [
    "git/CommitDraft.ts",
    "Option.toArray(Option.map(head, ({ commit }) => commit)), ...merges]",
    "Option.toArray(Option.map(head, ({ commit }) => commit)), ...merges.slice(9)]"
  ]),
  mutant("a merge of branches overwrites ours", told, [
    items,
    "if (own === undefined) {",
    "if (own === undefined || change.document !== undefined) {"
  ]),
  mutant("a merge of branches goes on in spite of conflicts", told, [
    settings,
    "if (plan.unmerged.length > 0) return yield* unmergedError(plan.unmerged)",
    "if (plan.unmerged.length > 99) return yield* unmergedError(plan.unmerged)"
  ]),
  mutant("one merge base is enough", common, [
    bases,
    "return found.sort(compareCodePoints)",
    "return found.sort(compareCodePoints).slice(0, 1)"
  ]),
  mutant(
    "differences are in order of id",
    "The documents that differ between two branches, tags or commits, by collection and id.",
    [
      compare,
      "compareCodePoints(nameOfDocument(one), nameOfDocument(other))",
      "compareCodePoints(one.id, other.id) || compareCodePoints(nameOfDocument(one), nameOfDocument(other))"
    ]
  ),
  mutant(
    "createBranch returns the store's head",
    "Creates a branch, and returns the commit at which it starts.",
    [
      creation,
      "    return at.commit\n",
      "    return (yield* branchHead(core, operation, core.snapshot())).commit\n"
    ]
  ),
  mutant(
    "a dry run also lists conflicts that onConflict resolves",
    "The conflicts: with `dryRun` those that would prevent the merge, otherwise those that `onConflict` resolved.",
    [
      settings,
      "return { ...found, conflicts: plan.unmerged }",
      "return { ...found, conflicts: [...plan.decided, ...plan.unmerged] }"
    ]
  ),
  mutant(
    "a document that resolves a conflict keeps its own metadata",
    "another document, to which the store adds its metadata",
    [
      content,
      "encoded({ ...withoutMetadata(document), ...metadataOf(one), ...metadata, _id: id })",
      "encoded({ ...withoutMetadata(document), ...metadataOf(one), ...metadata, ...document, _id: id })"
    ]
  ),
  mutant("compare ignores against", 'with `{ against: "first" }` it compares the two as they are.', [
    compare,
    'const before = against === "first" ? first : yield* mergeBase(core, first, after)',
    'const before = against === "first" && a === b ? first : yield* mergeBase(core, first, after)'
  ]),
  mutant(
    "a merge ignores fastForward",
    "Whether a target without commits of its own is fast-forwarded. Default true.",
    [
      plan,
      "if (bases.includes(ours.commit) && options.fastForward !== false)",
      "if (bases.includes(ours.commit))"
    ]
  ),
  mutant(
    "a merge ignores its collections",
    "Definitions whose schemas the merged documents must match, in addition to the store's option `collections`.",
    [
      settings,
      "[...(core.options.collections ?? []), ...(options.collections ?? [])]",
      "[...(core.options.collections ?? [])]"
    ]
  ),
  mutant(
    "a merge ignores its rules",
    "Merge rules by collection. They take precedence over those of definitions and schemas.",
    [settings, "        options.rules\n", "        undefined\n"]
  ),
  mutant("onConflict is called twice for a conflict", "it is called once for each conflict", [
    "store/internal/merge/MergeResolutions.ts",
    "Effect.map(asked(conflict), (resolution)",
    "Effect.map(Effect.zipRight(asked(conflict), asked(conflict)), (resolution)"
  ]),
  mutant("null keeps our document", "`null` to delete the document", [
    decisions,
    'decision: { _tag: "File", file: undefined } })',
    'decision: side("ours") })'
  ]),
  mutant(
    "a merged document may break its schema",
    "the merged document breaks the schema of its collection | a conflict, `invalid`",
    [
      decisions,
      "        broken === undefined\n",
      '        broken === undefined || broken.kind === "invalid"\n'
    ]
  ),
  mutant(
    "two changes of one setting are ours",
    "both changed one setting of `_chainstore.json` | a conflict, `setting`",
    [
      plan,
      'if (resolution !== "ours" && resolution !== "theirs") unmerged.push(conflict)',
      'if (resolution !== "ours" && resolution !== "theirs") decided.push(conflict)'
    ]
  ),
  mutant(
    "conflicts of a merge exchange the sides",
    "`conflicts` lists documents with expected and actual versions",
    [settings, "expected: shown(theirs), actual: shown(ours)", "expected: shown(ours), actual: shown(theirs)"]
  ),
  mutant("a store for reading creates branches", "writes fail with `AuthError`", [
    creation,
    "    if (core.options.readOnly) return yield* readOnlyError(operation)\n    const wrong = branchError(operation, name)\n    if (wrong !== undefined) return yield* wrong\n    const at =",
    "    const wrong = branchError(operation, name)\n    if (wrong !== undefined) return yield* wrong\n    const at ="
  ]),
  mutant("a store for reading deletes branches", "writes fail with `AuthError`", [
    creation,
    "    if (core.options.readOnly) return yield* readOnlyError(operation)\n    const wrong = branchError(operation, name)\n    if (wrong !== undefined) return yield* wrong\n    if (name",
    "    const wrong = branchError(operation, name)\n    if (wrong !== undefined) return yield* wrong\n    if (name"
  ]),
  mutant("mode is always ours", "The content and the mode of a file are merged separately, as in Git", [
    items,
    "const mode = mergedValue(base?.mode, ours.mode, theirs.mode) ?? (document && ours.mode)",
    "const mode = ours.mode"
  ]),
  mutant("their removal of a setting", "at each conflict that side's value; everything else is merged", [
    plan,
    "if (theirs === undefined) merged.values.delete(name)\n          else merged.values.set(name, theirs)",
    "if (theirs !== undefined) merged.values.set(name, theirs)"
  ]),
  mutant(
    "decided document skips its schema",
    "the merged document breaks the schema of its collection | a conflict, `invalid`",
    [decisions, "written(settled.merge.content, conflict, true)", "made(settled.merge.content, conflict)"]
  ),
  mutant("branch above another one", "because Git does not allow a branch below another one", [
    "git/memory/Engine.ts",
    "if (!isAbove && !other.startsWith(`${made}/`)) continue",
    "if (!isAbove) continue"
  ]),
  mutant("old decision for a changed conflict", "again for a conflict that changed meanwhile", [
    "store/internal/merge/MergeResolutions.ts",
    "const key = JSON.stringify(conflict)",
    "const key = conflict.path"
  ]),
  mutant("revert over a submodule", "a revert lists such a document in `skipped`", [
    "store/internal/write/Revert.ts",
    "isReadable(document) && !isReplaced(document)",
    "isReadable(document)"
  ]),
  mutant(
    "shard settings of two branches may differ",
    "`ValidationError`: give both branches the same first",
    [
      plan,
      "if (!sameLayout(settings.settings, other.settings) &&",
      "if (operation === undefined && !sameLayout(settings.settings, other.settings) &&"
    ]
  ),
  mutant(
    "a resolution may round a number",
    "would change the digits of a number that JavaScript cannot represent",
    [content, "return lost === undefined ? content", "return lost !== null ? content"]
  )
]
