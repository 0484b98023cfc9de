import { ClusterSchema, Entity, MessageStorage, TestRunner } from "@effect/cluster"
import {
  FetchHttpClient,
  HttpApi,
  HttpApiBuilder,
  HttpApiClient,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpServer
} from "@effect/platform"
import { Rpc, RpcClient, RpcGroup, RpcSerialization, RpcServer } from "@effect/rpc"
import { assert, describe, it } from "@effect/vitest"
import * as Codec from "chainstore/codec"
import { Effect, Layer, Option, Schema, type Scope } from "effect"
import * as Stored from "../../src/store/index.js"
import * as Memory from "../../src/store/remote/memory/Memory.js"

class Person extends Schema.Class<Person>("Person")({ name: Schema.NonEmptyString, born: Schema.Date }) {
  get year() {
    return this.born.getUTCFullYear()
  }
}

const person = Codec.document(Person)

type Kept = Layer.Layer<Stored.Store>

const inMemory = Layer.provide(
  Stored.Store.layer({ indexes: { people: [{ fields: ["name"], unique: true }] } }),
  Memory.layer()
)

/** How each failure comes about: by the store itself where a store in memory can be brought to it. */
const failures = {
  NotFoundError: (people) => people.update("nobody", { name: "Eve" }),
  ConflictError: (people, ada) => people.insert(ada, { id: "other" }),
  ValidationError: (people) => people.get("a/b"),
  AuthError: () =>
    new Stored.AuthError({ operation: "get", message: "no", status: 403, hint: "ask the owner" }),
  RateLimitError: () =>
    new Stored.RateLimitError({ operation: "get", message: "later", remaining: 0, reset: 1_800_000_000 }),
  AmbiguousWriteError: () =>
    new Stored.AmbiguousWriteError({
      operation: "insert",
      message: "perhaps",
      collection: "people",
      id: "ada"
    }),
  RemoteError: () =>
    new Stored.RemoteError({
      operation: "get",
      message: "no line",
      reason: "Unreachable",
      status: 502,
      cause: new Error("secret")
    })
} satisfies Record<
  Stored.WriteError["_tag"],
  (people: Stored.Collection<Person, any>, ada: Person) => Effect.Effect<unknown, Stored.WriteError>
>

type Wanted = keyof typeof failures | "Ada"

/** Reads Ada, or fails in the way that is wanted. */
const answer = ({ wanted }: { readonly wanted: string }) =>
  Effect.gen(function* () {
    const people = (yield* Stored.Store).collection("people", Person)
    const ada = new Person({ name: "Ada", born: new Date("1815-12-10") })
    if (!(yield* people.exists("ada"))) yield* people.insert(ada, { id: "ada" })
    if (wanted in failures) yield* failures[wanted as keyof typeof failures](people as never, ada)
    return Option.getOrThrow(yield* people.get("ada"))
  })

type Call = (wanted: Wanted) => Effect.Effect<Schema.Schema.Type<typeof person>, unknown>

const rpc = Rpc.make("Answer", {
  payload: { wanted: Schema.String },
  success: person,
  error: Codec.WriteError
})

const served = (handler: (request: Request) => Promise<Response>) =>
  Layer.provide(
    FetchHttpClient.layer,
    Layer.succeed(FetchHttpClient.Fetch, (input, init) => handler(new Request(input, init)))
  )

const overRpc = (serialization: Layer.Layer<RpcSerialization.RpcSerialization>) => (store: Kept) =>
  Effect.gen(function* () {
    const group = RpcGroup.make(rpc)
    const handlers = Layer.provide(group.toLayer({ Answer: answer }), store)
    const server = yield* Effect.acquireRelease(
      Effect.sync(() =>
        RpcServer.toWebHandler(group, {
          layer: Layer.mergeAll(handlers, serialization, HttpServer.layerContext)
        })
      ),
      (server) => Effect.promise(() => server.dispose())
    )
    const protocol = yield* Layer.build(
      RpcClient.layerProtocolHttp({ url: "http://people.example/rpc" }).pipe(
        Layer.provide([serialization, served(server.handler)])
      )
    )
    const client = yield* Effect.provide(RpcClient.make(group), protocol)
    return ((wanted) => client.Answer({ wanted })) as Call
  })

const overHttpApi = (store: Kept) =>
  Effect.gen(function* () {
    const api = HttpApi.make("people").add(
      HttpApiGroup.make("people").add(
        HttpApiEndpoint.get("answer", "/:wanted")
          .setPath(Schema.Struct({ wanted: Schema.String }))
          .addSuccess(person)
          .addError(Codec.WriteError)
      )
    )
    const handlers = HttpApiBuilder.group(api, "people", (handlers) =>
      handlers.handle("answer", ({ path }) => answer(path))
    )
    const server = yield* Effect.acquireRelease(
      Effect.sync(() =>
        HttpApiBuilder.toWebHandler(
          Layer.merge(Layer.provide(HttpApiBuilder.api(api), handlers), HttpServer.layerContext).pipe(
            Layer.provide(store)
          )
        )
      ),
      (server) => Effect.promise(() => server.dispose())
    )
    const client = yield* Effect.provide(
      HttpApiClient.make(api, { baseUrl: "http://people.example" }),
      served(server.handler)
    )
    return ((wanted) => client.people.answer({ path: { wanted } })) as Call
  })

/** What a cluster stores of the replies to persisted messages, which another runner reads. */
const overCluster = (store: Kept) =>
  Effect.gen(function* () {
    const Directory = Entity.make("Directory", [rpc]).annotateRpcs(ClusterSchema.Persisted, true)
    const runner = Layer.provide(Directory.toLayer({ Answer: ({ payload }) => answer(payload) }), store)
    const context = yield* Layer.build(Layer.provideMerge(runner, TestRunner.layer))
    const entity = yield* Effect.provide(Directory.client, context)
    const { requests } = yield* Effect.provide(MessageStorage.MemoryDriver, context)
    return ((wanted) =>
      Effect.gen(function* () {
        yield* Effect.exit(entity("one").Answer({ wanted }))
        const reply = [...requests.values()].at(-1)?.replies.at(-1)
        if (reply?._tag !== "WithExit") return yield* Effect.dieMessage("the cluster has stored no reply")
        const stored = JSON.parse(JSON.stringify(reply.exit))
        return yield* yield* Schema.decode(Rpc.exitSchema(rpc))(stored)
      })) as Call
  })

const carriers: Record<string, (store: Kept) => Effect.Effect<Call, unknown, Scope.Scope>> = {
  "RPC in NDJSON": overRpc(RpcSerialization.layerNdjson),
  "RPC in MessagePack": overRpc(RpcSerialization.layerMsgPack),
  HttpApi: overHttpApi,
  "a cluster": overCluster
}

const told = (error: Error) => {
  const { cause: _, ...rest } = JSON.parse(JSON.stringify({ ...error, message: error.message }))
  return rest
}

describe("documents and errors are carried by", () => {
  for (const [name, carrier] of Object.entries(carriers)) {
    it.live(name, () =>
      Effect.gen(function* () {
        const store = Layer.succeedContext(yield* Layer.build(inMemory))
        const call = yield* carrier(store)
        const ada = yield* call("Ada")
        assert.instanceOf(ada, Person)
        assert.deepStrictEqual([ada.name, ada.year, ada._id, ada._rev], ["Ada", 1815, "ada", 1])
        for (const wanted of Object.keys(failures) as Array<keyof typeof failures>) {
          const error = yield* Effect.flip(call(wanted))
          const here = yield* Effect.flip(Effect.provide(answer({ wanted }), store))
          assert.instanceOf(error, here.constructor as new () => Error)
          assert.propertyVal(error, "_tag", wanted)
          assert.deepStrictEqual(told(error as Error), told(here))
          assert.isUndefined((error as Error).cause)
        }
      }).pipe(Effect.scoped)
    )
  }
})
