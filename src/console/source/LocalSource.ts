import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Setup } from "../../http/console/Api.js"
import { sessionPath } from "../../http/console/session/Api.js"
import type { Problem } from "../components/Problem.js"
import { DataSource, loadModule } from "./DataSource.js"
import { forgetSession, otherVersion, request } from "./LocalRequest.js"

// The schemas of the server's replies are loaded at sign-in, so that the form appears sooner.
const library = loadModule(() => import("./LocalServer.js"))

type Library = Effect.Effect.Success<typeof library>

const using = <A>(use: (server: Library["server"]) => Effect.Effect<A, Problem>): Effect.Effect<A, Problem> =>
  Effect.flatMap(library, ({ server }) => use(server))

const isSetup = (value: unknown): value is Omit<Setup, "session"> & { readonly session: unknown } =>
  typeof value === "object" &&
  value !== null &&
  "apis" in value &&
  Array.isArray(value.apis) &&
  value.apis.every((name) => typeof name === "string") &&
  "demo" in value &&
  typeof value.demo === "boolean" &&
  "session" in value

/** The data source of the local server. */
export const layer: Layer.Layer<DataSource> = Layer.succeed(
  DataSource,
  DataSource.of({
    build: "local",
    setup: Effect.gen(function* () {
      const reply = yield* request({ method: "GET", path: sessionPath })
      if (!isSetup(reply)) return yield* otherVersion()
      const { apis, demo, session } = reply
      if (session !== null) return { apis, demo, session: yield* (yield* library).sessionOf(session) }
      forgetSession()
      return { apis, demo, session }
    }),
    signIn: (request) => using(({ signIn }) => signIn(request)),
    signOut: using(({ signOut }) => signOut),
    collections: using(({ collections }) => collections),
    newer: (since) => using(({ newer }) => newer(since)),
    roots: {
      list: using(({ roots }) => roots.list),
      open: (root) => using(({ roots }) => roots.open(root))
    },
    switchBranch: (branch) => using(({ switchBranch }) => switchBranch(branch)),
    timeline: (ask) => using(({ timeline }) => timeline(ask)),
    query: (query) => using((server) => server.query(query)),
    document: (...asked) => using(({ document }) => document(...asked)),
    history: (...asked) => using(({ history }) => history(...asked)),
    restore: (...asked) => using(({ restore }) => restore(...asked)),
    rate: using(({ rate }) => rate),
    edits: using(({ edits }) => edits)
  })
)
