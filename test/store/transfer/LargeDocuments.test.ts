import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { assert, it } from "@effect/vitest"

const program = `
  import { writeXlsx } from "./src/store/promise/index.ts"
  let most = 0
  function* documents() {
    for (let n = 0; n < 300; n++) {
      if (n % 20 === 0) {
        for (let times = 0; times < 3; times++) gc()
        const { external, heapUsed } = process.memoryUsage()
        most = Math.max(most, external + heapUsed)
      }
      yield { n, text: Buffer.alloc(2_000_000, 97 + (n % 26)).toString("latin1") }
    }
  }
  const sink = new WritableStream()
  await writeXlsx(sink, { [Symbol.iterator]: documents })
  console.log(Math.round(most / 1_000_000))
`

it("a workbook of large documents does not hold them", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--expose-gc", "--import", "tsx", "--input-type=module", "--eval", program],
    { encoding: "utf8" }
  )
  assert.isBelow(Number(stdout), 150, `${stdout.trim()} MB live, of documents of 2 MB each`)
}, 60_000)
