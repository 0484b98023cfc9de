import type { IndexOptions } from "../../domain/indexes/IndexDefinition.js"
import type { JsonObject } from "../../domain/json/Json.js"

/**
 * What a guarded write expects of the stored revision: nothing, what it is now, or what it cannot be.
 *
 * @since 0.1.0
 * @category models
 */
export type Guard = "none" | "current" | "wrong"

/**
 * The document that a step is about.
 *
 * @since 0.1.0
 * @category models
 */
export interface Target {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
}

/**
 * One queued operation of a batch or a writer.
 *
 * @since 0.1.0
 * @category models
 */
export type Edit =
  | (Target & { readonly _tag: "put"; readonly fields: JsonObject })
  | (Target & { readonly _tag: "insert"; readonly fields: JsonObject })
  | (Target & { readonly _tag: "delete" })

/**
 * What a batch expects of a document that it need not write.
 *
 * @since 0.1.0
 * @category models
 */
export interface Expectation extends Target {
  /** Whether the revision or the blob's id is expected. */
  readonly kind: "rev" | "sha"
  /** False: something that cannot hold is expected. A missing document is expected to be absent. */
  readonly holds: boolean
}

/**
 * Operations that a program may do at its top and inside a transaction.
 *
 * @since 0.1.0
 * @category models
 */
export type InnerStep =
  | {
      readonly _tag: "insert"
      readonly collection: string
      readonly id?: string | undefined
      readonly fields: JsonObject
    }
  | (Target & {
      readonly _tag: "update" | "replace" | "upsert"
      readonly fields: JsonObject
      readonly guard: Guard
    })
  | (Target & { readonly _tag: "delete"; readonly guard: Guard })
  /** Sets one field to a value that no other step writes: by `edit`, or by an update of an older version. */
  | (Target & { readonly _tag: "edit"; readonly field: string; readonly by: "edit" | "base" })
  | (Target & { readonly _tag: "get"; readonly fresh: boolean })
  | { readonly _tag: "list"; readonly collection: string }
  | { readonly _tag: "count"; readonly collection: string }
  | {
      readonly _tag: "findBy"
      readonly collection: string
      readonly field: string
      readonly value: number | string
    }
  | {
      readonly _tag: "batch"
      readonly edits: ReadonlyArray<Edit>
      readonly expectations: ReadonlyArray<Expectation>
      /** The body fails after queueing: everything is discarded. */
      readonly fails: boolean
    }

/**
 * One operation of a random program. `back` chooses a commit, counted back from the head when the step runs.
 *
 * @since 0.1.0
 * @category models
 */
export type Step =
  | InnerStep
  | { readonly _tag: "writer"; readonly edits: ReadonlyArray<Edit>; readonly maxOperations: number }
  | { readonly _tag: "transaction"; readonly steps: ReadonlyArray<InnerStep>; readonly fails: boolean }
  | (Target & { readonly _tag: "restore"; readonly back: number })
  | { readonly _tag: "revert"; readonly back: number; readonly force: boolean }
  | { readonly _tag: "reindex"; readonly collection: string }
  | { readonly _tag: "createIndex"; readonly collection: string; readonly index: string | IndexOptions }
  | { readonly _tag: "dropIndex"; readonly collection: string; readonly name: string }
  /** A branch that begins at the head, has these edits, and is merged while others write. */
  | { readonly _tag: "merge"; readonly edits: ReadonlyArray<Edit> }
  /** A proposal of these edits, which is accepted while others write, and perhaps accepted or closed by another one at once. */
  | {
      readonly _tag: "propose"
      readonly edits: ReadonlyArray<Edit>
      readonly rival: "none" | "accept" | "close"
    }
  /** Somebody else commits a file that is not a document, or a document by hand. */
  | {
      readonly _tag: "foreign"
      readonly document: boolean
      readonly target: Target
      readonly fields: JsonObject
    }

/**
 * What happens at the n-th step between the store and its remote.
 *
 * @since 0.1.0
 * @category models
 */
export type Fault = "fail" | "interrupt" | "ambiguous" | "foreign"

/**
 * One writer: its steps, how its fibre is delayed, and what goes wrong for it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Script {
  /** The steps, one after another. */
  readonly steps: ReadonlyArray<Step>
  /** Turns given to other fibres at each touch of the remote, over and over. */
  readonly yields: ReadonlyArray<number>
  /** By the number of the touch. */
  readonly faults: ReadonlyArray<{ readonly at: number; readonly fault: Fault }>
  /** Steps interrupted from outside, after so many turns. */
  readonly interruptions: ReadonlyArray<{ readonly step: number; readonly after: number }>
}

/**
 * Writers that work on one repository at once.
 *
 * @since 0.1.0
 * @category models
 */
export interface Program {
  /** What each writer does; they run side by side. */
  readonly writers: ReadonlyArray<Script>
}
