/** `A` where `T` is known from where a function is used, as in `pipe`; else its next signature counts. */
export type Known<T, A> = unknown extends T ? never : A

/** Holds for a chain that takes this request; says of any other what it takes. */
export type Takes<Req, Given> = [Given] extends [Req] ? unknown : { readonly "this chain takes": Req }
