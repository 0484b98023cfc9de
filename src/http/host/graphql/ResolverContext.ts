import type { Effect, Scope } from "effect"
import type { GraphQLError } from "graphql"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { CommitInfo } from "../../../git/Commit.js"
import type { TreeEntry } from "../../../git/Tree.js"
import type { RateWindow } from "../access/RateLimits.js"
import type { HostedRepository } from "../repository/Repositories.js"
import type { HostCall } from "../request/HostCall.js"
import type { HandlerFailure } from "../request/Route.js"

/** A value that is there, or comes: GraphQL takes both, and what is there at once costs no promise. */
export type MaybePromise<A> = A | Promise<A>

/** Goes on with a value now, or when it has come. */
export const andThen = <A, B>(value: MaybePromise<A>, next: (value: A) => B): MaybePromise<B> =>
  value instanceof Promise ? value.then(next) : next(value)

type Shown = Readonly<Record<string, unknown>>

/**
 * What can be shown of a repository. Objects are plain: their members are values, or functions that GraphQL calls only
 * where a query asks for them. They name each other in circles, so each is made by way of the context.
 */
export interface ObjectResolvers {
  readonly account: (context: ResolverContext, login: string) => Shown
  readonly repository: (context: ResolverContext, hosted: HostedRepository) => Shown
  readonly ref: (context: ResolverContext, hosted: HostedRepository, name: string, oid: Oid) => Shown
  readonly commit: (context: ResolverContext, hosted: HostedRepository, info: CommitInfo) => Shown
  readonly tree: (context: ResolverContext, hosted: HostedRepository, oid: Oid, path: string) => Shown
  readonly entry: (
    context: ResolverContext,
    hosted: HostedRepository,
    found: TreeEntry,
    path: string
  ) => Shown
  /** The blob or tree of an entry; null for a submodule. */
  readonly entryObject: (
    context: ResolverContext,
    hosted: HostedRepository,
    found: TreeEntry,
    path: string
  ) => Shown | null
  /** The object of an id; null when there is none. */
  readonly object: (
    context: ResolverContext,
    hosted: HostedRepository,
    oid: Oid
  ) => Effect.Effect<Shown | null, RemoteError>
}

/** What the resolvers of one request share. */
export interface ResolverContext {
  readonly call: HostCall
  /** Runs an effect for a resolver; its failure becomes an error of the field. Ends with the request. */
  readonly run: <A>(effect: Effect.Effect<A, HandlerFailure | GraphQLError, Scope.Scope>) => MaybePromise<A>
  readonly window: Effect.Effect<RateWindow>
  readonly cost: { readonly points: number; readonly nodes: number }
  /** What the answer holds so far: characters of texts, and values of directories. */
  readonly usage: { texts: number; listed: number }
  readonly objects: ObjectResolvers
}
