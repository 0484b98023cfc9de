import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { StoredDocument } from "../../domain/document/Document.js"
import type { LoginRequest, SessionView, Setup } from "../../http/console/Api.js"
import type { NewerCommits, Query, QueryAnswer } from "../../store/browse/Browse.js"
import type { Timeline } from "../../store/browse/Timeline.js"
import type { HistoryEntry } from "../../store/Collection.js"
import { offline, type Problem } from "../components/Problem.js"
import type { EditSource } from "./EditSource.js"

export interface RateBudget {
  readonly resource: string
  readonly limit: number
  readonly remaining: number
  /** Seconds since the epoch. */
  readonly reset: number
}

/** Where the console gets everything from: the one difference between its two builds. */
export interface DataSourceService {
  readonly build: "hosted" | "local"
  readonly setup: Effect.Effect<Setup, Problem>
  readonly signIn: (request: LoginRequest) => Effect.Effect<SessionView, Problem>
  readonly signOut: Effect.Effect<void, Problem>
  readonly collections: Effect.Effect<ReadonlyArray<string>, Problem>
  /** The data roots of the repository, where the source can look for them, and a way to go on in another one. */
  readonly roots?:
    | {
        readonly list: Effect.Effect<ReadonlyArray<string>, Problem>
        readonly open: (root: string) => Effect.Effect<SessionView, Problem>
      }
    | undefined
  /** Where the branch is, and how many commits it has since one that was shown. */
  readonly newer: (since: string | undefined) => Effect.Effect<NewerCommits, Problem>
  /** Looks at another branch of the repository, with the same token. */
  readonly switchBranch: (branch: string) => Effect.Effect<SessionView, Problem>
  /** Asks something of history and branches, which are loaded when it is first done. */
  readonly timeline: <A>(
    ask: <E>(timeline: Timeline<E, E>) => Effect.Effect<A, E>
  ) => Effect.Effect<A, Problem>
  readonly query: (query: Query) => Effect.Effect<QueryAnswer, Problem>
  /** Null where the document does not exist at that commit. */
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
  /** Documents to be edited; loaded when somebody edits. */
  readonly edits: Effect.Effect<EditSource, Problem>
}

export class DataSource extends Context.Tag("chainstore/console/DataSource")<
  DataSource,
  DataSourceService
>() {}

/** A part of this page that is fetched when it is first needed. */
export const loadModule = <M>(load: () => Promise<M>): Effect.Effect<M, Problem> =>
  Effect.tryPromise({ try: load, catch: () => offline("A part of this page could not be loaded.") })

/**
 * The same source, telling when the session turns out to have ended, whatever somebody asked. `newer` is what the page asks by
 * itself: nobody is sent away by that.
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
    roots: source.roots && {
      list: tell(source.roots.list),
      open: (root) => tell(source.roots!.open(root))
    }
  }
}
