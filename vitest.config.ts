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

/** Suites of which each change runs a part (`test/support/vitest/caseSelection.ts`): soak runs the whole. */
const sampled = [
  "test/e2e/console-{change,document,drafts,edit,forms,table,tabs,time}.test.ts",
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

/**
 * The parts of `npm test`. Each begins with new worker processes, as do those of `npm run test:e2e`: the heap of a worker grows with
 * the files that it has run, and the larger a process is, the longer it takes to start another one, and to collect garbage.
 */
const parts = {
  git: ["test/git/**", "test/laws/**"],
  http: ["test/http/**", "test/cli/**"],
  remotes: ["test/contract/**", "test/store/remote/**"],
  store: ["test/store/!(remote)/**"]
}

const consoleTests = "test/e2e/console-*.test.ts"

const testsIn = (folder: string) => `${folder}/*.test.ts`

/** The slow files. They start first, so that no worker ends long before the other. */
const slow = [
  "e2e/installed-package",
  "e2e/console-drafts",
  "e2e/console-edit",
  "e2e/console-tabs",
  "e2e/console-time",
  "e2e/console-table",
  "e2e/console-axe",
  "e2e/console-runs",
  "e2e/examples",
  "e2e/playground",
  "e2e/console-forms",
  "e2e/screenshots",
  "cli/Process",
  "contract/GitHubHost",
  "git/clone/DamagedClone",
  "http/server/eventLoop",
  "laws/store-operations-laws",
  "store/remote/github/LostMerges"
]

class SlowFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = slow.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
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
      ...Object.entries(parts).map(([name, folders]) =>
        tier(`main-${name}`, folders.map(testsIn), long, 30_000)
      ),
      tier(
        "main-library",
        ["test/**/*.test.ts"],
        ["test/e2e/**", "test/soak/**", ...long, ...Object.values(parts).flat()],
        30_000
      ),
      // A browser on a busy machine may be late once: the summary names each test that needed its second run.
      tier("e2e-console", [consoleTests], [], 180_000, { retry: 1 }),
      tier(
        "e2e-others",
        ["test/e2e/**/*.test.ts", "examples/**/*.test.ts"],
        [...long, consoleTests],
        180_000,
        {
          retry: 1
        }
      ),
      tier("soak", ["test/soak/**/*.test.ts", ...long, ...sampled], [], 3_600_000, {
        env: { CHAINSTORE_WHOLE: "1" }
      })
    ]
  }
})
