import * as fc from "fast-check"

// The counterexample of a mutant is not read: it need not be made smaller.
fc.configureGlobal({ endOnFailure: true })
