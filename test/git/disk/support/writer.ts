import * as fs from "node:fs"
import { Effect, Option } from "effect"
import * as Engine from "../../../../src/git/disk/Engine.js"

/**
 * A process that writes one repository until it is killed or has done its share. Each write inserts a document and
 * raises a shared counter; `ack ID COMMIT` is printed once it is acknowledged.
 */
const [directory = "", name = "", writes = "0", fibres = "1"] = process.argv.slice(2)
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (content: Uint8Array) => new TextDecoder().decode(content)

const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory, create: true, maintenance: { packs: 20, quiet: 50 } })
  const insert = (id: string) =>
    repository
      .commitNext("main", (head) =>
        Effect.gen(function* () {
          let count = 0
          if (Option.isSome(head)) {
            const entry = yield* repository.lookup(head.value.tree, "counter")
            if (Option.isSome(entry)) {
              const blob = yield* repository.object(entry.value.oid)
              count = Number(text(Option.getOrThrow(blob).content))
            }
          }
          const changes = [
            { _tag: "Put" as const, path: "counter", content: bytes(String(count + 1)) },
            { _tag: "Put" as const, path: `data/${id.slice(-1)}/${id}`, content: bytes(`document ${id}`) }
          ]
          return { commit: Option.some({ message: `insert ${id}`, changes }), result: count + 1 }
        })
      )
      .pipe(Effect.retry({ while: (error) => error._tag === "RefMoved" }))
  let next = 0
  const total = Number(writes)
  const one = Effect.gen(function* () {
    while (total === 0 || next < total) {
      const id = `${name}-${next++}`
      const { committed } = yield* insert(id)
      fs.writeSync(1, `ack ${id} ${Option.getOrThrow(committed).commit}\n`)
    }
  })
  fs.writeSync(1, "ready\n")
  yield* Effect.all(
    Array.from({ length: Number(fibres) }, () => one),
    { concurrency: "unbounded" }
  )
})

Effect.runPromise(Effect.scoped(program)).then(
  () => process.exit(0),
  (cause) => {
    fs.writeSync(2, `${cause}\n`)
    process.exit(1)
  }
)
