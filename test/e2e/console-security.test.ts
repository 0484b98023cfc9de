import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { productId } from "../support/browser/Seed.js"
import { choose, repo } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const window: Dom
declare const localStorage: Dom
declare const sessionStorage: Dom

bothBuilds("the security of the console", (the) => {
  it("17: the token is nowhere it does not belong", async () => {
    const watched = await the.enter()
    const { page } = watched
    await choose(page, "products")
    await page.locator(`#open-${productId(2)}`).click()
    await page.locator(".json-line").first().waitFor()
    await page.getByRole("button", { name: "History" }).click()
    await page.locator(".timeline li").first().waitFor()
    const kept = await page.evaluate(() => ({
      local: JSON.stringify(localStorage),
      session: JSON.stringify(sessionStorage),
      cookie: document.cookie,
      html: document.documentElement.outerHTML,
      values: [...document.querySelectorAll("input, textarea")].map((field: Dom) => field.value).join(" "),
      history: JSON.stringify(window.history.state),
      name: window.name,
      databases: 0
    }))
    const { token } = the.on
    assert.notInclude(JSON.stringify(kept), token)
    assert.include(kept.local, repo)
    assert.notInclude(JSON.stringify(await page.context().cookies()), token)
    assert.notInclude(watched.console.join("\n"), token)
    assert.notInclude(page.url(), token)
    const page_ = new URL(the.on.url)
    for (const { headers, url } of watched.requests) {
      assert.notInclude(url, token)
      if (the.on.isData(url)) continue
      assert.strictEqual(new URL(url).host, page_.host, "no third party")
      assert.notInclude(JSON.stringify(headers), token)
    }
    if (the.build === "local") {
      assert.isTrue(watched.requests.every(({ headers }) => !JSON.stringify(headers).includes(token)))
      const cookies = await page.context().cookies()
      assert.isTrue(cookies.every(({ httpOnly, sameSite }) => httpOnly && sameSite === "Strict"))
    }
    const databases = (await page.evaluate("indexedDB.databases().then((all) => all.length)")) as number
    const caches = (await page.evaluate("caches.keys().then((all) => all.length)")) as number
    assert.strictEqual(databases + caches, 0)
  })

  it("19: the policy is strict", async () => {
    const { page } = await the.visit()
    const answer = await page.goto(the.on.url)
    const policy =
      the.build === "local"
        ? (answer?.headers()["content-security-policy"] ?? "")
        : ((await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content")) ?? "")
    assert.include(policy, "default-src 'none'")
    assert.match(policy, /script-src 'self'(;|$)/)
    assert.match(policy, /style-src 'self'(;|$)/)
    assert.notMatch(policy, /unsafe|\*/)
    const connect = /connect-src ([^;]*)/.exec(policy)?.[1]?.split(" ") ?? []
    if (the.build === "local") assert.deepStrictEqual(connect, ["'self'"])
    else
      assert.isTrue(connect.every((source) => source === "'self'" || source.startsWith("http://127.0.0.1:")))
  })
})
