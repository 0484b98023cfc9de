import { randomUUID } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it, type RunnerTestCase } from "vitest"
import { isWhole } from "../vitest/caseSelection.js"
import { executable, open, type Watched } from "./Chromium.js"
import { type Build, type Entry, type Stage, type StageOptions, signedIn, stage } from "./Stage.js"

export interface Tester {
  readonly build: Build
  /** What the build is tested on; there once the tests run. */
  readonly on: Stage
  /** A signed-in page. */
  readonly enter: (entry?: Entry, options?: Parameters<typeof open>[1]) => Promise<Watched>
  /** A test whose builds differ, among those that run in turn. */
  readonly inBoth: (name: string, test: () => Promise<void>) => void
  /** An empty page. */
  readonly visit: (options?: Parameters<typeof open>[1]) => Promise<Watched>
}

/** What a person would look at first when a test has failed. */
const evidence = async (watched: Watched): Promise<string> => {
  const path = join(tmpdir(), `chainstore-console-failed-${randomUUID().slice(0, 8)}.png`)
  await watched.page.screenshot({ path })
  const requests = watched.requests.slice(-12).map(({ method, url }) => `${method} ${url}`)
  return [`${watched.page.url()} looked like ${path}`, ...watched.console.slice(-10), ...requests].join("\n")
}

const builds = ["hosted", "local"] as const

/** Whether the other build runs a test. */
const runsElsewhere = (task: Readonly<RunnerTestCase>, build: Build): boolean => {
  const tests = task.suite!.tasks
  if (tests.indexOf(task as RunnerTestCase) % 2 === builds.indexOf(build)) return false
  const suites = task.file.tasks
  const twin = suites
    .flatMap((suite) => (suite.type === "suite" && suite !== task.suite ? suite.tasks : []))
    .find(({ name }) => name === task.name)
  return twin?.mode === "run"
}

const run = (name: string, tests: (tester: Tester) => void, options: StageOptions, inTurn: boolean) =>
  describe.skipIf(executable === undefined).each(builds)(`${name}, %s build`, (build) => {
    let on: Stage
    const opened: Array<Watched> = []
    const differing = new Set<string>()
    const keep = (watched: Watched) => {
      opened.push(watched)
      return watched
    }

    beforeAll(async () => {
      on = await stage(build, options)
    })
    afterAll(() => on?.close())
    if (inTurn && !isWhole)
      beforeEach(({ skip, task }) => {
        const isShared = !/^\d/.test(task.name) && !differing.has(task.name)
        if (isShared && runsElsewhere(task, build)) skip("the other build runs it")
      })
    // Whatever a test does, no policy is broken, nothing throws and no dialog of the page's own opens.
    afterEach(async ({ task }) => {
      for (const watched of opened.splice(0)) {
        if (task.result?.state === "fail") console.error(await evidence(watched))
        const { close, dialogs, errors, violations } = watched
        await close()
        assert.deepStrictEqual({ dialogs, errors, violations }, { dialogs: [], errors: [], violations: [] })
      }
    })

    tests({
      build,
      get on() {
        return on
      },
      enter: async (entry, options) => keep(await signedIn(on, entry, options)),
      inBoth: (name, test) => {
        differing.add(name)
        it(name, test)
      },
      visit: async (options) => keep(await open(on.browser, options))
    })
  })

/** The same tests on a stage of the hosted and one of the local build. */
export const bothBuilds = (name: string, tests: (tester: Tester) => void, options: StageOptions = {}) =>
  run(name, tests, options, false)

/**
 * Tests of what the builds share: each runs in one of the builds, in turn, and in both where suites are run whole. Tests of a point
 * of acceptance, whose names begin with its number, always run in both.
 */
export const buildsInTurn = (name: string, tests: (tester: Tester) => void) => run(name, tests, {}, true)
