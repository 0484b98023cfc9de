import type * as Option from "effect/Option"
import type { JsonObject } from "../../../domain/json/Json.js"
import type { FileEntry } from "../../../git/Tree.js"

/** The next version of a document. */
export interface NextVersion {
  /** The content without metadata; none deletes the document. */
  readonly document: Option.Option<JsonObject>
  /** The time of creation if the stored document is missing or unreadable. Default: now. */
  readonly createdAt?: string | undefined
  /** The revision before the one that is written if the stored document is missing or unreadable. Default 0. */
  readonly rev?: number | undefined
  /**
   * Files other than the stored version that the content came from: a number in them that JavaScript cannot represent must
   * not change. Required, because a version that omits them loses such numbers without an error.
   */
  readonly numberSources: ReadonlyArray<Uint8Array>
  /** The bytes of the whole file, including its metadata, which are written unchanged. */
  readonly content?: Uint8Array | undefined
  /** The blob of `content` if the repository has it: the mode of that file is kept. */
  readonly file?: FileEntry | undefined
  /** True if the document was merged by rules that the settings may contain. */
  readonly isMerged?: boolean | undefined
  /** True if the stored version already has this content (resumed imports): nothing is written. */
  readonly unchanged?: boolean | undefined
}
