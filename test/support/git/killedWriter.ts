import { Effect } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"

/*
 * Writes until it is killed: each batch inserts a document and counts it. Says `ack ID` for each batch that was
 * acknowledged. Arguments: the server's address, the directory of the clone, a name, and writers at once.
 */

const [url = "", directory = "", name = "", fibres = "1"] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const remote = yield* GitHost.scoped({ url, cache: { directory }, timeout: "5 seconds" })
  const store = yield* Effect.provideService(
    Store.make({ indexes: { people: ["by"] }, manifests: { people: ["by"] }, batchRetries: 100 }),
    GitRemote,
    remote
  )
  const write = (id: string) =>
    store.batch({ message: id }, (batch) =>
      Effect.gen(function* () {
        yield* batch.insert("people", { by: name }, { id })
        yield* batch.insert("counts", { of: id }, { id: `c-${id}` })
      })
    )
  yield* Effect.forEach(
    Array.from({ length: Number(fibres) }, (_, fibre) => fibre),
    (fibre) =>
      Effect.forEach(
        Array.from({ length: 10_000 }, (_, n) => `${name}-${fibre}-${n}`),
        (id) =>
          Effect.matchCause(write(id), {
            onFailure: (cause) => void process.stderr.write(`${id}: ${String(cause)}\n`),
            onSuccess: () => void process.stdout.write(`ack ${id}\n`)
          })
      ),
    { concurrency: "unbounded", discard: true }
  )
})

await Effect.runPromise(Effect.scoped(program))
