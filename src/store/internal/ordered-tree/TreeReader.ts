import type * as Effect from "effect/Effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"

/** An entry of a directory. */
export interface TreeReaderEntry {
  readonly name: string
  readonly kind: "blob" | "tree"
  readonly oid: Oid
  /** The size of a file, if the remote provides it. */
  readonly size?: number | undefined
}

/** A directory with its own id. */
export interface TreeReaderDirectory {
  readonly oid: Oid
  readonly entries: ReadonlyArray<TreeReaderEntry>
}

/** Reads the directories and files of one commit. */
export interface TreeReader<E> {
  /** The number of concurrent reads. */
  readonly concurrency: number
  /** The direct entries of a directory; undefined if it is missing. */
  readonly directory: (path: string) => Effect.Effect<TreeReaderDirectory | undefined, E>
  /** The contents of several files in the given order; undefined for missing ones. */
  readonly files: (paths: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Uint8Array | undefined>, E>
}
