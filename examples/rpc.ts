/**
 * A store behind `@effect/rpc`: the client receives documents decoded by the schema, streams of documents, and errors as
 * instances of the store's classes.
 *
 * Output:
 * Ada, born in 1815, revision 1
 * NotFoundError: there is nobody called bob
 * Ada, Grace
 */
import { FetchHttpClient, HttpServer } from "@effect/platform"
import { Rpc, RpcClient, RpcGroup, RpcSerialization, RpcServer } from "@effect/rpc"
import * as Codec from "chainstore/codec"
import { Memory, NotFoundError, Store } from "chainstore/store"
import { Effect, Layer, Option, Schema, Stream } from "effect"

const Person = Schema.Struct({ name: Schema.NonEmptyString, born: Schema.Date })

class Directory extends RpcGroup.make(
  Rpc.make("Get", {
    payload: { id: Schema.String },
    success: Codec.document(Person),
    error: Codec.ReadError
  }),
  Rpc.make("All", { success: Codec.document(Person), error: Codec.ReadError, stream: true })
) {}

const handlers = Directory.toLayer(
  Effect.map(Store, (store) => {
    const people = store.collection("people", Person)
    return {
      Get: ({ id }) =>
        Effect.flatMap(
          people.get(id),
          Option.match({
            onNone: () =>
              new NotFoundError({ operation: "get", id, message: `there is nobody called ${id}` }),
            onSome: Effect.succeed
          })
        ),
      All: () => people.all()
    }
  })
)

const seeded = Layer.effectDiscard(
  Effect.gen(function* () {
    const people = (yield* Store).collection("people", Person)
    yield* people.insert({ name: "Ada", born: new Date("1815-12-10") }, { id: "ada" })
    yield* people.insert({ name: "Grace", born: new Date("1906-12-09") }, { id: "grace" })
  })
)
const store = Layer.provide(Store.layer(), Memory.layer())
const server = RpcServer.toWebHandler(Directory, {
  layer: Layer.mergeAll(handlers, RpcSerialization.layerNdjson, HttpServer.layerContext).pipe(
    Layer.provide(seeded),
    Layer.provide(store)
  )
})

const program = Effect.scoped(
  Effect.gen(function* () {
    const directory = yield* RpcClient.make(Directory)
    const ada = yield* directory.Get({ id: "ada" })
    console.log(`${ada.name}, born in ${ada.born.getUTCFullYear()}, revision ${ada._rev}`)
    yield* directory
      .Get({ id: "bob" })
      .pipe(
        Effect.catchTag("NotFoundError", (error) =>
          Effect.sync(() => console.log(`${error._tag}: ${error.message}`))
        )
      )
    const names = yield* Stream.runFold(directory.All(), Array.of<string>(), (all, { name }) => [
      ...all,
      name
    ])
    console.log(names.join(", "))
  })
)

const protocol = RpcClient.layerProtocolHttp({ url: "http://directory.example/rpc" }).pipe(
  Layer.provide([RpcSerialization.layerNdjson, FetchHttpClient.layer]),
  Layer.provide(
    Layer.succeed(FetchHttpClient.Fetch, (input, init) => server.handler(new Request(input, init)))
  )
)
await Effect.runPromise(Effect.provide(program, protocol))
await server.dispose()
