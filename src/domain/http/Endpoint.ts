import type * as Schema from "effect/Schema"

export type Method = "GET" | "PUT" | "POST" | "PATCH" | "DELETE"

/** One operation of an HTTP API: what serves it and what calls it both follow this value. */
export interface Endpoint<Path extends string, Body, Reply> {
  readonly method: Method
  readonly path: Path
  /** Undefined where nothing is sent. */
  readonly body: Schema.Schema<Body, any> | undefined
  /** As much of the reply as is read. */
  readonly reply: Schema.Schema<Reply, any>
}
