import * as Data from "effect/Data"
import * as Schema from "effect/Schema"
import { StoreError } from "../../domain/errors/StoreError.js"

/**
 * An error reply: its status, its name in the body and its headers.
 *
 * @since 0.1.0
 * @category errors
 */
export interface HttpError {
  readonly _tag: string
  /** The status of the reply. */
  readonly status: number
  /** A message for people. */
  readonly message: string
  /** Additional headers of the reply. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * An error reply as an Effect failure, which can be yielded and caught by its tag.
 *
 * @since 0.1.0
 * @category errors
 */
export class Failure<Name extends string = string> extends Data.Error<HttpError> {
  declare readonly _tag: Name
}

/**
 * The class of one kind of error reply, with its status and its wire schema.
 *
 * @since 0.1.0
 * @category errors
 */
export interface FailureClass<Name extends string> {
  new (fields: Pick<HttpError, "message" | "headers">): Failure<Name>
  /** The status of every reply of this kind. */
  readonly status: number
  /** The schema of the body: the name as `error`, and the message. */
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
 * 400: the request is invalid. The message names every problem.
 *
 * @since 0.1.0
 * @category errors
 */
export const ValidationError = define("ValidationError", 400)
export type ValidationError = Failure<"ValidationError">

/**
 * 404: no operation has this path.
 *
 * @since 0.1.0
 * @category errors
 */
export const NotFound = define("NotFound", 404)
export type NotFound = Failure<"NotFound">

/**
 * 405: the path does not have this method. `Allow` lists its methods.
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
 * 500: a server fault. The cause is logged under the request id and never sent.
 *
 * @since 0.1.0
 * @category errors
 */
export const InternalError = define("InternalError", 500)
export type InternalError = Failure<"InternalError">

/**
 * 503: the handler exceeded its time limit, or the service is stopping.
 *
 * @since 0.1.0
 * @category errors
 */
export const ServiceUnavailable = define("ServiceUnavailable", 503)
export type ServiceUnavailable = Failure<"ServiceUnavailable">

/**
 * Whether a failure is an `HttpError`. A `StoreError` is not: its status is that of a reply which the store received.
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
 * The JSON body of an error, which has exactly `error` and `message`.
 *
 * @since 0.1.0
 * @category errors
 */
export const bodyOf = (error: HttpError): string =>
  JSON.stringify({ error: error._tag, message: error.message })
