import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Api from "../../http/console/Api.js"
import * as Problem from "../components/Problem.js"
import { type DataSourceService, loadModule } from "./DataSource.js"
import { call } from "./LocalCall.js"
import { forgetSession, otherVersion, rememberSession } from "./LocalRequest.js"

/** Decodes the session of a reply. */
export const sessionOf = (session: unknown): Effect.Effect<Api.SessionView, Problem.Problem> =>
  Effect.mapBoth(Schema.decodeUnknown(Api.SessionView)(session), {
    onFailure: otherVersion,
    onSuccess: rememberSession
  })

/** What the local server does for a page. */
export const server: Omit<DataSourceService, "build" | "setup"> = {
  signIn: (request) => Effect.map(call(Api.login, request), rememberSession),
  signOut: Effect.zipRight(Effect.sync(forgetSession), call(Api.logout, undefined)).pipe(
    Effect.timeoutFail({
      duration: "10 seconds",
      onTimeout: () => Problem.offline("The local server did not respond.")
    }),
    Effect.mapError(({ message }) => Problem.stillSignedIn(message))
  ),
  collections: Effect.map(call(Api.collections, undefined), ({ collections }) => collections),
  newer: (since) => call(Api.newer, since === undefined ? {} : { since }),
  roots: {
    list: Effect.map(call(Api.roots, undefined), ({ roots }) => roots),
    open: (root) => Effect.map(call(Api.switchPlace, { root }), rememberSession)
  },
  switchBranch: (branch) => Effect.map(call(Api.switchPlace, { branch }), rememberSession),
  timeline: (ask) =>
    Effect.flatMap(
      loadModule(() => import("./LocalTimeline.js")),
      ({ timelineOf }) => ask(timelineOf(call))
    ),
  query: (query) =>
    call(Api.query, {
      collection: query.collection,
      filters: query.filters.map(({ operator, path, value }) =>
        value === undefined ? { operator, path } : { operator, path, value }
      ),
      limit: query.limit,
      cursor: query.cursor ?? null,
      projected: query.projected ?? false,
      ...(query.at === undefined ? {} : { at: query.at }),
      sort: query.sort ?? [],
      ...(query.maxRequests === undefined ? {} : { maxRequests: query.maxRequests }),
      ...(query.costOfAll === true ? { costOfAll: true } : {})
    }),
  document: (collection, id, at) =>
    Effect.map(
      call(Api.document, at === undefined ? { collection, id } : { collection, id, at }),
      ({ document }) => document
    ),
  history: (collection, id, limit) =>
    Effect.map(
      call(Api.history, id === undefined ? { collection, limit } : { collection, id, limit }),
      ({ entries }) => entries
    ),
  restore: (collection, id, commit, expectedRev) =>
    Effect.map(
      call(Api.restore, {
        collection,
        id,
        commit,
        ...(expectedRev === undefined ? {} : { expectedRev })
      }),
      ({ document }) => document
    ),
  rate: Effect.map(call(Api.rate, undefined), ({ budgets }) => budgets),
  edits: Effect.map(
    loadModule(() => import("./LocalEdits.js")),
    ({ edits }) => edits
  )
}
