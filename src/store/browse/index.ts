export { JsonOrder } from "../../domain/json/JsonOrder.js"
/**
 * Reads and edits of the console: pages of queries, history, staged edits.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Browse from "./Browse.js"
export type { Difference } from "./Difference.js"
export { differences, printPath } from "./Difference.js"
export { columnsOf } from "./DocumentColumns.js"
export type { Filter, Operator } from "./Filter.js"
export { operators, parseValue, printValue, takesValue } from "./Filter.js"
export { matchesAll, matchesFilter } from "./FilterMatcher.js"
export type * from "./Overview.js"
export { valuesAt } from "./PathValues.js"
export type * from "./StagedEdits.js"
export type * from "./Timeline.js"
