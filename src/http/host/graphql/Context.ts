import type { Effect, Scope } from "effect"
import type { GraphQLError } from "graphql"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { CommitInfo } from "../../../git/Commit.js"
import type { TreeEntry } from "../../../git/Tree.js"
import type { Window } from "../access/Limits.js"
import type { Hosted } from "../repository/Repositories.js"
import type { Call } from "../request/Call.js"
import type { Failure } from "../request/Route.js"

/** A value that is there, or comes: GraphQL takes both, and what is there at once costs no promise. */
export type Eventual<A> = A | Promise<A>

/** Goes on with a value now, or when it has come. */
export const after = <A, B>(value: Eventual<A>, next: (value: A) => B): Eventual<B> =>
  value instanceof Promise ? value.then(next) : next(value)

type Shown = Readonly<Record<string, unknown>>

/**
 * What can be shown of a repository. Objects are plain: their members are values, or functions that GraphQL calls only
 * where a query asks for them. They name each other in circles, so each is made by way of the context.
 */
export interface Objects {
  readonly account: (context: Context, login: string) => Shown
  readonly repository: (context: Context, hosted: Hosted) => Shown
  readonly ref: (context: Context, hosted: Hosted, name: string, oid: Oid) => Shown
  readonly commit: (context: Context, hosted: Hosted, info: CommitInfo) => Shown
  readonly tree: (context: Context, hosted: Hosted, oid: Oid, path: string) => Shown
  readonly entry: (context: Context, hosted: Hosted, found: TreeEntry, path: string) => Shown
  /** The blob or tree of an entry; null for a submodule. */
  readonly entryObject: (context: Context, hosted: Hosted, found: TreeEntry, path: string) => Shown | null
  /** The object of an id; null when there is none. */
  readonly object: (context: Context, hosted: Hosted, oid: Oid) => Effect.Effect<Shown | null, RemoteError>
}

/** What the resolvers of one request share. */
export interface Context {
  readonly call: Call
  /** Runs an effect for a resolver; its failure becomes an error of the field. Ends with the request. */
  readonly run: <A>(effect: Effect.Effect<A, Failure | GraphQLError, Scope.Scope>) => Eventual<A>
  readonly window: Effect.Effect<Window>
  readonly cost: { readonly points: number; readonly nodes: number }
  /** What the answer holds so far: characters of texts, and values of directories. */
  readonly held: { texts: number; listed: number }
  readonly objects: Objects
}
