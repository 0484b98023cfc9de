// A program as somebody bundles it for a machine without packages: it writes the workbook that it is told to write.
import { writeXlsx } from "../../../src/store/promise/index.js"

await writeXlsx(process.argv[2]!, [{ n: 1 }])
