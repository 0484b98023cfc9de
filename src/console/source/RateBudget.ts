import type { RateBudget } from "./DataSource.js"

/** The number of requests above which a user is told the cost of a read before it begins. */
export const maxUnconfirmed = 200

/** A read stops when one tenth of the limit is left. */
const reservedShare = 10

/** The limit that reads are counted against; undefined if there is none. */
export const coreOf = (budgets: ReadonlyArray<RateBudget> = []): RateBudget | undefined =>
  budgets.find(({ resource }) => resource === "core")

/** Whether less than the reserved share of a limit is left after so many requests. */
export const isSpentAfter = ({ limit, remaining }: RateBudget, requests: number): boolean =>
  remaining - requests < limit / reservedShare

/** How much of a limit is left, in words. */
export const describeBudget = ({ limit, remaining }: RateBudget): string =>
  `${remaining.toLocaleString("en")} of ${limit.toLocaleString("en")} requests are left.`
