import * as Data from "effect/Data"
import * as Schema from "effect/Schema"

/** Any answer that is an error: its status, its name on the wire and, where HTTP wants them, headers. */
export interface HttpError {
  readonly _tag: string
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

const define = <const Name extends string>(name: Name, status: number) => {
  class Failure
    extends Data.Error<{ readonly message: string; readonly headers?: Readonly<Record<string, string>> }>
    implements HttpError
  {
    static readonly status = status
    static readonly wire: Schema.Schema<Failure, { readonly error: Name; readonly message: string }> =
      Schema.transform(
        Schema.Struct({ error: Schema.Literal(name), message: Schema.String }).annotations({
          identifier: name,
          description: `Error with \`error\` = \`${name}\``
        }),
        Schema.declare((value): value is Failure => value instanceof Failure),
        {
          strict: true,
          decode: ({ message }) => new Failure({ message }),
          encode: (failure) => ({ error: name, message: failure.message })
        }
      )
    readonly _tag = name
    readonly status = status
  }
  return Failure
}

/** 400: the request does not say what it must; the message names every problem. */
export const ValidationError = define("ValidationError", 400)
export type ValidationError = InstanceType<typeof ValidationError>

/** 404: nothing answers at this path. */
export const NotFound = define("NotFound", 404)
export type NotFound = InstanceType<typeof NotFound>

/** 405: the path exists, the method does not; `Allow` lists what does. */
export const MethodNotAllowed = define("MethodNotAllowed", 405)
export type MethodNotAllowed = InstanceType<typeof MethodNotAllowed>

/** 408: the body did not arrive in time. */
export const RequestTimeout = define("RequestTimeout", 408)
export type RequestTimeout = InstanceType<typeof RequestTimeout>

/** 413: the body is larger than the limit. */
export const PayloadTooLarge = define("PayloadTooLarge", 413)
export type PayloadTooLarge = InstanceType<typeof PayloadTooLarge>

/** 415: the body is not JSON. */
export const UnsupportedMediaType = define("UnsupportedMediaType", 415)
export type UnsupportedMediaType = InstanceType<typeof UnsupportedMediaType>

/** 421: the Host is neither a loopback name nor the public address. */
export const MisdirectedRequest = define("MisdirectedRequest", 421)
export type MisdirectedRequest = InstanceType<typeof MisdirectedRequest>

/** 422: no handler accepted the request and the chain has no fallback. */
export const UnhandledRequest = define("UnhandledRequestError", 422)
export type UnhandledRequest = InstanceType<typeof UnhandledRequest>

/** 500: a fault of ours; the cause is in the log under the request id, never in the body. */
export const InternalError = define("InternalError", 500)
export type InternalError = InstanceType<typeof InternalError>

/** 503: the handler took longer than the service waits, or the service is stopping. */
export const ServiceUnavailable = define("ServiceUnavailable", 503)
export type ServiceUnavailable = InstanceType<typeof ServiceUnavailable>

/** Whether a failure already knows its own answer. */
export const isHttpError = (value: unknown): value is HttpError =>
  value instanceof Error && "_tag" in value && "status" in value && typeof value.status === "number"

/** The bytes of an error: exactly `error` and `message`. */
export const bodyOf = (error: HttpError): string =>
  JSON.stringify({ error: error._tag, message: error.message })
