import { build } from "vite"
import { gzipSync } from "node:zlib"
const seen = new Map()
const plugin = { name: "an", generateBundle(_, bundle) { for (const [f, c] of Object.entries(bundle)) if (c.type === "chunk") seen.set(f, c) } }
await build({ configFile: "src/console/vite.config.ts", logLevel: "silent", build: { write: false, outDir: "/tmp/an" }, plugins: [plugin] })
const rows = [...seen].map(([f, c]) => [f, c.code.length, gzipSync(c.code).length, c])
for (const [f, n, z] of rows.sort((a, b) => b[2] - a[2]).slice(0, 60)) console.log(n, z, f)
const big = process.argv[2]
if (big) for (const [f, , , c] of rows) if (f.includes(big)) for (const [id, m] of Object.entries(c.modules).sort((a, b) => b[1].renderedLength - a[1].renderedLength).slice(0, 120)) console.log(m.renderedLength, id.replace(/.*node_modules\//, "nm/").replace(/.*\/src\//, "src/"))
