// What somebody writes who installed the package: copied into an empty project, compiled and run there.
import * as Root from "chainstore"
import { batching } from "chainstore/batching"
import { Chain, ChainBuilder, Policy } from "chainstore/chain"
import * as Codec from "chainstore/codec"
import * as Http from "chainstore/http"
import * as Layers from "chainstore/layers"
import { LocalGit } from "chainstore/local"
import { mergeDocuments } from "chainstore/merge"
import * as InPromises from "chainstore/promise"
import { GitHub, Store } from "chainstore/store"
import * as Testing from "chainstore/testing"
import { Effect, Layer, pipe, Schema, Stream } from "effect"

const Person = Schema.Struct({ name: Schema.String, city: Schema.String })

const program = Effect.gen(function* () {
  const store = yield* Store
  const people = store.collection("people", Person)
  yield* people.insert({ name: "Ada", city: "London" }, { id: "ada" })
  const ada = yield* people.update("ada", { city: "Paris" }, { expectedRev: 1 })
  const found = yield* Stream.runCount(people.find(({ city }) => city === "Paris"))
  return `${ada.name}, revision ${ada._rev}, one of ${found}`
})

const remote = LocalGit.layer({ directory: "repos", repo: "me/people" })

console.log(
  await Effect.runPromise(Effect.provide(program, Layer.provide(Store.layer({ batching }), remote)))
)

const refused = (name: string) => Effect.fail({ _tag: "Refused", name } as const)
export const codecs = [Codec.document(Person), Codec.WriteError]
export const recovered: (name: string) => Effect.Effect<string> = pipe(
  refused,
  Policy.recover(({ name }) => name)
)

const modules = [
  Codec.StoredDocument,
  Root.Chain,
  Chain,
  ChainBuilder,
  InPromises,
  GitHub,
  Testing,
  Http.Playground,
  Layers.Service,
  batching,
  mergeDocuments
]
console.log(`${modules.filter((one) => one !== undefined).length} modules`)
