import type { Chain } from "../Chain.js"

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
type Takes<Req, Given> = [Given] extends [Req] ? unknown : { readonly "this chain takes": Req }

/** The chain that is known, or any that takes the request that was given. */
export type Taking<Req, Given, Req2, Res, E, R, U> = unknown extends Req
  ? Chain<Req2, Res, E, R, U> & Takes<Req2, Given>
  : Chain<Req, Res, E, R, U>

/** The same, of chains that require nothing. */
export type TakingNow<Req, R, Given, Req2, Res, E, U> = unknown extends Req
  ? Chain<Req2, Res, E, never, U> & Takes<Req2, Given>
  : Chain<Req, Res, E, R, U>
