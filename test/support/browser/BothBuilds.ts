import { randomUUID } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeAll, describe } from "vitest"
import { executable, open, type Watched } from "./Chromium.js"
import { type Build, type Entry, type Stage, type StageOptions, signedIn, stage } from "./Stage.js"

export interface Tester {
  readonly build: Build
  /** What the build is tested on; there once the tests run. */
  readonly on: Stage
  /** A signed-in page. */
  readonly enter: (entry?: Entry, options?: Parameters<typeof open>[1]) => Promise<Watched>
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

/** The same tests on a stage of the hosted and one of the local build. */
export const bothBuilds = (name: string, tests: (tester: Tester) => void, options: StageOptions = {}) =>
  describe.skipIf(executable === undefined).each(["hosted", "local"] as const)(
    `${name}, %s build`,
    (build) => {
      let on: Stage
      const opened: Array<Watched> = []
      const keep = (watched: Watched) => {
        opened.push(watched)
        return watched
      }

      beforeAll(async () => {
        on = await stage(build, options)
      })
      afterAll(() => on?.close())
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
        visit: async (options) => keep(await open(on.browser, options))
      })
    }
  )
