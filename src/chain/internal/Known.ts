/**
 * `Outer` is inferred from where a function is used, as in `pipe`; without that it stays unknown, and `Inner` counts, which
 * the later argument decides. One signature for both: the compiler's message about a wrong argument is then about this
 * argument, where it would begin with "No overload matches this call" otherwise. Nothing is inferred through it.
 */
export type Known<Outer, Inner> = {
  readonly outer: Outer
  readonly inner: Inner
}[unknown extends Outer ? "inner" : "outer"]

/** The request of a chain that is known, or any that is given. */
export type Requested<Req, Given> = unknown extends Req ? Given : NoInfer<Req>

/** The same, of a chain that requires nothing; says of any other what it requires. */
export type RequestedNow<Req, R, Given> = unknown extends Req
  ? Given
  : [R] extends [never]
    ? NoInfer<Req>
    : { readonly "this chain requires": R }

/** Holds for a chain that takes this request; says of any other what it takes. */
export type Takes<Req, Given> = [Given] extends [Req] ? unknown : { readonly "this chain takes": Req }

/**
 * Holds for a chain that requires nothing. Of any other it says what it requires where the request is `any`, which fits every
 * parameter; elsewhere the request's own parameter says it, so that the compiler's message begins with that.
 */
export type Ready<R, Given> = 0 extends 1 & Given
  ? [R] extends [never]
    ? unknown
    : { readonly "this chain requires": R }
  : unknown
