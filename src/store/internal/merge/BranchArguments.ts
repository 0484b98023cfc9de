import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type MergeRules, mergeRulesProblem } from "../../../domain/merge/MergeRules.js"
import { type FieldsOf, flag, kind, maybe, oneOf, person, reader, text } from "../../../domain/Options.js"
import type { ValidationError } from "../../../domain/StoreError.js"
import type { CompareOptions, CreateBranchOptions, MergeOptions } from "../../Branches.js"
import { type CollectionDefinition, isDefinition } from "../../CollectionDefinition.js"

/** Options of operations that are loaded later, which are judged there: a page that does not use them does not carry this. */
export const optionsOf = <Fields extends Schema.Struct.Fields>(fields: Fields) => {
  const read = reader(Schema.UndefinedOr(Schema.Struct(fields)) as unknown as Schema.Schema<any, any>)
  return (operation: string, given: unknown): Effect.Effect<void, ValidationError> =>
    Effect.asVoid(Effect.suspend(() => read(operation, given, "options")))
}

const rules = kind<MergeRules>(
  "rules of merging",
  (value) => typeof value === "object" && value !== null && mergeRulesProblem(value) === undefined
)

export const checkCreateOptions = optionsOf({ from: maybe(text) } satisfies FieldsOf<CreateBranchOptions>)

export const checkCompareOptions = optionsOf({
  against: maybe(oneOf("mergeBase", "first"))
} satisfies FieldsOf<CompareOptions>)

export const checkMergeOptions = optionsOf({
  message: maybe(text),
  into: maybe(text),
  onConflict: maybe(
    kind(
      '"fail", "ours", "theirs" or a function',
      (value) => value === "fail" || value === "ours" || value === "theirs" || typeof value === "function"
    )
  ),
  rules: maybe(Schema.Record({ key: Schema.String, value: rules })),
  collections: maybe(
    kind<ReadonlyArray<CollectionDefinition>>(
      "a list of definitions",
      (value) => Array.isArray(value) && value.every(isDefinition),
      { hint: "Collection.define makes one" }
    )
  ),
  author: maybe(person),
  fastForward: maybe(flag),
  dryRun: maybe(flag)
} satisfies FieldsOf<MergeOptions>)
