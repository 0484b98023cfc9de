import * as fs from "node:fs"
import { Effect, Option } from "effect"
import * as Store from "../../../../src/store/Store.js"
import { layer, type RepositoryAccess } from "./RepositoryAccess.js"

/**
 * A process that runs transactions until it is killed: two fibres of them, and a third that writes single documents,
 * so that the branch moves and transactions are replayed. `ack NAME` is printed once one is acknowledged.
 */
const [reached = "", name = ""] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const store = yield* Store.Store
  const transactions = (fibre: string, counts: boolean) =>
    Effect.gen(function* () {
      for (let n = 0; ; n++) {
        const key = `${name}${fibre}${n}`
        yield* store.transaction({}, (tx) =>
          Effect.gen(function* () {
            const parts = tx.collection("parts")
            yield* parts.insert({ key }, { id: `${key}-1` })
            if (counts) {
              const counter = tx.collection("counters")
              const before = Option.getOrThrow(yield* counter.get("done"))
              yield* counter.update("done", { value: Number(before["value"]) + 1 })
            }
            yield* tx.batch({}, (batch) =>
              Effect.zipRight(
                batch.put("parts", `${key}-2`, { key }),
                batch.insert("parts", { key }, { id: `${key}-3` })
              )
            )
          })
        )
        fs.writeSync(1, `ack ${key}\n`)
        // The other fibre's turn: a transaction that always finds the branch moved has to give up in the end.
        yield* Effect.sleep(20)
      }
    })
  const singles = Effect.gen(function* () {
    for (let n = 0; ; n++) {
      yield* store.collection("singles").insert({ n }, { id: `${name}s${n}` })
      yield* Effect.sleep(250)
    }
  })
  fs.writeSync(1, "ready\n")
  yield* Effect.all([transactions("a", true), transactions("b", false), singles], {
    concurrency: "unbounded",
    discard: true
  })
})

Effect.runPromise(
  Effect.provide(program, layer(JSON.parse(reached) as RepositoryAccess, { batchRetries: 50 }))
).then(
  () => process.exit(0),
  (cause) => {
    fs.writeSync(2, `${cause}\n`)
    process.exit(1)
  }
)
