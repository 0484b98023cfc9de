/**
 * A store behind an `HttpApi`: the client receives documents decoded by the schema, and the store's errors as instances of
 * their classes, each with its own status.
 *
 * Output:
 * Ada, born in 1815, revision 1
 * 404 NotFoundError: there is nobody called bob
 * Ada Lovelace, revision 2
 * 409 ConflictError: people/ada has revision 2, expected 1
 */
import {
  FetchHttpClient,
  HttpApi,
  HttpApiBuilder,
  HttpApiClient,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpClient,
  HttpServer
} from "@effect/platform"
import * as Codec from "chainstore/codec"
import { Memory, NotFoundError, Store, type StoreError } from "chainstore/store"
import { Console, Effect, Layer, Option, Ref, Schema } from "effect"

const Person = Schema.Struct({ name: Schema.NonEmptyString, born: Schema.Date })
const WithId = Schema.Struct({ id: Schema.String })

const people = HttpApiGroup.make("people")
  .add(
    HttpApiEndpoint.get("get", "/people/:id")
      .setPath(WithId)
      .addSuccess(Codec.document(Person))
      .addError(Codec.ReadError)
  )
  .add(
    HttpApiEndpoint.put("rename", "/people/:id/name")
      .setPath(WithId)
      .setPayload(Schema.Struct({ name: Schema.String, rev: Schema.Int }))
      .addSuccess(Codec.document(Person))
      .addError(Codec.WriteError)
  )

const api = HttpApi.make("directory").add(people)

const handlers = HttpApiBuilder.group(api, "people", (handlers) =>
  Effect.map(Store, (store) => {
    const people = store.collection("people", Person)
    return handlers
      .handle("get", ({ path: { id } }) =>
        Effect.flatMap(
          people.get(id),
          Option.match({
            onNone: () =>
              new NotFoundError({ operation: "get", id, message: `there is nobody called ${id}` }),
            onSome: Effect.succeed
          })
        )
      )
      .handle("rename", ({ path: { id }, payload: { name, rev } }) =>
        people.update(id, { name }, { expectedRev: rev })
      )
  })
)

const store = Layer.provide(Store.layer(), Memory.layer())
const seeded = Layer.effectDiscard(
  Effect.flatMap(Store, ({ collection }) =>
    collection("people", Person).insert({ name: "Ada", born: new Date("1815-12-10") }, { id: "ada" })
  )
)
const server = HttpApiBuilder.toWebHandler(
  Layer.mergeAll(Layer.provide(HttpApiBuilder.api(api), handlers), seeded, HttpServer.layerContext).pipe(
    Layer.provide(store)
  )
)

const program = Effect.gen(function* () {
  const status = yield* Ref.make(0)
  const directory = yield* HttpApiClient.make(api, {
    baseUrl: "http://directory.example",
    transformClient: HttpClient.tap((response) => Ref.set(status, response.status))
  })
  const told = (error: StoreError) =>
    Effect.flatMap(status, (code) => Console.log(`${code} ${error._tag}: ${error.message}`))

  const ada = yield* directory.people.get({ path: { id: "ada" } })
  console.log(`${ada.name}, born in ${ada.born.getUTCFullYear()}, revision ${ada._rev}`)
  yield* directory.people.get({ path: { id: "bob" } }).pipe(Effect.catchTag("NotFoundError", told))

  const rename = directory.people.rename({ path: { id: "ada" }, payload: { name: "Ada Lovelace", rev: 1 } })
  const { _rev, name } = yield* rename
  console.log(`${name}, revision ${_rev}`)
  yield* rename.pipe(Effect.catchTag("ConflictError", told))
})

const fetching = Layer.succeed(FetchHttpClient.Fetch, (input, init) =>
  server.handler(new Request(input, init))
)
await Effect.runPromise(Effect.provide(program, Layer.provide(FetchHttpClient.layer, fetching)))
await server.dispose()
