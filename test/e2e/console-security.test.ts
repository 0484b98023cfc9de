import { execFileSync } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { productId } from "../support/browser/Seed.js"
import { choose, repo, type Stage } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const window: Dom
declare const localStorage: Dom
declare const sessionStorage: Dom

const git = (stage: Stage, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", stage.repository, ...args], { encoding: "utf8" }).trim()

/** A page of another origin that frames what it is told to. */
const elsewhere = async () => {
  const server = createServer((request, response) => {
    const framed = new URL(request.url ?? "/", "http://localhost").searchParams.get("frame") ?? "about:blank"
    response.writeHead(200, { "content-type": "text/html" })
    response.end(`<!doctype html><title>elsewhere</title><iframe src="${framed}"></iframe>`)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}

bothBuilds("the security of the console", (the) => {
  it("17: the token is nowhere it does not belong", async () => {
    const watched = await the.enter()
    const { page } = watched
    await choose(page, "products")
    await page.locator(`#open-${productId(2)}`).click()
    await page.locator(".cm-line").first().waitFor()
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
    assert.isNotEmpty(the.on.logged)
    assert.notInclude(the.on.logged.join("\n"), token)
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

  it("a page of somebody else can neither frame it nor act with its session", async () => {
    if (the.build === "hosted") return
    const watched = await the.enter()
    const { page } = watched
    const head = git(the.on, "rev-parse", "main")
    const foreign = await elsewhere()
    try {
      const other = await page.context().newPage()
      const blocked = other.waitForEvent("console", (message) =>
        /frame-ancestors|X-Frame/.test(message.text())
      )
      await other.goto(`${foreign.url}?frame=${encodeURIComponent(the.on.url)}`)
      await blocked
      assert.strictEqual(await other.frames()[1]?.locator("form").count(), 0)

      // Another port of this machine is another origin and yet the same site: its requests carry the cookie.
      const restore = { collection: "products", id: productId(2), commit: git(the.on, "rev-parse", "main~2") }
      const outcomes = (await other.evaluate(
        async ({ body, url }) => {
          const attempt = (init: RequestInit) =>
            fetch(`${url}api/restore`, { method: "POST", credentials: "include", body, ...init }).then(
              (answer) => answer.type,
              () => "refused"
            )
          return [
            await attempt({ headers: { "content-type": "application/json" } }),
            await attempt({ mode: "no-cors", headers: { "content-type": "text/plain" } }),
            await fetch(`${url}api/collections`, { credentials: "include" }).then(
              () => "read",
              () => "refused"
            )
          ]
        },
        { body: JSON.stringify(restore), url: the.on.url }
      )) as ReadonlyArray<string>
      assert.deepStrictEqual(outcomes, ["refused", "refused", "refused"])
      const answered = the.on.logged.flatMap((line) => {
        const [, method, status] = /"method[^A-Z]*(\w+)[^/]*\/api\/restore[^0-9]*(\d+)/.exec(line) ?? []
        return method === "POST" ? [status] : []
      })
      // The one that needs no leave of ours arrived, and was refused; the other was never sent.
      assert.deepStrictEqual(answered, ["403"])
      await other.evaluate((url) => {
        const form = document.createElement("form")
        form.method = "post"
        form.action = `${url}api/logout`
        document.body.append(form)
        form.submit()
      }, the.on.url)
      await other.waitForURL(/api\/logout/)
      assert.include(await other.content(), "ForbiddenOrigin")
    } finally {
      await foreign.close()
    }
    assert.strictEqual(git(the.on, "rev-parse", "main"), head)
    await choose(page, "products")
  })

  it("under another name of this machine nothing is answered", async () => {
    if (the.build === "hosted") return
    const { page } = await the.visit()
    const rebound = the.on.url.replace("127.0.0.1", "rebound.example")
    for (const path of ["", "playground", "api/session", "assets/none.js"]) {
      const answer = await page.goto(rebound + path)
      assert.strictEqual(answer?.status(), 421, path)
      assert.notInclude(await page.content(), "<form")
    }
  })
})
