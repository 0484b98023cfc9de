import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const source = (path: string) => fileURLToPath(new URL(`../../src/${path}/index.ts`, import.meta.url))

const parts: Readonly<Record<string, { readonly tests: Array<string> }>> = JSON.parse(
  readFileSync(new URL("parts.json", import.meta.url), "utf8")
)

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: {
    alias: [
      { find: /^chainstore\/(chain|codec|store|http|layers|testing)$/, replacement: source("$1") },
      { find: /^chainstore\/(batching|local|promise)$/, replacement: source("store/$1") }
    ]
  },
  test: {
    setupFiles: ["../../test/support/vitest/equality.ts", "setup.ts"].map((path) =>
      fileURLToPath(new URL(path, import.meta.url))
    ),
    include: parts[process.env["MUTATE"] ?? "chain"]?.tests ?? [],
    exclude: ["test/chain/types.test.ts", "test/domain/playground/Playground.test.ts"],
    testTimeout: 300_000,
    // A worker keeps Effect between the runs of two mutants.
    poolOptions: { threads: { isolate: false } }
  }
})
