// A page of somebody who bundles it: a chain, and a store on GitHub as promises.
import { Chain, ChainBuilder } from "chainstore/chain"
import { openStore } from "chainstore/promise"

const chain = ChainBuilder.make<string, string>()
  .useWhen(
    (name) => name === "",
    () => "nobody"
  )
  .withFallback((name) => name)
  .build()

const store = await openStore({ repo: "me/people" })
const ada = await store.collection("people").get("ada")
console.log(Chain.executeSync(chain, String(ada?.["name"] ?? "")))
