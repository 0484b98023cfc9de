/**
 * `Outer` if the compiler inferred it from the context of the call, as in `pipe`; otherwise `Inner`, which a later
 * argument decides. With one signature for both cases, the compiler's message is about the wrong argument; with two
 * overloads it would begin with "No overload matches this call". The compiler infers nothing through this type.
 */
export type InferredOr<Outer, Inner> = {
  readonly outer: Outer
  readonly inner: Inner
}[unknown extends Outer ? "inner" : "outer"]

/** The request type of the chain if it is known, otherwise the type of the given request. */
export type RequestOf<Req, Given> = unknown extends Req ? Given : NoInfer<Req>

/** Like `RequestOf`, for a chain without requirements. For any other chain the type names its requirements. */
export type SyncRequestOf<Req, R, Given> = unknown extends Req
  ? Given
  : [R] extends [never]
    ? NoInfer<Req>
    : { readonly "this chain requires": R }

/** Accepts a chain whose request type fits. For any other chain the type names the request type. */
export type AcceptsRequest<Req, Given> = [Given] extends [Req]
  ? unknown
  : { readonly "this chain takes": Req }

/**
 * Accepts a chain without requirements. It checks only a request of type `any`, which fits every parameter. For any
 * other request `SyncRequestOf` reports the requirements, and the compiler's message begins with that parameter.
 */
export type RequiresNothing<R, Given> = 0 extends 1 & Given
  ? [R] extends [never]
    ? unknown
    : { readonly "this chain requires": R }
  : unknown
