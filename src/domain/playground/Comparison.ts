/** A comparison of the request with a number. */
export type Condition =
  | { readonly equals: number }
  | { readonly lessThan: number }
  | { readonly greaterThan: number }

/** Whether `request` satisfies the comparison. */
export const matches = (condition: Condition, request: number): boolean => {
  if ("equals" in condition) return request === condition.equals
  return "lessThan" in condition ? request < condition.lessThan : request > condition.greaterThan
}
