/**
 * Three-way merge of JSON documents: pure, for every JavaScript runtime.
 *
 * @module chainstore/merge
 * @since 0.1.0
 */

export { type DocumentSides, type MergedDocument, mergeDocuments } from "./MergeDocuments.js"
export type {
  DocumentMerge,
  MergeConflict,
  MergeFields,
  MergeRule,
  MergeRules,
  Merger,
  MergeSides,
  Settlement
} from "./MergeRules.js"
export { fieldsOfSchema, MergeRuleId } from "./SchemaRules.js"
