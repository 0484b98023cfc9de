import * as Effect from "effect/Effect"
import type { HandlerFunction } from "./Handler.js"

/**
 * Options of `useTracing`.
 *
 * @since 0.1.0
 * @category options
 */
export interface TracingOptions {
  /** The span's name; `MessageFlow.Execute` when absent. */
  readonly spanName?: string
  /** The span's attribute that names the type of requests; absent: none. */
  readonly requestType?: string
  /** The span's attribute that names the type of answers; absent: none. */
  readonly responseType?: string
  /** Further attributes of the span. */
  readonly attributes?: Record<string, unknown>
}

/**
 * The name of the span where the options give none.
 *
 * @since 0.1.0
 * @category rules
 */
export const defaultSpanName = "MessageFlow.Execute"
/**
 * The attribute that `requestType` is written to.
 *
 * @since 0.1.0
 * @category rules
 */
export const requestTypeAttribute = "messageflow.request_type"
/**
 * The attribute that `responseType` is written to.
 *
 * @since 0.1.0
 * @category rules
 */
export const responseTypeAttribute = "messageflow.response_type"

/** @internal */
export const traced = (chain: string, options: TracingOptions): HandlerFunction<any, any, any> => {
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
