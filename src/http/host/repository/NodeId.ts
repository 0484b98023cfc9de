/** A stable numeric hash of a name, for GitHub's numeric `id` fields. */
export const numericId = (name: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 1) + 1
}

/** An opaque node id: the kind and the parts in base64. */
export const nodeId = (kind: string, ...parts: ReadonlyArray<string>): string =>
  Buffer.from([kind, ...parts].join(":")).toString("base64url")

/** The parts of a node id of `kind`; undefined if it is not one. */
export const fromNodeId = (kind: string, id: string): ReadonlyArray<string> | undefined => {
  const [actual, ...parts] = Buffer.from(id, "base64url").toString().split(":")
  return actual === kind ? parts : undefined
}
