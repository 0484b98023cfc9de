import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Sink from "effect/Sink"
import { StoreError } from "../../domain/errors/StoreError.js"

/**
 * The destination of an export: a file's path, a web stream (closed at the end, aborted on failure), or a sink.
 *
 * @since 0.1.0
 * @category models
 */
export type Destination<E = never, R = never> =
  | string
  | WritableStream<Uint8Array>
  | Sink.Sink<unknown, Uint8Array, unknown, E, R>

/**
 * The services that writing to a destination needs: a file system if it is a path.
 *
 * @since 0.1.0
 * @category models
 */
export type DestinationContext<D> = D extends string
  ? FileSystem.FileSystem
  : D extends Sink.Sink<unknown, Uint8Array, unknown, unknown, infer R>
    ? R
    : never

/**
 * The errors of a sink that an export writes to.
 *
 * @since 0.1.0
 * @category errors
 */
export type DestinationFailure<D> =
  D extends Sink.Sink<unknown, Uint8Array, unknown, infer E, unknown> ? E : never

/**
 * Writing to the destination of an export failed; `cause` is the original error.
 *
 * @since 0.1.0
 * @category errors
 */
export class DestinationError extends StoreError {
  readonly _tag = "DestinationError"
  override readonly name = "DestinationError"
}
