import * as Data from "effect/Data"
import * as Schema from "effect/Schema"
import { StoreError } from "../../domain/errors/StoreError.js"

/**
 * Any reply that is an error: its status, its name on the wire and, where HTTP wants them, headers.
 *
 * @since 0.1.0
 * @category errors
 */
export interface HttpError {
  readonly _tag: string
  /** The status of the reply. */
  readonly status: number
  /** What a human needs to act. */
  readonly message: string
  /** Headers that the reply has beside its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * An error reply as a value: it can be failed with, yielded and caught by its tag.
 *
 * @since 0.1.0
 * @category errors
 */
export class Failure<Name extends string = string> extends Data.Error<HttpError> {
  declare readonly _tag: Name
}

/**
 * The class of one kind of error reply, with its status and its schema on the wire.
 *
 * @since 0.1.0
 * @category errors
 */
export interface FailureClass<Name extends string> {
  new (fields: Pick<HttpError, "message" | "headers">): Failure<Name>
  /** The status of every reply of this kind. */
  readonly status: number
  /** The reply's body: its name as `error`, and the message. */
  readonly wire: Schema.Schema<Failure<Name>, { readonly error: Name; readonly message: string }>
}

const define = <const Name extends string>(name: Name, status: number): FailureClass<Name> =>
  class Answer extends Failure<Name> {
    static readonly status = status
    static readonly wire: FailureClass<Name>["wire"] = Schema.transform(
      Schema.Struct({ error: Schema.Literal(name), message: Schema.String }).annotations({
        identifier: name,
        description: `Error with \`error\` = \`${name}\``
      }),
      Schema.declare((value): value is Answer => value instanceof Answer),
      {
        strict: true,
        decode: ({ message }) => new Answer({ message }),
        encode: ({ message }) => ({ error: name, message })
      }
    )
    constructor(fields: Pick<HttpError, "message" | "headers">) {
      super({ ...fields, _tag: name, status })
    }
  }

/**
 * 400: the request does not say what it must; the message names every problem.
 *
 * @since 0.1.0
 * @category errors
 */
export const ValidationError = define("ValidationError", 400)
export type ValidationError = Failure<"ValidationError">

/**
 * 404: nothing answers at this path.
 *
 * @since 0.1.0
 * @category errors
 */
export const NotFound = define("NotFound", 404)
export type NotFound = Failure<"NotFound">

/**
 * 405: the path exists, the method does not; `Allow` lists what does.
 *
 * @since 0.1.0
 * @category errors
 */
export const MethodNotAllowed = define("MethodNotAllowed", 405)
export type MethodNotAllowed = Failure<"MethodNotAllowed">

/**
 * 408: the body did not arrive in time.
 *
 * @since 0.1.0
 * @category errors
 */
export const RequestTimeout = define("RequestTimeout", 408)
export type RequestTimeout = Failure<"RequestTimeout">

/**
 * 413: the body is larger than the limit.
 *
 * @since 0.1.0
 * @category errors
 */
export const PayloadTooLarge = define("PayloadTooLarge", 413)
export type PayloadTooLarge = Failure<"PayloadTooLarge">

/**
 * 415: the body is not JSON.
 *
 * @since 0.1.0
 * @category errors
 */
export const UnsupportedMediaType = define("UnsupportedMediaType", 415)
export type UnsupportedMediaType = Failure<"UnsupportedMediaType">

/**
 * 421: the Host is neither a loopback name nor the public address.
 *
 * @since 0.1.0
 * @category errors
 */
export const MisdirectedRequest = define("MisdirectedRequest", 421)
export type MisdirectedRequest = Failure<"MisdirectedRequest">

/**
 * 422: no handler accepted the request and the chain has no fallback.
 *
 * @since 0.1.0
 * @category errors
 */
export const UnhandledRequest = define("UnhandledRequestError", 422)
export type UnhandledRequest = Failure<"UnhandledRequestError">

/**
 * 500: a fault of ours; the cause is in the log under the request id, never in the body.
 *
 * @since 0.1.0
 * @category errors
 */
export const InternalError = define("InternalError", 500)
export type InternalError = Failure<"InternalError">

/**
 * 503: the handler took longer than the service waits, or the service is stopping.
 *
 * @since 0.1.0
 * @category errors
 */
export const ServiceUnavailable = define("ServiceUnavailable", 503)
export type ServiceUnavailable = Failure<"ServiceUnavailable">

/**
 * Whether a failure already knows its own answer. The status of a store's error is that of an answer which the store got.
 *
 * @since 0.1.0
 * @category errors
 */
export const isHttpError = (value: unknown): value is HttpError =>
  value instanceof Error &&
  !(value instanceof StoreError) &&
  "_tag" in value &&
  "status" in value &&
  Number.isInteger(value.status) &&
  (value.status as number) >= 400 &&
  (value.status as number) < 600

/**
 * The bytes of an error: exactly `error` and `message`.
 *
 * @since 0.1.0
 * @category errors
 */
export const bodyOf = (error: HttpError): string =>
  JSON.stringify({ error: error._tag, message: error.message })
