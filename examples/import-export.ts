/**
 * Import records from a CSV file, with one commit per chunk, and export them as a workbook and as NDJSON.
 *
 * Output:
 * row 1: insert
 * row 2: insert
 * row 3: refuse, sku: an id holds no slash or backslash
 * 2 inserted in 1 commit
 * again: 2 unchanged, 0 commits
 * columns: _id, _rev, _created_at, _updated_at, name, price, sku
 * {"_id":"b2","name":"Cake","price":5}
 * {"_id":"t1","name":"Tea","price":3.5}
 */
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { LocalGit } from "chainstore/local"
import { fromCsv, Store } from "chainstore/store"
import { Console, Effect, Layer, Stream } from "effect"

const csv = (text: string) => fromCsv(Stream.succeed(new TextEncoder().encode(text)), { cells: "json" })
const good = "sku,name,price\nt1,Tea,3.5\nb2,Cake,5\n"

const directory = mkdtempSync(join(tmpdir(), "chainstore-"))

const program = Effect.gen(function* () {
  const store = yield* Store
  const products = store.collection("products")

  yield* products.importRecords(csv(`${good}x/3,Oops,1\n`), {
    idField: "sku",
    dryRun: true,
    onRow: ({ action, reason, row }) =>
      Console.log(`row ${row}: ${action}${reason === undefined ? "" : `, ${reason}`}`)
  })
  const report = yield* products.importRecords(csv(good), { idField: "sku" })
  yield* Console.log(`${report.inserted} inserted in ${report.commits.length} commit`)
  const again = yield* products.importRecords(csv(good), { idField: "sku" })
  yield* Console.log(`again: ${again.unchanged} unchanged, ${again.commits.length} commits`)

  const columns = yield* products.exportExcel(join(directory, "products.xlsx"))
  yield* Console.log(`columns: ${columns.join(", ")}`)
  const lines = join(directory, "products.ndjson")
  yield* products.exportText(lines, "ndjson", { columns: ["_id", "name", "price"] })
  yield* Console.log(readFileSync(lines, "utf8").trim())
})

const live = Layer.provide(Store.layer(), LocalGit.layer({ directory, repo: "me/shop" }))
NodeRuntime.runMain(Effect.provide(program, Layer.merge(live, NodeContext.layer)))
