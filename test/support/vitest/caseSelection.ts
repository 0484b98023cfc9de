/** Whether all of a suite is run: under `npm run soak`. `npm test` runs a part, which has every kind of case. */
export const isWhole = process.env["CHAINSTORE_WHOLE"] === "1"

/** Every n-th of the cases; all of them where a suite is run whole. */
export const everyNth = <A>(n: number, cases: ReadonlyArray<A>): ReadonlyArray<A> =>
  isWhole ? cases : cases.filter((_, at) => at % n === 0)
