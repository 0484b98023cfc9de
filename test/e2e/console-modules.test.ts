import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { submit } from "../support/browser/Stage.js"

// Likely after each upgrade of a server whose sign-in page was open: the module has another name then. Harmful: the page says that the
// server cannot be reached, for ever. Other parts that could not be loaded offer to reload the page after the first retry.
bothBuilds("the schemas of the console that cannot be loaded", (the) => {
  const schemas = /\/assets\/LocalServer-[^/]*\.js$/
  const gone = (route: { readonly fulfill: (reply: { status: number; body: string }) => Promise<void> }) =>
    route.fulfill({ status: 404, body: "" })

  it("are no reason to sign in for ever: the page offers to be reloaded", async () => {
    if (the.build === "hosted") return
    const { page } = await the.visit()
    await page.route(schemas, gone)
    await submit(the.on, page)
    const problem = page.locator(".problem", { hasText: "A part of this page could not be loaded" })
    await problem.waitFor()
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await problem.waitFor()
    await page.waitForTimeout(500)
    assert.match(await page.locator("main").innerText(), /reload/i)
  })

  it("are no reason to try again for ever where a session lives on: the page offers to be reloaded", async () => {
    if (the.build === "hosted") return
    const { page } = await the.enter()
    await page.route(schemas, gone)
    await page.reload()
    const problem = page.locator(".problem", { hasText: "A part of this page could not be loaded" })
    await problem.waitFor()
    await page.getByRole("button", { name: "Try again" }).click()
    await page.waitForTimeout(500)
    await problem.waitFor()
    assert.match(await page.locator("main").innerText(), /reload/i)
  })
})
