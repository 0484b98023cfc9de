import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { Endpoint } from "../domain/Endpoint.js"
import * as Api from "../http/console/Api.js"
import { DataSource, fetched } from "./DataSource.js"
import * as Problem from "./Problem.js"

const unreadable = (cause: unknown) =>
  Problem.server(
    `The answer of the server could not be read (${cause instanceof Error ? cause.message : "?"}).`
  )

/** What this page shows of the session, as the server is told with every request. */
let place: string | undefined

const seen = (session: Api.SessionView): Api.SessionView => {
  place = Api.placeOf(session)
  return session
}

const forget = () => {
  place = undefined
}

const call = <P, A>(endpoint: Endpoint<string, P, A>, payload: P): Effect.Effect<A, Problem.Problem> =>
  Effect.gen(function* () {
    const body =
      endpoint.body === undefined
        ? "{}"
        : JSON.stringify(yield* Effect.orDie(Schema.encode(endpoint.body)(payload)))
    const response = yield* Effect.tryPromise({
      try: (signal) =>
        fetch(endpoint.path, {
          method: endpoint.method,
          signal,
          cache: "no-store",
          credentials: "same-origin",
          headers: {
            ...(place === undefined ? {} : { [Api.placeHeader]: place }),
            ...(endpoint.method === "GET" ? {} : { "content-type": "application/json" })
          },
          ...(endpoint.method === "GET" ? {} : { body })
        }),
      catch: () => Problem.offline("The console's own server did not answer.")
    })
    const text = yield* Effect.tryPromise({ try: () => response.text(), catch: unreadable })
    if (!response.ok) {
      const failure = yield* Effect.try({ try: () => JSON.parse(text) as unknown, catch: unreadable }).pipe(
        Effect.flatMap(Schema.decodeUnknown(Api.Failure)),
        Effect.mapError(() =>
          Problem.fromAnswer(
            502,
            { error: "RemoteError", message: `The server answered with status ${response.status}.` },
            null
          )
        )
      )
      if (response.status === 401 && endpoint.path !== Api.login.path) return yield* Problem.signedOut()
      return yield* Problem.fromAnswer(response.status, failure, response.headers.get("retry-after"))
    }
    if (response.status === 204) return undefined as A
    const json = yield* Effect.try({ try: () => JSON.parse(text) as unknown, catch: unreadable })
    return yield* Effect.mapError(Schema.decodeUnknown(endpoint.reply)(json), () =>
      Problem.server(
        "The server answered something else than this page expects: reload it to have both of one version."
      )
    )
  })

/** Everything from the server that this page came from. */
export const layer: Layer.Layer<DataSource> = Layer.succeed(
  DataSource,
  DataSource.of({
    build: "local",
    setup: Effect.tap(call(Api.session, undefined), ({ session }) =>
      Effect.sync(() => (session === null ? forget() : seen(session)))
    ),
    signIn: (request) => Effect.map(call(Api.login, request), seen),
    signOut: Effect.zipRight(Effect.sync(forget), call(Api.logout, undefined)).pipe(
      Effect.timeoutFail({
        duration: "10 seconds",
        onTimeout: () => Problem.offline("The console's own server did not answer.")
      }),
      Effect.mapError(({ message }) => Problem.stillSignedIn(message))
    ),
    collections: Effect.map(call(Api.collections, undefined), ({ collections }) => collections),
    newer: (since) => call(Api.newer, since === undefined ? {} : { since }),
    switchBranch: (branch) => Effect.map(call(Api.switchBranch, { branch }), seen),
    timeline: (ask) =>
      Effect.flatMap(
        fetched(() => import("./time/LocalTimeline.js")),
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
        ...(query.sort === undefined ? {} : { sort: query.sort }),
        ...(query.maxRequests === undefined ? {} : { maxRequests: query.maxRequests })
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
    rate: Effect.map(call(Api.rate, undefined), ({ budgets }) => budgets)
  })
)
