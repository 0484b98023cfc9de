// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { execFileSync } from "node:child_process"
import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { status } from "../support/browser/Chromium.js"
import { productId } from "../support/browser/Seed.js"
import { choose, type Stage } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const window: Dom
declare const innerWidth: number

const git = (stage: Stage, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", stage.repository, ...args], { encoding: "utf8" }).trim()

bothBuilds("documents in the console", (the) => {
  it("20: the viewer folds, searches and copies; a megabyte opens within a second", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.locator(`#open-${productId(1)}`).click()
    const size = page.getByRole("treeitem", { name: /^size/ })
    await size.waitFor()
    assert.strictEqual(await page.getByRole("treeitem", { name: /^width/ }).count(), 1)
    await size.click()
    assert.strictEqual(await page.getByRole("treeitem", { name: /^width/ }).count(), 0)
    assert.strictEqual(await size.getAttribute("aria-expanded"), "false")
    await page.getByRole("tree").focus()
    await page.keyboard.press("ArrowRight")
    assert.strictEqual(await page.getByRole("treeitem", { name: /^width/ }).count(), 1)
    await page.keyboard.press("ArrowDown")
    await page.getByRole("button", { name: "Copy path" }).click()
    const clip = () => page.evaluate("navigator.clipboard.readText()")
    const path = String(await clip())
    assert.match(path, /^size\.(height|width)$/)
    await page.getByRole("button", { name: "Copy value" }).click()
    assert.strictEqual(await clip(), path === "size.width" ? "1" : "7")
    await page.getByRole("button", { name: "Fold all", exact: true }).click()
    await page.getByPlaceholder("Search keys and values").fill("width")
    await page.keyboard.press("Enter")
    await status(page).getByText("Match 1 of 1: size.width").waitFor()
    await page.getByRole("button", { name: "Close the document" }).click()

    await choose(page, "big")
    const response = page.waitForResponse((answer) => the.on.isData(answer.url()) && answer.ok())
    await page.locator("#open-megabyte").click()
    await response
    const started = Date.now()
    await page.locator(".panel .json-line").first().waitFor()
    assert.isBelow(Date.now() - started, 1000)
    await page.getByPlaceholder("Search keys and values").fill("plane 5995")
    await page.keyboard.press("Enter")
    await page.locator(".json-line.hit").first().waitFor()
  })

  it("21: history, field by field, and a restore that is one forward commit, asked first", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.locator(`#open-${productId(2)}`).click()
    await page.getByRole("button", { name: "History" }).click()
    await page.locator(".timeline li").nth(2).waitFor()
    const entries = await page.locator(".timeline li").allInnerTexts()
    assert.include(entries[0]!, "raise it again")
    assert.include(entries[1]!, "lower a price")
    assert.match(entries[1]!, /(now|second|minute|hour|ago)/)
    assert.include(entries[1]!, git(the.on, "log", "-1", "--format=%an", "main"))
    await page
      .getByRole("button", { name: /^Changes in/ })
      .nth(1)
      .click()
    const diff = page.getByRole("region", { name: /^Fields changed by/ })
    await diff.waitFor()
    assert.match(await diff.innerText(), /note\s+added\s+nothing\s+on sale/)
    assert.match(await diff.innerText(), /price\s+changed\s+2\.75\s+9\.99/)
    const head = git(the.on, "rev-parse", "main")
    await page
      .getByRole("button", { name: /^Restore version/ })
      .nth(0)
      .click()
    const dialog = page.locator("dialog[open]")
    await dialog.locator(".diff").waitFor()
    assert.match(await dialog.innerText(), /price\s+changed\s+12\.5\s+9\.99/)
    await dialog.getByRole("button", { name: "Cancel" }).click()
    assert.strictEqual(git(the.on, "rev-parse", "main"), head, "nothing was written yet")
    await page.waitForFunction(() => document.activeElement.textContent === "Restore…")
    await page
      .getByRole("button", { name: /^Restore version/ })
      .nth(0)
      .click()
    await dialog.getByRole("button", { name: "Restore in one commit" }).click()
    await page.locator(".timeline li").nth(3).waitFor()
    await status(page)
      .getByText(/restored|history/)
      .waitFor()
    assert.strictEqual(git(the.on, "rev-parse", "main^"), head, "one forward commit")
    const message = git(the.on, "log", "-1", "--format=%s", "main")
    assert.match(message, new RegExp(`^restore products/${productId(2)} from [0-9a-f]{7}$`))
    assert.include(await page.locator(".timeline li").first().innerText(), message)
    const stored = JSON.parse(git(the.on, "show", `main:data/products/${productId(2)}.json`))
    assert.strictEqual(stored.price, 9.99)
    assert.strictEqual(stored._rev, 4)
    await page
      .getByRole("button", { name: /^View version/ })
      .nth(3)
      .click()
    await page.locator(".panel .banner").waitFor()
    await page.getByRole("treeitem", { name: /^_rev\s*:\s*1/ }).waitFor()
    assert.match(page.url(), /at=[0-9a-f]{40}/)
    await page.locator(".results .banner").waitFor()
    await page.getByRole("button", { name: "Back to now" }).first().click()
    await page.locator(".panel .banner").waitFor({ state: "detached" })
  })

  it("28: hostile contents are text", async () => {
    const { page } = await the.enter()
    await page.getByLabel("Whole documents").check()
    await page.locator("#query-table").selectOption("hostile")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.locator(".table tbody th").first().waitFor()
    for (const id of ["script", "bidi", "long", "proto", "formula", "style"]) {
      await page.locator(`#open-${id}`).click()
      await page.locator(".panel .json-line").first().waitFor()
      await page.getByRole("button", { name: "History" }).click()
      await page.locator(".timeline li").first().waitFor()
      await page
        .getByRole("button", { name: /^Changes in/ })
        .first()
        .click()
      await page.locator(".diff").waitFor()
      await page.getByRole("button", { name: "Close the document" }).click()
    }
    await page.locator("#open-script").click()
    await page.getByRole("treeitem", { name: /<script>/ }).waitFor()
    await page.getByRole("button", { name: "Close the document" }).click()
    await page.locator("#open-proto").click()
    await page.getByRole("treeitem", { name: /^__proto__/ }).waitFor()
    await page.locator("#columns").click()
    await page.keyboard.press("Escape")
    assert.strictEqual(await page.evaluate(() => window.__hostile), undefined)
    assert.strictEqual(await page.evaluate("({}).polluted"), undefined)
    assert.strictEqual(
      await page.locator(".bench script, .bench iframe, .bench img, .bench style").count(),
      0
    )
    assert.isAtMost(
      (await page.evaluate(() => document.documentElement.scrollWidth)) as number,
      await page.evaluate(() => innerWidth)
    )
  })
})
