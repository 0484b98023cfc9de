/** What the test file that runs now has opened through `ofEachFile`. */
const closing = new Set<() => unknown>()

/** A thing that the tests of a file share: made when one of them first asks for it, closed when the file ends. */
export const ofEachFile = <A>(make: () => A, close: (made: A) => unknown): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => {
    if (made === undefined) {
      const value = make()
      made = { value }
      closing.add(() => {
        made = undefined
        return close(value)
      })
    }
    return made.value
  }
}

/** Closes what the file has opened. */
export const closeAll = async (): Promise<void> => {
  const all = [...closing]
  closing.clear()
  for (const close of all) await close()
}
