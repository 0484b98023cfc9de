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

/**
 * A value or a promise of it. Resolvers return values without a promise where possible, because promises are slower.
 */
export type MaybePromise<A> = A | Promise<A>

/** Maps a value or a promise of it. */
export const andThen = <A, B>(value: MaybePromise<A>, next: (value: A) => B): MaybePromise<B> =>
  value instanceof Promise ? value.then(next) : next(value)

type Shown = Readonly<Record<string, unknown>>

/**
 * The resolvers of object types. Their results are plain objects whose members are values, or functions that GraphQL
 * calls only for selected fields. The types refer to each other, so they are created through the context.
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
  /** The object of a tree entry; null for a submodule. */
  readonly entryObject: (
    context: ResolverContext,
    hosted: HostedRepository,
    found: TreeEntry,
    path: string
  ) => Shown | null
  /** The object of an id; null if there is none. */
  readonly object: (
    context: ResolverContext,
    hosted: HostedRepository,
    oid: Oid
  ) => Effect.Effect<Shown | null, RemoteError>
}

/** The state that the resolvers of one request share. */
export interface ResolverContext {
  readonly call: HostCall
  /**
   * Runs an effect for a resolver. A failure becomes an error of the field. The effect ends with the request at the
   * latest.
   */
  readonly run: <A>(effect: Effect.Effect<A, HandlerFailure | GraphQLError, Scope.Scope>) => MaybePromise<A>
  readonly window: Effect.Effect<RateWindow>
  readonly cost: { readonly points: number; readonly nodes: number }
  /** The size of the reply so far: characters of texts, and values of directory entries. */
  readonly usage: { texts: number; listed: number }
  readonly objects: ObjectResolvers
}
