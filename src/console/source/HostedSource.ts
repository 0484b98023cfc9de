import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { StoreError } from "../../domain/errors/StoreError.js"
import type { LoginRequest, SessionView } from "../../http/console/Api.js"
import type { Timeline } from "../../store/browse/Timeline.js"
import { fromStoreError, offline, type Problem, signedOut } from "../components/Problem.js"
import * as Config from "./Config.js"
import { DataSource, loadModule } from "./DataSource.js"
import type { HostedSession } from "./HostedSession.js"

// The store library is loaded at sign-in, so that the form appears sooner.
const library = loadModule(() => import("./HostedSession.js"))

/**
 * Runs the store in this page against a GitHub-compatible API. Only the closure of the session holds the token, for the
 * life of the tab.
 */
export const layer = (config: URL): Layer.Layer<DataSource> =>
  Layer.sync(DataSource, () => {
    let apis: ReadonlyArray<Config.Api> = []
    let session: HostedSession | undefined

    const end = Effect.suspend(() => {
      const ended = session
      session = undefined
      return ended === undefined ? Effect.void : ended.close
    })

    const enter = (opened: HostedSession): SessionView => {
      session = opened
      return opened.view
    }

    const using = <A>(
      use: (session: HostedSession) => Effect.Effect<A, StoreError>
    ): Effect.Effect<A, Problem> =>
      Effect.suspend(() =>
        session === undefined ? Effect.fail(signedOut()) : Effect.mapError(use(session), fromStoreError)
      )

    const move = (change: Partial<Pick<LoginRequest, "branch" | "root">>) =>
      using((before) => Effect.map(Effect.zipLeft(before.at(change), before.close), enter))

    return DataSource.of({
      build: "hosted",
      setup: Effect.map(Config.load(config), (found) => {
        apis = found
        return { apis: found.map(({ name }) => name), demo: false, session: null }
      }),
      signIn: Effect.fn("HostedSource.signIn")(function* (request) {
        yield* end
        const api = apis.find(({ name }) => name === request.api) ?? apis[0]
        if (api === undefined) return yield* offline("config.json lists no API.")
        const { open } = yield* library
        return enter(yield* Effect.mapError(open(api, request), fromStoreError))
      }),
      signOut: end,
      collections: using(({ browse }) => browse.collections),
      roots: {
        list: using(({ browse }) => browse.roots),
        open: (root) => move({ root })
      },
      newer: (since) => using(({ browse }) => browse.newer(since)),
      switchBranch: (branch) => move({ branch }),
      timeline: (ask) =>
        using(({ browse }) =>
          Effect.flatMap(browse.timeline, (timeline: Timeline<StoreError, StoreError>) => ask(timeline))
        ),
      query: (query) => using(({ browse }) => browse.query(query)),
      document: (collection, id, at) =>
        using(({ browse }) => Effect.map(browse.document(collection, id, at), Option.getOrNull)),
      history: (collection, id, limit) => using(({ browse }) => browse.history(collection, id, limit)),
      restore: (collection, id, commit, expectedRev) =>
        using(({ browse }) => browse.restore(collection, id, commit, expectedRev)),
      rate: using(({ browse }) => browse.rate),
      edits: loadModule(() => import("./HostedEdits.js")).pipe(
        Effect.map(({ editsOf }) => editsOf(using(({ browse }) => Effect.succeed(browse))))
      )
    })
  })
