import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { StoredDocument } from "../../domain/document/Document.js"
import type { LoginRequest, SessionView, Setup } from "../../http/console/Api.js"
import type { NewerCommits, Query, QueryAnswer } from "../../store/browse/Browse.js"
import type { Timeline } from "../../store/browse/Timeline.js"
import type { HistoryEntry } from "../../store/Collection.js"
import { type Problem, partMissing } from "../components/Problem.js"
import type { EditSource } from "./EditSource.js"

export interface RateBudget {
  readonly resource: string
  readonly limit: number
  readonly remaining: number
  /** Seconds since the epoch. */
  readonly reset: number
}

/** The data source of the console. The two builds differ only in its implementation. */
export interface DataSourceService {
  readonly build: "hosted" | "local"
  readonly setup: Effect.Effect<Setup, Problem>
  readonly signIn: (request: LoginRequest) => Effect.Effect<SessionView, Problem>
  readonly signOut: Effect.Effect<void, Problem>
  readonly collections: Effect.Effect<ReadonlyArray<string>, Problem>
  /** Finds the data roots of the repository and opens another one. */
  readonly roots: {
    readonly list: Effect.Effect<ReadonlyArray<string>, Problem>
    readonly open: (root: string) => Effect.Effect<SessionView, Problem>
  }
  /** The head of the branch, and the number of commits since another one. */
  readonly newer: (since: string | undefined) => Effect.Effect<NewerCommits, Problem>
  /** Opens another branch with the same token. */
  readonly switchBranch: (branch: string) => Effect.Effect<SessionView, Problem>
  /** Calls the timeline, whose module is loaded at the first call. */
  readonly timeline: <A>(
    ask: <E>(timeline: Timeline<E, E>) => Effect.Effect<A, E>
  ) => Effect.Effect<A, Problem>
  readonly query: (query: Query) => Effect.Effect<QueryAnswer, Problem>
  /** Null if the document does not exist at the commit. */
  readonly document: (
    collection: string,
    id: string,
    at?: string
  ) => Effect.Effect<StoredDocument | null, Problem>
  readonly history: (
    collection: string,
    id: string | undefined,
    limit: number
  ) => Effect.Effect<ReadonlyArray<HistoryEntry>, Problem>
  readonly restore: (
    collection: string,
    id: string,
    commitSha: string,
    expectedRev: number | undefined
  ) => Effect.Effect<StoredDocument, Problem>
  readonly rate: Effect.Effect<ReadonlyArray<RateBudget>, Problem>
  /** The editing operations, loaded at first use. */
  readonly edits: Effect.Effect<EditSource, Problem>
}

export class DataSource extends Context.Tag("chainstore/console/DataSource")<
  DataSource,
  DataSourceService
>() {}

/** Loads a module of this page. */
export const loadModule = <M>(load: () => Promise<M>): Effect.Effect<M, Problem> =>
  Effect.tryPromise({ try: load, catch: () => partMissing("A part of this page could not be loaded.") })

/**
 * Calls `onEnded` when a call fails because the session has ended. `newer` runs in the background and does not end the
 * session.
 */
export const withSessionEnd = (
  source: DataSourceService,
  onEnded: (problem: Problem) => void
): DataSourceService => {
  const tell = <A>(effect: Effect.Effect<A, Problem>): Effect.Effect<A, Problem> =>
    Effect.tapError(effect, (problem) =>
      problem.kind === "signedOut" ? Effect.sync(() => onEnded(problem)) : Effect.void
    )
  return {
    ...source,
    collections: tell(source.collections),
    switchBranch: (branch) => tell(source.switchBranch(branch)),
    timeline: (ask) => tell(source.timeline(ask)),
    query: (query) => tell(source.query(query)),
    document: (...asked) => tell(source.document(...asked)),
    history: (...asked) => tell(source.history(...asked)),
    restore: (...asked) => tell(source.restore(...asked)),
    rate: tell(source.rate),
    edits: Effect.map(source.edits, (edits) => edits.mapCalls(tell)),
    roots: {
      list: tell(source.roots.list),
      open: (root) => tell(source.roots.open(root))
    }
  }
}
