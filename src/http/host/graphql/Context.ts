import type { Effect, Scope } from "effect"
import type { Oid } from "../../../domain/Oid.js"
import type { Call } from "../Call.js"
import type { Window } from "../Limits.js"
import type { Hosted, Repositories } from "../Repositories.js"
import type { Failure } from "../Route.js"

/** What the resolvers of one request share. */
export interface Context {
  readonly call: Call
  readonly repositories: typeof Repositories.Service
  /** Runs an effect for a resolver; its failure becomes an error of the field. Ends with the request. */
  readonly run: <A>(effect: Effect.Effect<A, Failure | Error, Scope.Scope>) => Promise<A>
  readonly window: Effect.Effect<Window>
  readonly cost: { readonly points: number; readonly nodes: number }
}

/** A Git object in its repository. */
export interface Placed {
  readonly hosted: Hosted
  readonly oid: Oid
}
