import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { axe, contrast, focused, painted, picture } from "../support/browser/Chromium.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const window: Dom
declare const getComputedStyle: Dom
declare const innerWidth: number

const run = (page: Page) => page.getByRole("button", { name: "Run", exact: true })

const settled = (page: Page) => page.locator(".report-parts[aria-busy=false]").waitFor()

const example = async (page: Page, name: string) => {
  await page.getByRole("button", { name: "Examples" }).click()
  await page.getByRole("button", { name, exact: true }).click()
}

bothBuilds("the looks of the chain playground", (the) => {
  const start = async (options: Parameters<typeof the.visit>[0] = {}) => {
    const watched = await the.visit(options)
    await watched.page.goto(the.on.playground)
    await run(watched.page).waitFor()
    return watched
  }

  it("axe finds nothing in any state, light or dark", async () => {
    const { page } = await start({ reducedMotion: "reduce" })
    const clean = async (state: string) => {
      // Both builds have the same colours.
      for (const colorScheme of the.build === "local" ? (["dark", "light"] as const) : (["light"] as const)) {
        assert.deepStrictEqual(await axe(page, colorScheme), [], `${state}, ${colorScheme}`)
        if (the.build === "local") await picture(page, `${state}-${colorScheme}`)
      }
    }
    await example(page, "Order counts")
    await settled(page)
    await clean("playground")
    await example(page, "A branch and a fragment")
    await page.locator(".chart-step.fragment.matched").waitFor()
    await clean("playground-branches")
    await page.getByLabel("Many requests").check({ force: true })
    await page.locator(".case-summary").waitFor()
    await clean("playground-table")
    await page.getByLabel("Code", { exact: true }).check({ force: true })
    await page.locator("section.code").waitFor()
    await clean("playground-code")
    await page.getByLabel("JSON", { exact: true }).check({ force: true })
    await page.locator("textarea.code").fill("{")
    await page.locator(".problems li").waitFor()
    await clean("playground-json")
    await page.getByLabel("Result", { exact: true }).check({ force: true })
    await page.getByRole("button", { name: "Tutorial" }).click()
    await page.getByText("0 of 6 done").waitFor()
    await clean("playground-guide")
    await page.getByRole("button", { name: "Close" }).click()
    await example(page, "Fails twice, then succeeds")
    await page.locator(".verdict.s2").waitFor()
    await page.getByLabel("Retries").fill("0")
    await page.locator(".verdict.s5").waitFor()
    await clean("playground-work")
    await example(page, "No handler accepts (422)")
    await run(page).click()
    await page.locator(".verdict.s4").waitFor()
    await clean("playground-422")
    await page.getByRole("button", { name: "Copy as" }).click()
    await clean("playground-menu")
    await page.keyboard.press("Escape")
    assert.match(await focused(page), /Copy as/)
    await page.getByLabel("Ticket triage").check({ force: true })
    await example(page, "Urgent, of another kind")
    await run(page).click()
    await page.locator(".verdict.s2").waitFor()
    await clean("triage")
    await page.setViewportSize({ width: 390, height: 844 })
    await clean("triage-phone")
  })

  it("is usable from 320 pixels on, without sideways scrolling; targets of 24 pixels; the focus is ringed", async () => {
    const { page } = await start({ reducedMotion: "reduce" })
    await run(page).click()
    await page.locator(".trace li").first().waitFor()
    for (const [width, height] of [
      [320, 640],
      [340, 205],
      [680, 410],
      [1360, 820]
    ] as const) {
      await page.setViewportSize({ width, height })
      await painted(page)
      const found = await page.evaluate(() => ({
        sideways: document.documentElement.scrollWidth - innerWidth,
        small: [...document.querySelectorAll("button, select, input:not([type=checkbox]), a[href]")]
          .map((element: Dom) => ({
            box: element.getBoundingClientRect(),
            html: element.outerHTML.slice(0, 100)
          }))
          .filter(({ box }: Dom) => box.width > 0 && (box.width < 24 || box.height < 24))
          .map(({ html }: Dom) => html)
      }))
      assert.isAtMost(found.sideways, 0, `${width}`)
      assert.deepStrictEqual(found.small, [], `${width}`)
    }
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      await page.evaluate(() => document.activeElement.blur())
      const rings = new Map<string, readonly [string, string, string]>()
      for (let i = 0; i < 30; i++) {
        await page.keyboard.press("Tab")
        const ring = await page.evaluate(() => {
          const at = document.activeElement
          // A radio button lies unseen over its label, which wears the ring.
          const worn = at.type === "radio" ? at.nextElementSibling : at
          const style = getComputedStyle(worn)
          let behind = worn.parentElement
          while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)")
            behind = behind.parentElement
          return {
            what: at.outerHTML.slice(0, 120),
            page: at === document.body,
            style: style.outlineStyle,
            colour: style.outlineColor,
            width: Number.parseFloat(style.outlineWidth),
            behind: getComputedStyle(behind ?? document.body).backgroundColor
          }
        })
        if (ring.page) continue
        assert.notStrictEqual(ring.style, "none", ring.what)
        assert.isAtLeast(ring.width, 2, ring.what)
        rings.set(`${ring.colour} ${ring.behind}`, [ring.colour, ring.behind, ring.what])
      }
      for (const [colour, behind, what] of rings.values()) {
        assert.isAtLeast(await contrast(page, colour, behind), 3, what)
      }
    }
    await page.emulateMedia({ forcedColors: "active" })
    assert.strictEqual(
      await page.evaluate(() => getComputedStyle(document.querySelector(".button.primary")).borderStyle),
      "solid"
    )
    const [chosen, other] = await page.evaluate(() =>
      [":checked", ":not(:checked)"].map(
        (state) => getComputedStyle(document.querySelector(`.switch input${state} + span`)).backgroundColor
      )
    )
    assert.notStrictEqual(chosen, other, "what is selected can be seen")
  })

  it("the status of a refusal stays in one piece at every width", async () => {
    const { page } = await start({ reducedMotion: "reduce" })
    for (const [name, status] of [
      ["No handler accepts (422)", "422"],
      ["No handlers (400)", "400"]
    ] as const) {
      await example(page, name)
      await run(page).click()
      await page.locator(".verdict .status", { hasText: status }).waitFor()
      for (const width of [320, 390, 640, 900, 1280]) {
        await page.setViewportSize({ width, height: 820 })
        await painted(page)
        const [code, letter] = await page.evaluate(() => {
          const status = document.querySelector(".verdict .status")
          return [status.getBoundingClientRect().height, Number.parseFloat(getComputedStyle(status).fontSize)]
        })
        assert.isBelow(code, letter * 2, `${name}, ${width}`)
      }
    }
  })

  it("the page of the API leads to everything that the service has, and asks for nothing that is not there", async () => {
    if (the.build === "hosted") return
    const { page, requests } = await the.visit()
    await page.goto(new URL("/docs", the.on.url).href)
    await page.locator("main[aria-busy=false]").waitFor()
    const icon = await page.locator("link[rel=icon]").getAttribute("href")
    const links: ReadonlyArray<string> = await page
      .locator("header a")
      .evaluateAll((all: ReadonlyArray<Dom>) => all.map(({ href }) => href))
    const entries = await page.getByRole("navigation", { name: "Entries" }).getByRole("link").allInnerTexts()
    assert.deepStrictEqual(entries, [
      "Console",
      "Chain playground",
      "Host",
      "Reference of the libraries",
      "OpenAPI file"
    ])
    for (const theme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, theme), [])
    assert.includeMembers([...links], [the.on.url, new URL("/playground", the.on.url).href])
    for (const address of [new URL(icon!, the.on.url).href, ...links, ...requests.map(({ url }) => url)]) {
      assert.isTrue((await fetch(address)).ok, address)
    }
  })

  it("keeps a strict policy and asks nobody else", async () => {
    const { page, requests } = await the.visit()
    const answer = await page.goto(the.on.playground)
    const policy =
      the.build === "local"
        ? (answer?.headers()["content-security-policy"] ?? "")
        : ((await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content")) ?? "")
    assert.include(policy, "default-src 'none'")
    assert.match(policy, /connect-src 'self'(;|$)/)
    assert.notMatch(policy, /unsafe|\*/)
    await run(page).click()
    await page.locator(".trace li").first().waitFor()
    const own = new URL(the.on.playground).host
    assert.isTrue(requests.every(({ url }) => new URL(url).host === own))
    assert.strictEqual(await page.evaluate(() => window.localStorage.length), 0)
  })
})
