import { mutant } from "../bundled.js"

const plan = "store/internal/merge/MergePlan.ts"
const unit = "store/internal/merge/MergeEdit.ts"
const items = "store/internal/merge/MergeItems.ts"
const settings = "store/internal/merge/MergeBranches.ts"
const bases = "git/MergeBases.ts"

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
  ])
]
