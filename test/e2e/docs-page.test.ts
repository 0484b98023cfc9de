import { AxeBuilder } from "@axe-core/playwright"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { running } from "../http/server/RunningServer.js"
import { executable, launch } from "../support/browser/Chromium.js"

const opened = (colorScheme: "light" | "dark") =>
  Effect.gen(function* () {
    const { url } = yield* running()
    const browser = yield* Effect.acquireRelease(Effect.promise(launch), (launched) =>
      Effect.promise(() => launched.close())
    )
    const page = yield* Effect.promise(async () => {
      const context = await browser.newContext({ colorScheme })
      const made = await context.newPage()
      // Runs in the page: what the policy refuses is remembered there.
      await made.addInitScript(
        `globalThis.violations = []; addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective))`
      )
      return made
    })
    const foreign: Array<string> = []
    const errors: Array<string> = []
    page.on("request", (sent) => {
      if (!sent.url().startsWith(url)) foreign.push(sent.url())
    })
    page.on("pageerror", (error) => errors.push(error.message))
    yield* Effect.promise(async () => {
      await page.goto(`${url}/docs`)
      await page.waitForSelector("main[aria-busy=false]")
    })
    return { page, foreign, errors }
  })

describe.skipIf(executable === undefined)("the interactive page (needs chromium)", () => {
  for (const scheme of ["light", "dark"] as const) {
    it.scopedLive(`is axe-clean in ${scheme} colours, open and after a response`, () =>
      Effect.gen(function* () {
        const { errors, foreign, page } = yield* opened(scheme)
        yield* Effect.promise(async () => {
          for (const summary of await page.locator("summary").all()) await summary.click()
          const form = page
            .locator("form[aria-label='Try Compose a chain and run a number through it'], form")
            .last()
          await form.locator("button").click()
          await form.locator("pre").waitFor({ state: "visible" })
        })
        const { violations } = yield* Effect.promise(() => new AxeBuilder({ page }).analyze())
        assert.deepStrictEqual(
          violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]),
          []
        )
        assert.deepStrictEqual(foreign, [])
        assert.deepStrictEqual(errors, [])
        const broken = yield* Effect.promise(() => page.evaluate("violations"))
        assert.deepStrictEqual(broken, [])
      })
    )
  }

  it.scopedLive("sends every example by keyboard and shows what came back", () =>
    Effect.gen(function* () {
      const { page } = yield* opened("light")
      yield* Effect.promise(async () => {
        const form = page.locator("form[aria-label='Try Compose a chain and run a number through it']")
        await form.locator("select").focus()
        await page.keyboard.press("ArrowDown")
        await form.locator("button").focus()
        await page.keyboard.press("Enter")
        await form.locator("[role=status]", { hasText: "422" }).waitFor()
        assert.include((await form.locator("pre").textContent()) ?? "", "UnhandledRequestError")
        const triage = page.locator("form[aria-label='Try Run a ticket through the triage chain']")
        await triage.locator("textarea").fill('{"id": 9, "kind": "other", "priority": "urgent"}')
        await triage.locator("button").press("Enter")
        await triage.locator("[role=status]", { hasText: "200" }).waitFor()
        assert.include(
          (await triage.locator("pre").textContent()) ?? "",
          "ticket 9 escalated to a human agent"
        )
      })
    })
  )
})
