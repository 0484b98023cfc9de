import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const source = (path: string) => fileURLToPath(new URL(`./src/${path}/index.ts`, import.meta.url))

const alias = [
  { find: /^chainstore$/, replacement: fileURLToPath(new URL("./src/index.ts", import.meta.url)) },
  { find: /^chainstore\/local$/, replacement: source("store/local") },
  { find: /^chainstore\/promise$/, replacement: source("store/promise") },
  { find: /^chainstore\/(chain|codec|store|http|layers|testing)$/, replacement: source("$1") }
]

const tier = (name: string, include: Array<string>, exclude: Array<string>, testTimeout: number) => ({
  resolve: { alias },
  test: {
    name,
    include,
    exclude,
    testTimeout,
    hookTimeout: testTimeout,
    pool: "forks" as const,
    setupFiles: [fileURLToPath(new URL("./test/support/vitest/options.ts", import.meta.url))]
  }
})

export default defineConfig({
  test: {
    // Vitest leaves a core idle; most of these tests wait for Git, sockets and processes.
    minWorkers: 1,
    maxWorkers: "100%",
    projects: [
      tier("main", ["test/**/*.test.ts"], ["test/e2e/**", "test/soak/**"], 30_000),
      tier("e2e", ["test/e2e/**/*.test.ts"], [], 180_000),
      tier("soak", ["test/soak/**/*.test.ts"], [], 3_600_000)
    ]
  }
})
