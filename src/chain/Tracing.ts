import * as Effect from "effect/Effect"
import type { HandlerFunction } from "./Handler.js"

export interface TracingOptions {
  /** The span's name; `MessageFlow.Execute` when absent. */
  readonly spanName?: string
  readonly requestType?: string
  readonly responseType?: string
  readonly attributes?: Record<string, unknown>
}

export const defaultSpanName = "MessageFlow.Execute"
export const requestTypeAttribute = "messageflow.request_type"
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
