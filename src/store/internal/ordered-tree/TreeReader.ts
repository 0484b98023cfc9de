import type * as Effect from "effect/Effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"

/** One entry of a directory, with the id of the Git object. */
export interface TreeReaderEntry {
  readonly name: string
  readonly kind: "blob" | "tree"
  readonly oid: Oid
  /** Of a file, where the remote tells it. */
  readonly size?: number | undefined
}

/** A directory with its own id. */
export interface TreeReaderDirectory {
  readonly oid: Oid
  readonly entries: ReadonlyArray<TreeReaderEntry>
}

/** How trees are read, at one commit. */
export interface TreeReader<E> {
  /** Reads that are made side by side. */
  readonly concurrency: number
  /** The direct entries of a directory; undefined where it is missing. */
  readonly directory: (path: string) => Effect.Effect<TreeReaderDirectory | undefined, E>
  /** The contents of files that are needed together, in the order asked for; undefined where one is missing. */
  readonly files: (paths: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Uint8Array | undefined>, E>
}
