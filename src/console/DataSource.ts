import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoredDocument } from "../domain/Document.js"
import type { LoginRequest, SessionView, Setup } from "../http/console/Api.js"
import type { Query, QueryAnswer } from "../store/browse/Browse.js"
import type { HistoryEntry } from "../store/Collection.js"
import type { Problem } from "./Problem.js"

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
  readonly signOut: Effect.Effect<void>
  readonly collections: Effect.Effect<ReadonlyArray<string>, Problem>
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
}

export class DataSource extends Context.Tag("chainstore/console/DataSource")<
  DataSource,
  DataSourceService
>() {}
