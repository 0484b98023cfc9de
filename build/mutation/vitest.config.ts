import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const source = (path: string) => fileURLToPath(new URL(`../../src/${path}/index.ts`, import.meta.url))

/** The tests that mutants of a part of the library meet; `MUTATE` names the part. */
const tests: Readonly<Record<string, ReadonlyArray<string>>> = {
  chain: ["test/chain/**/*.test.ts"],
  domain: ["test/domain/**/*.test.ts"]
}

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: {
    alias: [
      { find: /^chainstore\/(chain|codec|store|http|layers|testing)$/, replacement: source("$1") },
      { find: /^chainstore\/(batching|local|promise)$/, replacement: source("store/$1") }
    ]
  },
  test: {
    include: [...(tests[process.env["MUTATE"] ?? "chain"] ?? [])],
    exclude: ["test/chain/types.test.ts", "test/domain/playground/Playground.test.ts"],
    testTimeout: 30_000
  }
})
