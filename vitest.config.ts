import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const source = (path: string) => fileURLToPath(new URL(`./src/${path}/index.ts`, import.meta.url))

const alias = [
  { find: /^chainstore$/, replacement: fileURLToPath(new URL("./src/index.ts", import.meta.url)) },
  { find: /^chainstore\/local$/, replacement: source("store/local") },
  { find: /^chainstore\/batching$/, replacement: source("store/batching") },
  { find: /^chainstore\/promise$/, replacement: source("store/promise") },
  { find: /^chainstore\/(chain|codec|store|http|layers|testing)$/, replacement: source("$1") }
]

interface TierOptions {
  readonly pool?: "forks" | "threads"
  readonly groupOrder?: number
  readonly retry?: number
  readonly env?: Record<string, string>
}

const tier = (
  name: string,
  include: Array<string>,
  exclude: Array<string>,
  testTimeout: number,
  { env = {}, groupOrder = 0, pool = "forks", retry = 0 }: TierOptions = {}
) => ({
  resolve: { alias },
  test: {
    name,
    include,
    exclude,
    testTimeout,
    hookTimeout: testTimeout,
    pool,
    retry,
    env,
    sequence: { groupOrder },
    setupFiles: [fileURLToPath(new URL("./test/support/vitest/setup.ts", import.meta.url))]
  }
})

/**
 * What looks at a virtual clock, or counts requests, limits or turns of a whole process: each of these files has a thread
 * of its own. `npm test` runs the other files of the main tier in processes that load the library once for all of them.
 */
const alone = [
  "test/chain/**/*.test.ts",
  "test/domain/StoreValues.test.ts",
  "test/git/disk/Oracles.test.ts",
  "test/http/{console,server}/**/*.test.ts",
  "test/http/host/Limits.test.ts",
  "test/store/core/ClockSet.test.ts",
  "test/store/operations/Writer*.test.ts",
  "test/store/remote/github/**/*.test.ts",
  "test/store/transfer/FromAsyncIterable.test.ts"
]

/** Suites of which `npm test` runs a part (`test/support/vitest/whole.ts`): soak runs the whole. */
const sampled = [
  "test/git/disk/Damage.test.ts",
  "test/http/server/eventLoop.test.ts",
  "test/store/core/{Foreign,IndexBadInput}.test.ts",
  "test/store/merging/MergeBadInput.test.ts",
  "test/store/remote/github/PullRequests.test.ts"
]

/** Whole suites over one more carrier, and long ones: with them the tests of a change would take more than 20 minutes. */
const long = [
  "test/e2e/backup-moving.test.ts",
  "test/git/clone/{HostileGitHost,HostileWire,StrippedGitHost}.test.ts",
  "test/store/remote/github/OperationsOver{Graphql,Rest}.test.ts"
]

export default defineConfig({
  test: {
    // Vitest leaves a core idle; most of these tests wait for Git, sockets and processes.
    minWorkers: 1,
    maxWorkers: "100%",
    projects: [
      tier("main", ["test/**/*.test.ts"], ["test/e2e/**", "test/soak/**", ...alone, ...long], 30_000),
      tier("alone", alone, long, 30_000, { pool: "threads", groupOrder: 1 }),
      // A browser on a busy machine may be late once: the summary names each test that needed its second run.
      tier("e2e", ["test/e2e/**/*.test.ts", "examples/**/*.test.ts"], long, 180_000, { retry: 1 }),
      tier("soak", ["test/soak/**/*.test.ts", ...long, ...sampled], [], 3_600_000, {
        env: { CHAINSTORE_WHOLE: "1" }
      })
    ]
  }
})
