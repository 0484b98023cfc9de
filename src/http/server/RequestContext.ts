import type { Duration, Runtime } from "effect"
import type { BodyLimits } from "./RequestBody.js"
import type { FailWith } from "./RequestFailure.js"

/** What operations and mounts need to serve a request. */
export interface RequestContext {
  readonly limits: BodyLimits
  readonly handlerTimeout: Duration.Duration
  /** Whether a tracer is installed. Spans are created only then. */
  readonly tracing: boolean
  /** The runtime of the fibers of requests. */
  readonly runtime: Runtime.Runtime<never>
  readonly failWith: FailWith
}
