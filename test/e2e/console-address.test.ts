import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { productId } from "../support/browser/Seed.js"
import { choose, repo } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const window: Dom

bothBuilds("the address of the console", (the) => {
  it("16: the address holds the place, Back and Forward work", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.getByLabel("Field of filter 1").fill("category")
    await page.getByLabel("Value of filter 1").fill("tools")
    await page.keyboard.press("Enter")
    await page.waitForFunction(() => window.location.hash.includes("where"))
    await page.locator(".table tbody th", { hasText: productId(4) }).waitFor()
    await page.getByRole("button", { name: "price", exact: true }).click()
    await page.locator("#columns").click()
    await page.getByRole("checkbox", { name: "name", exact: true }).uncheck()
    await page.keyboard.press("Escape")
    await page.locator(`#open-${productId(4)}`).click()
    await page.locator(".panel .json-line").first().waitFor()
    const address = page.url()
    const params = new URLSearchParams(new URL(address).hash.slice(1))
    assert.strictEqual(params.get("repo"), repo)
    assert.strictEqual(params.get("branch"), "main")
    assert.strictEqual(params.get("root"), "data")
    assert.strictEqual(params.get("table"), "products")
    assert.strictEqual(params.get("where"), '["category","is","tools"]')
    assert.strictEqual(params.get("sort"), "price")
    assert.notInclude(params.get("columns") ?? "", '"name"')
    assert.strictEqual(params.get("document"), productId(4))
    assert.notInclude(address, the.on.token)
    await page.goBack()
    await page.locator(".panel").waitFor({ state: "detached" })
    await page.goBack()
    await page.getByRole("button", { name: "name", exact: true }).waitFor()
    await page.goBack()
    await page.waitForFunction(() => document.querySelector("th[aria-sort]") === null)
    await page.goBack()
    await page.waitForFunction(() => document.querySelector("[data-first]").value === "")
    for (let i = 0; i < 4; i++) await page.goForward()
    await page.locator(".panel .json-line").first().waitFor()
    assert.strictEqual(page.url(), address)
    assert.strictEqual(await page.getByLabel("Field of filter 1").inputValue(), "category")

    const other = await the.enter({ hash: new URL(address).hash })
    await other.page.locator(".panel .json-line").first().waitFor()
    assert.strictEqual(other.page.url(), address)
  })
})
