export { JsonOrder } from "../../domain/JsonOrder.js"
export * as Browse from "./Browse.js"
export { columnsOf } from "./Columns.js"
export type { Difference } from "./Difference.js"
export { differences, printPath } from "./Difference.js"
export type { Filter, Operator } from "./Filter.js"
export {
  matchesAll,
  matchesFilter,
  operators,
  parseValue,
  printValue,
  takesValue,
  valuesAt
} from "./Filter.js"
