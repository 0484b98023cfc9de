import type * as Effect from "effect/Effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"

/** One entry of a directory, with the id of the Git object. */
export interface ReaderEntry {
  readonly name: string
  readonly kind: "blob" | "tree"
  readonly oid: Oid
  /** Of a file, where the remote tells it. */
  readonly size?: number | undefined
}

/** A directory with its own id. */
export interface ReaderDirectory {
  readonly oid: Oid
  readonly entries: ReadonlyArray<ReaderEntry>
}

/** How trees are read, at one commit. */
export interface Reader<E> {
  /** Reads that are made side by side. */
  readonly concurrency: number
  /** The direct entries of a directory; undefined where it is missing. */
  readonly directory: (path: string) => Effect.Effect<ReaderDirectory | undefined, E>
  /** The contents of files that are needed together, in the order asked for; undefined where one is missing. */
  readonly files: (paths: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Uint8Array | undefined>, E>
}
