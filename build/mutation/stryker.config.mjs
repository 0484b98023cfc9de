import { readFileSync } from "node:fs"

// The parts of the library that are mutated, each with the tests that its mutants meet.
const parts = JSON.parse(readFileSync(new URL("parts.json", import.meta.url), "utf8"))

// Mutants of the library's algorithms: `MUTATE=merge npm run mutation`. The survivors are explained in survivors.md.
const part = process.env.MUTATE ?? "chain"

export default {
  mutate: (process.env.MUTATE_FILES?.split(",") ?? parts[part].mutate).concat("!src/**/index.ts"),
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "build/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  // Each would run every test, since a module is loaded once; there are tests of what they declare.
  ignoreStatic: true,
  concurrency: 1,
  timeoutMS: 60_000,
  timeoutFactor: 3,
  incremental: true,
  incrementalFile: `reports/mutation/${part}.incremental.json`,
  reporters: ["progress-append-only", "json", "clear-text"],
  clearTextReporter: { allowColor: false, logTests: false },
  jsonReporter: { fileName: `reports/mutation/${part}.json` },
  tempDirName: `.stryker-tmp/${part}`,
  ignorePatterns: [
    // Of other parts that are run meanwhile.
    ".stryker-tmp",
    "dist",
    "docs",
    "reports",
    ".ci",
    "src/console",
    "test/e2e",
    "test/soak",
    "build/reference"
  ],
  disableTypeChecks: false,
  // Stryker would rewrite it by the compiler's JavaScript API, which TypeScript 7 has not; nothing in it leads outside.
  tsconfigFile: "none",
  thresholds: { high: 95, low: 90, break: 90 }
}
