// Loaded before a service under test: on SIGUSR2 it collects garbage and says how much heap is alive.
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc")

process.on("SIGUSR2", () => {
  collect()
  collect()
  process.stderr.write(`alive ${process.memoryUsage().heapUsed}\n`)
})
