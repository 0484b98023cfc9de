import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ValidationError } from "../../../domain/errors/StoreError.js"
import { type MergeRules, mergeRulesProblem } from "../../../domain/merge/MergeRules.js"
import {
  type FieldsOf,
  flag,
  oneOf,
  optional,
  optionsReader,
  person,
  text,
  valueKind
} from "../../../domain/options/Options.js"
import type { CompareOptions, CreateBranchOptions, MergeOptions } from "../../Branches.js"
import { type CollectionDefinition, isDefinition } from "../../CollectionDefinition.js"

/** A check of options for operations that are loaded on use, so that other pages do not contain it. */
export const optionsOf = <Fields extends Schema.Struct.Fields>(fields: Fields) => {
  const read = optionsReader(Schema.UndefinedOr(Schema.Struct(fields)) as unknown as Schema.Schema<any, any>)
  return (operation: string, given: unknown): Effect.Effect<void, ValidationError> =>
    Effect.asVoid(Effect.suspend(() => read(operation, given, "options")))
}

const rules = valueKind<MergeRules>(
  "rules of merging",
  (value) => typeof value === "object" && value !== null && mergeRulesProblem(value) === undefined
)

export const checkCreateOptions = optionsOf({ from: optional(text) } satisfies FieldsOf<CreateBranchOptions>)

export const checkCompareOptions = optionsOf({
  against: optional(oneOf("mergeBase", "first"))
} satisfies FieldsOf<CompareOptions>)

export const checkMergeOptions = optionsOf({
  message: optional(text),
  into: optional(text),
  onConflict: optional(
    valueKind(
      '"fail", "ours", "theirs" or a function',
      (value) => value === "fail" || value === "ours" || value === "theirs" || typeof value === "function"
    )
  ),
  rules: optional(Schema.Record({ key: Schema.String, value: rules })),
  collections: optional(
    valueKind<ReadonlyArray<CollectionDefinition>>(
      "a list of definitions",
      (value) => Array.isArray(value) && value.every(isDefinition),
      { hint: "Collection.define makes one" }
    )
  ),
  author: optional(person),
  fastForward: optional(flag),
  dryRun: optional(flag)
} satisfies FieldsOf<MergeOptions>)
