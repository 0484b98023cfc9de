import type * as Effect from "effect/Effect"

/** One entry of a directory, with the id of the Git object. */
export interface ReaderEntry {
  readonly name: string
  readonly kind: "blob" | "tree"
  readonly oid: string
  /** Of a file, where the remote tells it. */
  readonly size?: number | undefined
}

/** How a tree is read. Paths are below the tree's own directory, which is "". */
export interface Reader<E> {
  /** The entries of a directory; none where it is missing. */
  readonly directory: (path: string) => Effect.Effect<ReadonlyArray<ReaderEntry>, E>
  /** The contents of files that are needed together, in the order asked for; undefined where one is missing. */
  readonly files: (paths: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Uint8Array | undefined>, E>
}
