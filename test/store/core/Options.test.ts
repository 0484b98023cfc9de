// @effect-diagnostics unknownInEffectCatch:off
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FetchHttpClient } from "@effect/platform"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Config, ConfigError, ConfigProvider, Duration, Effect, Exit, type Layer, Redacted } from "effect"
import { expectTypeOf } from "vitest"
import { type ReadError, ValidationError } from "../../../src/domain/errors/StoreError.js"
import * as GitRepositories from "../../../src/git/disk/GitRepositories.js"
import { GitHost, LocalGit, openLocal } from "../../../src/store/local/index.js"
import { openStore } from "../../../src/store/promise/index.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHub from "../../../src/store/remote/github/GitHub.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import { Store } from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"

const directory = mkdtempSync(join(tmpdir(), "chainstore-options-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

type Given = Record<string, unknown>

const faces: Readonly<Record<string, (given: Given) => Effect.Effect<unknown, unknown>>> = {
  "Store.make": (given) =>
    Effect.flatMap(Memory.make(), (remote) => Effect.provideService(Store.make(given), GitRemote, remote)),
  "GitHub.make": (given) => Effect.provide(GitHub.make({ repo: "o/r", ...given }), FetchHttpClient.layer),
  "LocalGit.scoped": (given) => Effect.scoped(LocalGit.scoped({ directory, ...given })),
  "GitRepositories.make": (given) => Effect.scoped(GitRepositories.make({ directory, ...given })),
  "Memory.make": (given) => Memory.make(given),
  openLocal: (given) => closed(() => openLocal({ directory, ...given })),
  openStore: (given) => closed(() => openStore({ repo: "o/r", ...given }))
}

const closed = (open: () => Promise<AsyncDisposable>) =>
  Effect.acquireUseRelease(
    Effect.tryPromise({ try: open, catch: (error) => error }),
    () => Effect.void,
    (store) => Effect.promise(async () => store[Symbol.asyncDispose]())
  )

/** What a face says of options: every way of failing but a `ValidationError` is a failure of the test. */
const told = (face: string, given: Given) =>
  Effect.map(Effect.exit(faces[face]!(given)), (exit) => {
    if (Exit.isSuccess(exit)) return `${face} takes ${Object.keys(given)}`
    if (exit.cause._tag !== "Fail") throw new Error(`${face} dies: ${exit.cause}`)
    assert.instanceOf(exit.cause.error, ValidationError, `${face}: ${exit.cause.error}`)
    return (exit.cause.error as ValidationError).message
  })

describe("options", () => {
  it.effect("an unknown one is refused, with the one that was probably meant", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [face: string, unknown: string, meant: string]> = [
        ["Store.make", "readonly", "readOnly"],
        ["Store.make", "shard_depth", "shardDepth"],
        ["Store.make", "index", "indexes"],
        ["GitHub.make", "use_graphql", "useGraphql"],
        ["GitHub.make", "repository", "repo"],
        ["GitHub.make", "backoff", "backoffFactor"],
        ["LocalGit.scoped", "reppo", "repo"],
        ["LocalGit.scoped", "default_branch", "defaultBranch"],
        ["GitRepositories.make", "Idle", "idle"],
        ["Memory.make", "movebranches", "moveBranches"],
        ["openLocal", "reppo", "repo"],
        ["openLocal", "readonly", "readOnly"],
        ["openStore", "commit_via", "commitVia"],
        ["openStore", "Token", "token"]
      ]
      for (const [face, unknown, meant] of cases) {
        assert.strictEqual(
          yield* told(face, { [unknown]: undefined }),
          `${unknown} is not an option: did you mean ${meant}?`,
          face
        )
      }
      const lane = yield* told("GitHub.make", { writeLane: { perminute: 1 } })
      assert.strictEqual(lane, "writeLane.perminute is not an option: did you mean writeLane.perMinute?")
      assert.match(yield* told("Memory.make", { zebra: 1 }), /^zebra is not an option; the options are /)
      assert.deepStrictEqual(readdirSync(directory), [])
    })
  )

  it.effect("a bare number is not a duration, and the message names both units", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [face: string, name: string]> = [
        ["Store.make", "deadline"],
        ["GitHub.make", "timeout"],
        ["GitHub.make", "backoffFactor"],
        ["GitHub.make", "maxWait"],
        ["GitHub.make", "deadline"],
        ["LocalGit.scoped", "timeout"],
        ["LocalGit.scoped", "idle"],
        ["GitRepositories.make", "timeout"],
        ["openLocal", "idle"],
        ["openStore", "timeout"]
      ]
      for (const [face, name] of cases) {
        assert.strictEqual(
          yield* told(face, { [name]: 30 }),
          `${name} must be a duration with its unit, not the bare number 30: write "30 seconds" or "30 millis"`,
          face
        )
        assert.match(yield* told(face, { [name]: "30s" }), /must be a duration, such as "30 seconds"/)
        assert.match(yield* told(face, { [name]: "-1 seconds" }), /must be a duration/)
      }
      assert.match(yield* told("LocalGit.scoped", { maintenance: { quiet: 5 } }), /^maintenance\.quiet must/)
      const taken = [
        GitHub.layer({ repo: "o/r", timeout: "30 seconds", backoffFactor: Duration.millis(500) }),
        // @ts-expect-error the unit is missing
        GitHub.layer({ repo: "o/r", timeout: 30 }),
        // @ts-expect-error the unit is missing
        LocalGit.layer({ directory, idle: 30 }),
        // @ts-expect-error the unit is missing
        Store.layer({ deadline: 30 })
      ]
      assert.strictEqual(taken.length, 4)
    })
  )

  it.effect("a value of another type is refused, and no possibly secret value is repeated", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [face: string, given: Given, message: string]> = [
        ["GitHub.make", { useGraphql: "yes" }, "useGraphql must be true or false, it is a string"],
        ["GitHub.make", { commitVia: "x" }, 'commitVia must be "git-data" or "graphql" or "push", it is "x"'],
        ["GitHub.make", { paceRequests: 0 }, "paceRequests must be true or false, it is a number"],
        ["GitHub.make", { token: "ghp_secret" }, "token must be Redacted, it is a string"],
        ["GitHub.make", { repo: undefined }, "repo must be a string, it is undefined"],
        ["GitHub.make", { author: { name: "Ada" } }, "author.email is missing"],
        ["GitHub.make", { author: "Ada" }, "author must be an object, it is a string"],
        ["GitHub.make", { maxRetries: -1 }, "maxRetries must be a whole number, at least 0, it is -1"],
        [
          "GitHub.make",
          { session: 5, auth: {} },
          "auth must be an Effect of an Authorization, it is an object; session must be an HttpClient, it is a number"
        ],
        [
          "Store.make",
          { indexes: ["a"] },
          'indexes maps collections to lists of fields, such as { people: ["city"] }'
        ],
        ["Store.make", { indexes: { a: "x" } }, "indexes.a is a list of fields"],
        ["Store.make", { author: "Ada <a@b>" }, "author must be an object, it is a string"],
        [
          "LocalGit.scoped",
          { directory: undefined },
          "directory must be the path of a directory, it is undefined"
        ],
        [
          "LocalGit.scoped",
          { create: 1, repo: 5 },
          "repo must be a string, it is a number; create must be true or false, it is a number"
        ],
        ["openLocal", { directory: undefined }, "directory must be the path of a directory, it is undefined"],
        [
          "openLocal",
          { idle: true, author: 5 },
          'author must be an object, it is a number; idle must be a duration, such as "30 seconds" or "500 millis"'
        ],
        ["openStore", { token: Redacted.make("ghp_secret") }, "token must be a string, it is an object"],
        ["openStore", { paceRequests: "no" }, "paceRequests must be true or false, it is a string"],
        ["Memory.make", { repository: "o/r" }, "repository must be a MemoryRepository, it is a string"]
      ]
      for (const [face, given, message] of cases) assert.strictEqual(yield* told(face, given), message)
      for (const [face, open] of Object.entries({ openLocal, openStore })) {
        for (const nothing of [undefined, null, 5, "x", []]) {
          const error: unknown = yield* Effect.flip(
            Effect.tryPromise({
              try: () => (open as (given: unknown) => Promise<unknown>)(nothing),
              catch: (e) => e
            })
          )
          assert.instanceOf(error, ValidationError, `${face} ${String(nothing)}`)
        }
      }
      assert.deepStrictEqual(readdirSync(directory), [])
    })
  )
})

it.effect("a store fails to open for its options alone, unless a ref is to be looked for", () =>
  Effect.gen(function* () {
    expectTypeOf(Store.layer()).toEqualTypeOf<Layer.Layer<Store, ValidationError, GitRemote>>()
    const plain = Store.layer({ branch: "main", shardDepth: 1 })
    expectTypeOf(plain).toEqualTypeOf<Layer.Layer<Store, ValidationError, GitRemote>>()
    expectTypeOf(Store.layer({ ref: "v1" })).toEqualTypeOf<Layer.Layer<Store, ReadError, GitRemote>>()
    const given: StoreOptions = {}
    expectTypeOf(Store.layer(given)).toEqualTypeOf<Layer.Layer<Store, ReadError, GitRemote>>()
    // @ts-expect-error: there is no such option
    const misspelled = Store.make({ branhc: "main" })
    const remote = yield* Memory.make()
    const refused = yield* Effect.flip(Effect.provideService(misspelled, GitRemote, remote))
    assert.strictEqual(refused._tag, "ValidationError")
    const absent = Effect.provideService(Store.make({ ref: "v1" }), GitRemote, remote)
    assert.strictEqual((yield* Effect.flip(absent))._tag, "NotFoundError")
  })
)

it.effect(
  "every layer of this machine reads its options from configuration, and says which is missing or wrong",
  () =>
    Effect.gen(function* () {
      const layers = {
        LocalGit: LocalGit.layerConfig({ directory: Config.string("PLACE") }),
        GitHost: GitHost.layerConfig({ url: Config.string("PLACE"), token: Config.redacted("TOKEN") })
      }
      const memory = Memory.layerConfig({ moveBranches: Config.boolean("MOVE_BRANCHES") })
      const inMemory = (value: string) =>
        Effect.provide(GitRemote, memory).pipe(
          Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["MOVE_BRANCHES", value]])))
        )
      assert.isDefined((yield* inMemory("true")).moveBranches)
      assert.isUndefined((yield* inMemory("false")).moveBranches)
      assert.isTrue(ConfigError.isConfigError(yield* Effect.flip(inMemory("perhaps"))))
      const found = (values: Readonly<Record<string, string>>) =>
        Effect.forEach(Object.values(layers), (layer) =>
          Effect.flip(Effect.provide(GitRemote, layer)).pipe(
            Effect.map(({ _tag }) => _tag),
            Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(values))))
          )
        )
      assert.notIncludeMembers(yield* found({}), ["ValidationError", "RemoteError"])
      assert.deepStrictEqual(yield* found({ PLACE: "", TOKEN: "t" }), ["ValidationError", "ValidationError"])
      const opened = yield* Effect.provide(GitRemote, layers.LocalGit).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["PLACE", directory]])))
      )
      assert.match(opened.name, /local\/store/)
    })
)

it.effect("GitHub's options are read from each variable that its documentation names", () =>
  Effect.gen(function* () {
    const values = {
      CHAINSTORE_REPO: ["repo", "o/r"],
      CHAINSTORE_TOKEN: ["token", "secret"],
      CHAINSTORE_API_URL: ["apiUrl", "https://api.example"],
      CHAINSTORE_RAW_URL: ["rawUrl", "https://raw.example"],
      CHAINSTORE_COMMIT_VIA: ["commitVia", "graphql"]
    } as const
    const sentence = /\(`GitHub\.config`\):[^.]*/.exec(readFileSync("docs/github.md", "utf8"))!
    assert.sameMembers(sentence[0].match(/CHAINSTORE_\w+/g)!, Object.keys(values))
    const given = Object.entries(values).map(([name, [, value]]) => [name, value] as const)
    const options = yield* Effect.withConfigProvider(GitHub.config, ConfigProvider.fromMap(new Map(given)))
    const { token, ...rest } = options
    const { token: expected, ...others } = Object.fromEntries(Object.values(values))
    assert.deepStrictEqual<Record<string, unknown>>({ ...rest }, others)
    assert.strictEqual(Redacted.value(token!), expected)
    const wrong = new Map([...given, ["CHAINSTORE_COMMIT_VIA", "post"]])
    assert.isTrue(
      ConfigError.isConfigError(
        yield* Effect.flip(Effect.withConfigProvider(GitHub.config, ConfigProvider.fromMap(wrong)))
      )
    )
  })
)
