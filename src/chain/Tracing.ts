import * as Effect from "effect/Effect"
import type { HandlerFunction } from "./Handler.js"

/**
 * Options of `useTracing`.
 *
 * @since 0.1.0
 * @category options
 */
export interface TracingOptions {
  /** The span's name. Default `MessageFlow.Execute`. */
  readonly spanName?: string
  /** The value of the span's attribute for the request type. Default: no attribute. */
  readonly requestType?: string
  /** The value of the span's attribute for the response type. Default: no attribute. */
  readonly responseType?: string
  /** More attributes of the span. */
  readonly attributes?: Record<string, unknown>
}

/**
 * The default name of the span.
 *
 * @since 0.1.0
 * @category rules
 */
export const defaultSpanName = "MessageFlow.Execute"
/**
 * The name of the attribute for `requestType`.
 *
 * @since 0.1.0
 * @category rules
 */
export const requestTypeAttribute = "messageflow.request_type"
/**
 * The name of the attribute for `responseType`.
 *
 * @since 0.1.0
 * @category rules
 */
export const responseTypeAttribute = "messageflow.response_type"

/** @internal */
export const tracingMiddleware = (chain: string, options: TracingOptions): HandlerFunction<any, any, any> => {
  const spanName = options.spanName ?? defaultSpanName
  const span = {
    kind: "internal",
    captureStackTrace: false,
    attributes: {
      "messageflow.chain": chain,
      ...(options.requestType === undefined ? {} : { [requestTypeAttribute]: options.requestType }),
      ...(options.responseType === undefined ? {} : { [responseTypeAttribute]: options.responseType }),
      ...options.attributes
    }
  } as const
  return (request, next) => Effect.withSpan(next(request), spanName, span)
}
