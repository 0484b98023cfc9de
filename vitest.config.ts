import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

const source = (path: string) => fileURLToPath(new URL(`./src/${path}/index.ts`, import.meta.url))

const alias = [
  { find: /^chainstore$/, replacement: fileURLToPath(new URL("./src/index.ts", import.meta.url)) },
  { find: /^chainstore\/local$/, replacement: source("store/local") },
  { find: /^chainstore\/batching$/, replacement: source("store/batching") },
  { find: /^chainstore\/merge$/, replacement: source("domain/merge") },
  { find: /^chainstore\/promise$/, replacement: source("store/promise") },
  { find: /^chainstore\/(chain|codec|store|http|layers|testing)$/, replacement: source("$1") }
]

interface TierOptions {
  readonly retry?: number
  readonly env?: Record<string, string>
}

const tier = (
  name: string,
  include: Array<string>,
  exclude: Array<string>,
  testTimeout: number,
  { env = {}, retry = 0 }: TierOptions = {}
) => ({
  resolve: { alias },
  test: {
    name,
    include,
    exclude,
    testTimeout,
    hookTimeout: testTimeout,
    pool: "forks",
    retry,
    env,
    setupFiles: [fileURLToPath(new URL("./test/support/vitest/setup.ts", import.meta.url))]
  }
})

/** Suites of which `npm test` runs a part (`test/support/vitest/caseSelection.ts`): soak runs the whole. */
const sampled = [
  "test/git/disk/DamagedFiles.test.ts",
  "test/http/server/eventLoop.test.ts",
  "test/laws/conflict-retries.test.ts",
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

/** The slow files of `npm run test:e2e`. They start first, so that no worker ends long before the other. */
const slow = [
  "installed-package",
  "console-drafts",
  "console-edit",
  "console-tabs",
  "console-time",
  "console-table",
  "console-axe",
  "console-runs",
  "examples",
  "playground",
  "console-forms",
  "screenshots"
]

class SlowFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = slow.findIndex((name) => moduleId.endsWith(`/test/e2e/${name}.test.ts`))
      return at < 0 ? slow.length : at
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: SlowFirst },
    // Vitest leaves a core idle; most of these tests wait for Git, sockets and processes.
    minWorkers: 1,
    maxWorkers: "100%",
    projects: [
      tier("main", ["test/**/*.test.ts"], ["test/e2e/**", "test/soak/**", ...long], 30_000),
      // A browser on a busy machine may be late once: the summary names each test that needed its second run.
      tier("e2e", ["test/e2e/**/*.test.ts", "examples/**/*.test.ts"], long, 180_000, { retry: 1 }),
      tier("soak", ["test/soak/**/*.test.ts", ...long, ...sampled], [], 3_600_000, {
        env: { CHAINSTORE_WHOLE: "1" }
      })
    ]
  }
})
