import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { axe, contrast, painted, picture } from "../support/browser/Chromium.js"
import { productId } from "../support/browser/Seed.js"
import { choose, showFirstChanges, signIn, submit } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const getComputedStyle: Dom

bothBuilds("the console for everybody", (the) => {
  it("1: axe finds nothing in any state, light or dark, in forced colours, and at 200 %", async () => {
    const { page } = await the.visit({ reducedMotion: "reduce" })
    // Both builds have the same styles, so each way of looking is tried in one of them.
    const clean = async (state: string) => {
      assert.deepStrictEqual(await axe(page, "light"), [], state)
      if (the.build === "local") {
        await picture(page, `${state}-light`)
        assert.deepStrictEqual(await axe(page, "dark"), [], `${state}, dark`)
        await picture(page, `${state}-dark`)
        return
      }
      // The system's colours have its contrast. Of dark ones axe reads some that are not painted.
      await page.emulateMedia({ forcedColors: "active" })
      assert.deepStrictEqual(await axe(page, "light"), [], `${state}, forced colours`)
      await page.emulateMedia({ forcedColors: "none" })
      const size = page.viewportSize()!
      await page.setViewportSize({ width: Math.max(320, size.width / 2), height: size.height / 2 })
      assert.deepStrictEqual(await axe(page, "light"), [], `${state}, 200 %`)
      await page.setViewportSize(size)
    }
    await page.goto(the.on.url)
    await page.locator("form").waitFor()
    await clean("sign-in")
    await submit(the.on, page)
    await page.locator('.home[aria-busy="false"]').waitFor()
    if (the.build === "local") await page.getByText("No problems found").waitFor()
    await clean("home")
    await choose(page, "products")
    await clean("table")
    await page.locator(`#open-${productId(2)}`).click()
    await page.locator(".cm-line").first().waitFor()
    await page.locator(".cm-line", { hasText: '"tags"' }).click()
    await page.keyboard.press("Enter")
    await page.locator(".cm-line", { hasText: '"height"' }).click()
    await clean("document")
    await page.getByPlaceholder("Search keys and values").fill("price")
    await page.keyboard.press("Enter")
    await page.locator(".cm-searchMatch-selected").waitFor()
    await clean("document-found")
    await page.getByRole("button", { name: "History" }).click()
    await page.locator(".timeline li").nth(2).waitFor()
    await showFirstChanges(page)
    await clean("history")
    await page
      .getByRole("button", { name: /^Restore version/ })
      .first()
      .click()
    await page.locator("dialog[open] .diff").waitFor()
    await clean("restore")
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Close the document" }).click()
    await page.locator("#export").click()
    await page.locator(".export-grid").waitFor()
    await clean("export")
    await page.keyboard.press("Escape")
    await page.locator("#columns").click()
    await clean("columns")
    await page.keyboard.press("Escape")
    await page.locator("#commits").click()
    await page.locator(".timeline li").first().waitFor()
    assert.match(await page.locator(".panel").innerText(), /Commits on main that changed products/)
    await clean("commits")
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await page.locator("dialog[open]").waitFor()
    await clean("shortcuts")
    await page.keyboard.press("Escape")
    await page.locator("#cell-0-3").focus()
    await page.keyboard.press("f")
    await page.locator("dialog[open] .choices").waitFor()
    await clean("filter")
    await page.keyboard.press("Escape")
    await page.getByLabel("Field of filter 1").fill("category")
    await page.getByLabel("Value of filter 1").fill("nothing")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("heading", { name: "No documents" }).waitFor()
    await clean("empty")
    await page.getByLabel("At commit or tag").fill("no-such-tag")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.locator(".problem").waitFor()
    await clean("error")
    await page.getByRole("button", { name: "Back to now" }).click()
    await page.setViewportSize({ width: 390, height: 844 })
    await choose(page, "articles")
    await clean("phone-table")
    await page.locator("#open-a-1").click()
    await page.locator(".cm-line").first().waitFor()
    await clean("phone-document")
  })

  it("25: usable from 320 pixels on, at 200 and 400 %, without sideways scrolling; targets of 24 pixels", async () => {
    const { page } = await the.visit()
    const fits = async (what: string) => {
      await painted(page)
      const found = await page.evaluate(() => ({
        sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        small: [
          ...document.querySelectorAll("button, select, input:not([type=checkbox]), a[href]"),
          ...(document
            .querySelector(".json-text")
            ?.shadowRoot?.querySelectorAll(".fold, .cm-foldPlaceholder") ?? [])
        ]
          .map((element: Dom) => ({
            box: element.getBoundingClientRect(),
            html: element.outerHTML.slice(0, 100)
          }))
          .filter(({ box }: Dom) => box.width > 0 && (box.width < 24 || box.height < 24))
          .map(({ html }: Dom) => html)
      }))
      assert.isAtMost(found.sideways, 0, what)
      assert.deepStrictEqual(found.small, [], what)
    }
    const sizes = [
      [320, 640],
      [340, 205],
      [680, 410],
      [768, 1024],
      [1360, 820]
    ] as const
    const everywhere = async (state: string, also: () => Promise<void> = async () => {}) => {
      for (const [width, height] of sizes) {
        await page.setViewportSize({ width, height })
        await fits(`${state}, ${width}`)
        await also()
      }
    }
    await page.goto(the.on.url)
    await page.locator("form").waitFor()
    await everywhere("sign-in")
    await signIn(the.on, page)
    await page.locator(".bench").waitFor()
    await choose(page, "products")
    await everywhere("table", async () => {
      const table = page.locator(".table-scroll")
      await table.scrollIntoViewIfNeeded()
      assert.isAbove((await table.boundingBox())?.height ?? 0, 90)
    })
    await page.locator(`#open-${productId(1)}`).click()
    await page.locator(".cm-line").first().waitFor()
    await everywhere("document")
    await page.getByRole("button", { name: "Fold all", exact: true }).click()
    await page.locator(".cm-foldPlaceholder").first().waitFor()
    await everywhere("folded document")
    await page.getByRole("button", { name: "History" }).click()
    await page.locator(".timeline li").first().waitFor()
    await everywhere("history")
    await page.setViewportSize({ width: 320, height: 640 })
    await page.getByRole("button", { name: "Close the document" }).click()
    await page.waitForFunction((id) => document.activeElement.id === id, `open-${productId(1)}`)
  })

  it("25: where there is little room the data come first, and the query is one line that opens", async () => {
    const { page } = await the.enter({}, { viewport: { width: 390, height: 844 } })
    const query = page.locator("#query")
    await page.locator('.home[aria-busy="false"]').waitFor()
    for (const width of [390, 1024]) {
      await page.setViewportSize({ width, height: 844 })
      assert.isBelow((await query.boundingBox())!.height, 60, `beside the home page, ${width}`)
    }
    await page.setViewportSize({ width: 390, height: 844 })
    await page.locator("#query-toggle").click()
    assert.isAbove((await query.boundingBox())!.height, 200, "unfolded")
    await page.locator("#query-toggle").click()
    await choose(page, "products")
    const top = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element: Dom) => element.getBoundingClientRect().top)
    assert.isBelow(await top(".table tbody th"), 400, "390 pixels")
    await choose(page, "wide")
    await page.goBack()
    await page.locator("#results-title", { hasText: "products" }).waitFor()
    await page.locator(".side").evaluate((side: Dom) => side.scrollTo(0, 0))
    await page.goForward()
    await page.locator("#results-title", { hasText: "wide" }).waitFor()
    const edges = (selector: string) =>
      page.locator(selector).evaluate((element: Dom) => {
        const { left, right } = element.getBoundingClientRect()
        return [left, right]
      })
    const [[left, right], [from, to]] = [await edges(".collection[aria-current]"), await edges(".side")]
    assert.isAtLeast(left!, from!, "the chosen collection is in sight")
    assert.isAtMost(right!, to!, "the chosen collection is in sight")
    await choose(page, "products")
    await page.keyboard.press("/")
    await page.waitForFunction(() => document.activeElement.dataset.first === "true")
    await page.keyboard.type("category")
    await page.getByLabel("Value of filter 1").fill("tools")
    await page.keyboard.press("Enter")
    await page.locator(".chip", { hasText: "category is tools" }).waitFor()
    await page.locator(`#open-${productId(4)}`).waitFor()
    assert.isFalse(await page.getByLabel("Field of filter 1").isVisible())
    await page.setViewportSize({ width: 1024, height: 768 })
    await page.locator(`#open-${productId(4)}`).click()
    await page.locator(".cm-line").first().waitFor()
    const table = (await page.locator(".table-scroll").boundingBox())!
    assert.isAbove(table.height, 38 * 9, "1,024 pixels, beside a document")
    await page.locator("#query-toggle").click()
    assert.isAbove((await page.getByLabel("Field of filter 1").boundingBox())!.width, 200)
  })

  it("9, 25: from right to left the first column stays put, every column is reached, and axe finds nothing", async () => {
    const { page } = await the.visit({ reducedMotion: "reduce" })
    await page.addInitScript(() =>
      document.addEventListener("DOMContentLoaded", () => {
        document.documentElement.dir = "rtl"
      })
    )
    const clean = async (state: string) => {
      await painted(page)
      assert.deepStrictEqual(await axe(page, "light"), [], state)
      const sideways = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth
      )
      assert.isAtMost(sideways, 0, state)
    }
    await submit(the.on, page)
    await page.locator('.home[aria-busy="false"]').waitFor()
    await clean("home")
    await choose(page, "wide")
    await clean("table")
    const edge = () =>
      page.evaluate(() => {
        const [first, region] = [".table tbody th", ".table-scroll"].map((selector) =>
          document.querySelector(selector).getBoundingClientRect()
        )
        return Math.round(region.right - first.right)
      })
    const before = await edge()
    await page.locator(".table-scroll").evaluate((region: Dom) => region.scrollTo(-region.scrollWidth, 0))
    await page.locator(".table thead th", { hasText: "field17" }).waitFor()
    await painted(page)
    assert.strictEqual(await edge(), before, "the first column moved away")
    const last = (await page.locator("td", { hasText: "row 1 column 17" }).first().boundingBox())!
    const region = (await page.locator(".table-scroll").boundingBox())!
    assert.isAtLeast(last.x, region.x - 1)
    await choose(page, "products")
    await page.locator(`#open-${productId(2)}`).click()
    await page.locator(".cm-line").first().waitFor()
    await clean("document")
    await page.locator("#edit").click()
    await page.locator(".editing .cm-content").waitFor()
    await page.getByRole("button", { name: "Form", exact: true }).click()
    await page.getByRole("form", { name: /^Fields of/ }).waitFor()
    await clean("form")
  })

  it("26: themes follow the system and can be switched; forced colours and reduced motion are honoured", async () => {
    const { page } = await the.enter({}, { colorScheme: "dark" })
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const dark = await paper()
    await page.emulateMedia({ colorScheme: "light" })
    const light = await paper()
    assert.notStrictEqual(dark, light)
    const theme = page.locator("#theme")
    const becomes = (colour: string) =>
      page.waitForFunction((wanted) => getComputedStyle(document.body).backgroundColor === wanted, colour)
    await theme.click()
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light")
    await becomes(light)
    await theme.click()
    await becomes(dark)
    await page.reload()
    await page.locator("#theme").waitFor()
    await becomes(dark)
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      const ink = String(await page.evaluate(() => getComputedStyle(document.body).color))
      assert.isAtLeast(await contrast(page, ink, String(await paper())), 4.5)
    }
    await page.emulateMedia({ reducedMotion: "reduce", forcedColors: "active" })
    const moving = await page.evaluate(
      () => document.getAnimations().filter((animation: Dom) => animation.playState === "running").length
    )
    assert.strictEqual(moving, 0)
    const border = await page.evaluate(
      () => getComputedStyle(document.querySelector(".button.primary, .button")).borderStyle
    )
    assert.strictEqual(border, "solid")
    await page.emulateMedia({ forcedColors: "none" })
    if (the.build === "hosted") await signIn(the.on, page)
    await choose(page, "products")
    await page.locator(".open").first().click()
    await page.locator(".tab").first().waitFor()
    await page.emulateMedia({ forcedColors: "active" })
    const pairs = await page.evaluate(() =>
      [
        [".collection[aria-current]", ".collection:not([aria-current])"],
        ['.tab[aria-pressed="true"]', '.tab[aria-pressed="false"]'],
        [".table tbody tr.opened td", ".table tbody tr:not(.opened):not(.spacer) td"]
      ].map((pair) =>
        pair.map((selector) => getComputedStyle(document.querySelector(selector)).backgroundColor)
      )
    )
    for (const [chosen, other] of pairs) assert.notStrictEqual(chosen, other, "what is selected can be seen")
  })

  it("26: who wants more contrast has it", async () => {
    const { page } = await the.enter()
    const line = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--line"))
    const before = await line()
    await page.emulateMedia({ contrast: "more" })
    assert.notStrictEqual(await line(), before)
  })
})
