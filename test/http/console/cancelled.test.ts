import { HttpServerRequest } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Redacted, Ref, type Scope } from "effect"
import { GitRepositories } from "../../../src/git/disk/GitRepositories.js"
import { ConsoleStores } from "../../../src/http/console/ConsoleStores.js"
import * as Handlers from "../../../src/http/console/Handlers.js"
import { Sessions } from "../../../src/http/console/Sessions.js"
import * as Tokens from "../../../src/http/host/access/Tokens.js"
import * as HostLayer from "../../../src/http/host/HostLayer.js"
import * as ConsoleStoresLayer from "../../../src/layers/ConsoleStores.js"
import { temporary } from "../../git/disk/support/temporary.js"

type Open = ConsoleStores["Type"]["open"]

/** A user who may write to a repository, and whose sign-ins open it as `slowly` says. The user may have a session's cookie. */
const signingIn = (slowly: (open: Open) => Open) =>
  Effect.gen(function* () {
    const real = yield* ConsoleStores
    yield* Effect.flatMap(GitRepositories, (all) => all.create("test", "shop"))
    const token = yield* Effect.flatMap(Tokens.Tokens, (tokens) =>
      tokens.issue("ann", [{ repository: "test/shop", access: "write" }])
    )
    const slow = ConsoleStores.of({ ...real, open: slowly(real.open) })
    const router = yield* Effect.provideService(Handlers.router(), ConsoleStores, slow)
    const body = { api: "embedded", repo: "test/shop", branch: "main", root: "data" }
    return (cookie = "") => {
      const request = new Request("http://localhost/api/login", {
        method: "POST",
        headers: {
          ...{ host: "localhost", origin: "http://localhost", "content-type": "application/json" },
          cookie
        },
        body: JSON.stringify({ ...body, token: Redacted.value(token) })
      })
      return Effect.provideService(
        router,
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(request)
      )
    }
  })

/** Runs a test with the console over the repositories of a host. */
const withConsole = <A, E>(
  test: Effect.Effect<A, E, Sessions | ConsoleStores | GitRepositories | Tokens.Tokens | Scope.Scope>
) =>
  Effect.flatMap(temporary, (directory) => {
    const host = Layer.merge(HostLayer.layerRepositories(directory), Tokens.layer({ directory })).pipe(
      Layer.provide(NodeContext.layer)
    )
    const stores = ConsoleStoresLayer.layer({ bind: "127.0.0.1", apis: [] })
    return Effect.provide(test, Layer.merge(stores, Sessions.Default()).pipe(Layer.provideMerge(host)))
  })

// Likely: a user cancels a slow sign-in, whose last request is for the head. Harmful: a session that no browser has holds the token for
// eight hours, and takes one of the 200 places.
it.scopedLive("a sign-in that the user cancels leaves no session", () =>
  withConsole(
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const asked = yield* Deferred.make<void>()
      const signIn = yield* signingIn(
        (open) => (request) =>
          Effect.map(open(request), (opened) => ({
            ...opened,
            remote: {
              ...opened.remote,
              head: () => Effect.zipRight(Deferred.succeed(asked, undefined), Effect.never)
            }
          }))
      )
      const handled = yield* Effect.fork(signIn())
      yield* Effect.raceFirst(Deferred.await(asked), Fiber.join(handled))
      // The server interrupts the handler of a request whose client has gone.
      yield* Fiber.interrupt(handled)
      assert.strictEqual(yield* sessions.count, 0)
    })
  )
)

// Unlikely: a user signs in again, and cancels while the old session ends, which takes moments. Harmful: nobody has the new session, which
// holds the token for eight hours and takes one of the 200 places; the browser's old session is gone, too.
it.scopedLive("a second sign-in that the user cancels while the first session ends leaves no session", () =>
  withConsole(
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const ending = yield* Deferred.make<void>()
      const signIn = yield* signingIn(
        (open) => (request) =>
          Effect.zipRight(
            Effect.addFinalizer(() =>
              Effect.zipRight(Deferred.succeed(ending, undefined), Effect.sleep("200 millis"))
            ),
            open(request)
          )
      )
      const [cookie] = Object.values((yield* signIn()).cookies.cookies)
      assert.strictEqual(yield* sessions.count, 1)
      const handled = yield* Effect.fork(signIn(`${cookie!.name}=${cookie!.value}`))
      yield* Effect.raceFirst(Deferred.await(ending), Fiber.join(handled))
      yield* Fiber.interrupt(handled)
      assert.strictEqual(yield* sessions.count, 0)
    })
  )
)

// Very unlikely: a client leaves while its session ends, and a session that holds more than one resource, of which one takes moments to
// release; those of today hold one. Harmful: the rest (a repository's engine, a connection) is never released, as nobody has the session.
it.scopedLive("a sign-out that is interrupted releases all that the session holds", () =>
  withConsole(
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const ending = yield* Deferred.make<void>()
      const isReleased = yield* Ref.make(false)
      const signIn = yield* signingIn(
        (open) => (request) =>
          Effect.gen(function* () {
            yield* Effect.addFinalizer(() => Ref.set(isReleased, true))
            const opened = yield* open(request)
            yield* Effect.addFinalizer(() =>
              Effect.zipRight(Deferred.succeed(ending, undefined), Effect.sleep("50 millis"))
            )
            return opened
          })
      )
      const [cookie] = Object.values((yield* signIn()).cookies.cookies)
      const ended = yield* Effect.fork(sessions.end(cookie!.value))
      yield* Deferred.await(ending)
      yield* Fiber.interrupt(ended)
      assert.strictEqual(yield* sessions.count, 0)
      assert.isTrue(yield* Ref.get(isReleased))
    })
  )
)
