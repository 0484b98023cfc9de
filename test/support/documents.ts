/** The ids of documents, in their order. */
export const idsOf = (documents: Iterable<{ readonly _id: string }>): ReadonlyArray<string> =>
  Array.from(documents, ({ _id }) => _id)
