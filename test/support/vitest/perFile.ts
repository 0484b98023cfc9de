const ends: Array<() => Promise<unknown>> = []

/**
 * Something that the tests of a file share: made when it is first asked for, and ended with the file. Several files may
 * run in one process, and each gets its own.
 */
export const perFile = <A>(make: () => { readonly value: A; readonly end: () => Promise<unknown> }) => {
  let made: { readonly value: A } | undefined
  return (): A => {
    if (made === undefined) {
      const { end, value } = make()
      made = { value }
      ends.push(() => {
        made = undefined
        return end()
      })
    }
    return made.value
  }
}

/** Ends what the tests of a file have shared. */
export const endAll = async (): Promise<void> => {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
}

// A benchmark shares things too, and has no file of tests that ends.
if (process.env["VITEST"] === undefined) process.once("beforeExit", endAll)
