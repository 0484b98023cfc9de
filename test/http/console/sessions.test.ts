import { NodeContext } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer, Option, Ref, TestClock } from "effect"
import { GitRepositories } from "../../../src/git/disk/GitRepositories.js"
import { ConsoleStores, embeddedApi } from "../../../src/http/console/ConsoleStores.js"
import * as Handlers from "../../../src/http/console/Handlers.js"
import { anonymousOwner, defaultLimits, type Session, Sessions } from "../../../src/http/console/Sessions.js"
import * as SignInThrottle from "../../../src/http/console/SignInThrottle.js"
import * as Tokens from "../../../src/http/host/access/Tokens.js"
import * as HostLayer from "../../../src/http/host/HostLayer.js"
import * as ConsoleStoresLayer from "../../../src/layers/ConsoleStores.js"
import type { Browse } from "../../../src/store/browse/Browse.js"
import { temporary } from "../../git/disk/support/temporary.js"

const session = (id: string, owner = "a"): Session => ({
  id,
  owner,
  api: "GitHub",
  repo: "a/b",
  branch: "main",
  root: "data",
  readOnly: true,
  atRoot: () => Effect.die("not used"),
  // Sessions hold it and never use it.
  browse: undefined as unknown as Browse,
  isAuthorized: Effect.succeed(true)
})

/** A session that counts how often its resources are released. */
const opened = (closed: Ref.Ref<number>) => (id: string) =>
  Effect.as(
    Effect.addFinalizer(() => Ref.update(closed, (n) => n + 1)),
    { session: session(id), result: undefined }
  )

const alive = (id: string) =>
  Effect.flatMap(Sessions, (sessions) => Effect.map(sessions.find(id), Option.isSome))

const create = (closed: Ref.Ref<number>) =>
  Effect.flatMap(Sessions, (sessions) =>
    Effect.map(sessions.create(opened(closed), Effect.succeed), (made) => made.session.id)
  )

it.scoped("end after eight idle hours, and give back what they hold", () =>
  Effect.gen(function* () {
    const closed = yield* Ref.make(0)
    const id = yield* create(closed)
    yield* TestClock.adjust("7 hours")
    assert.isTrue(yield* alive(id))
    yield* TestClock.adjust("7 hours")
    assert.isTrue(yield* alive(id))
    yield* TestClock.adjust("8 hours")
    assert.isFalse(yield* alive(id))
    assert.strictEqual(yield* Ref.get(closed), 1)
  }).pipe(Effect.provide(Sessions.Default(defaultLimits)))
)

it.scoped("end after a day, however busy", () =>
  Effect.gen(function* () {
    const closed = yield* Ref.make(0)
    const id = yield* create(closed)
    for (let hour = 1; hour < 24; hour++) {
      yield* TestClock.adjust("1 hour")
      assert.isTrue(yield* alive(id), `hour ${hour}`)
    }
    yield* TestClock.adjust("1 hour")
    assert.isFalse(yield* alive(id))
  }).pipe(Effect.provide(Sessions.Default(defaultLimits)))
)

it.scoped("are swept when nobody asks, and end with the process", () =>
  Effect.gen(function* () {
    const closed = yield* Ref.make(0)
    yield* Effect.gen(function* () {
      yield* create(closed)
      yield* TestClock.adjust("8 hours")
      yield* TestClock.adjust("15 minutes")
      assert.strictEqual(yield* Ref.get(closed), 1)
      yield* create(closed)
    }).pipe(Effect.provide(Sessions.Default(defaultLimits)))
    assert.strictEqual(yield* Ref.get(closed), 2)
  })
)

it.scoped("leave nothing behind when opening fails or is interrupted", () =>
  Effect.gen(function* () {
    const closed = yield* Ref.make(0)
    const sessions = yield* Sessions
    const failing = sessions.create(
      (id) => Effect.zipRight(opened(closed)(id), Effect.fail("no" as const)),
      Effect.succeed
    )
    assert.isTrue(Exit.isFailure(yield* Effect.exit(failing)))
    const started = yield* Deferred.make<void>()
    const hanging = sessions.create(
      (id) =>
        opened(closed)(id).pipe(
          Effect.zipLeft(Deferred.succeed(started, undefined)),
          Effect.zipRight(Effect.never)
        ),
      Effect.succeed
    )
    const fiber = yield* Effect.fork(hanging)
    yield* Deferred.await(started)
    yield* fiber.interruptAsFork(fiber.id())
    yield* fiber.await
    assert.strictEqual(yield* Ref.get(closed), 2)
    assert.strictEqual(yield* sessions.count, 0)
  }).pipe(Effect.provide(Sessions.Default(defaultLimits)))
)

it.scoped("of one owner end none of others", () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const signIn = (owner: string) =>
      Effect.map(
        sessions.create(
          (id) => Effect.succeed({ session: session(id, owner), result: undefined }),
          Effect.succeed
        ),
        (made) => made.session.id
      )
    const first = yield* signIn("somebody")
    yield* TestClock.adjust("1 minute")
    for (let n = 0; n < 300; n++) yield* signIn(anonymousOwner)
    assert.isTrue(yield* alive(first))
    assert.strictEqual(yield* sessions.count, defaultLimits.maximum)
  }).pipe(Effect.provide(Sessions.Default(defaultLimits)))
)

it.scopedLive("end with the tokens of the host, before the browser asks again", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const repositories = HostLayer.layerRepositories(directory)
    const host = Layer.merge(repositories, Tokens.layer({ directory })).pipe(Layer.provide(NodeContext.layer))
    yield* Effect.gen(function* () {
      const sessions = yield* Sessions
      const stores = yield* ConsoleStores
      const tokens = yield* Tokens.Tokens
      yield* Effect.flatMap(GitRepositories, (all) => all.create("test", "shop"))
      yield* Effect.asVoid(Handlers.router())
      const closed = yield* Ref.make(0)
      const [ann] = yield* Effect.forEach(["ann", "bob"], (login) =>
        Effect.gen(function* () {
          const token = yield* tokens.issue(login, [{ repository: "test/shop", access: "write" }])
          const signedIn = (id: string) =>
            Effect.gen(function* () {
              const { isAuthorized } = yield* stores.open({
                api: embeddedApi,
                repo: "test/shop",
                branch: "main",
                root: "data",
                token: Option.some(token)
              })
              const { result, session } = yield* opened(closed)(id)
              return { result, session: { ...session, isAuthorized } }
            })
          const made = yield* sessions.create(signedIn, Effect.succeed)
          return made.session.id
        })
      )
      assert.isTrue(yield* alive(ann!))
      assert.strictEqual(yield* tokens.revoke("bob"), 1)
      yield* Effect.repeat(Effect.delay(Ref.get(closed), "10 millis"), { until: (n) => n > 0 }).pipe(
        Effect.timeout("5 seconds")
      )
      assert.strictEqual(yield* sessions.count, 1)
      assert.isTrue(yield* alive(ann!))
    }).pipe(
      Effect.provide(
        Layer.mergeAll(ConsoleStoresLayer.layer({ bind: "127.0.0.1", apis: [] }), Sessions.Default()).pipe(
          Layer.provideMerge(host)
        )
      )
    )
  })
)

it.effect("ten failures a minute and no more, for each address", () =>
  Effect.gen(function* () {
    const attempts = yield* SignInThrottle.make
    const fail = (address: string) => Effect.flip(attempts.guard(address, Effect.fail("wrong" as const)))
    for (let i = 0; i < 10; i++) assert.strictEqual(yield* fail("a"), "wrong")
    const refused = yield* fail("a")
    assert.isTrue(typeof refused === "object" && refused.status === 429)
    assert.strictEqual(yield* fail("b"), "wrong")
    yield* attempts.guard("c", Effect.void, "token")
    for (let i = 0; i < 10; i++) yield* fail("c")
    assert.isTrue(Exit.isFailure(yield* Effect.exit(attempts.guard("c", Effect.void, "another"))))
    yield* attempts.guard("c", Effect.void, "token")
    yield* TestClock.adjust("61 seconds")
    assert.strictEqual(yield* attempts.guard("a", Effect.succeed("in" as const)), "in")
  })
)
