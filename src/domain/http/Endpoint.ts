import type * as Schema from "effect/Schema"

export type Method = "GET" | "PUT" | "POST" | "PATCH" | "DELETE"

/** The declaration of one operation of an HTTP API, shared by the server and the client. */
export interface Endpoint<Path extends string, Body, Reply> {
  readonly method: Method
  readonly path: Path
  /** Undefined if the request has no body. */
  readonly body: Schema.Schema<Body, any> | undefined
  /** The part of the reply that the client reads. */
  readonly reply: Schema.Schema<Reply, any>
}
