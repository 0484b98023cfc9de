// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { execFileSync } from "node:child_process"
import type { Page, Response } from "playwright-core"
import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { axe, focused, status } from "../support/browser/Chromium.js"
import { productId } from "../support/browser/Seed.js"
import { repo, signIn } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const localStorage: Dom
declare const sessionStorage: Dom

const loaded = (page: Page) => page.locator('.home[aria-busy="false"] .home-list').first().waitFor()
const card = (page: Page, name: string) => page.getByRole("region", { name, exact: true })

const tabTo = async (page: Page, name: RegExp) => {
  for (let i = 0; i < 80; i++) {
    if (name.test(await focused(page))) return
    await page.keyboard.press("Tab")
  }
  assert.fail(`no way to ${name} by Tab`)
}

bothBuilds("the home page of the console", (the) => {
  const clean = async (page: Page, state: string) => {
    for (const scheme of ["light", "dark"] as const) {
      assert.deepStrictEqual(await axe(page, scheme), [], `${state}, ${scheme}`)
    }
  }

  it("counts collections, names commits with their authors, and is left and reached by keyboard", async () => {
    const { page, requests } = await the.enter()
    await loaded(page)
    const asked = requests.filter(the.on.isQuestion)
    assert.isAtMost(
      asked.length,
      the.build === "hosted" ? 13 : 7,
      JSON.stringify(asked.map(({ url }) => url))
    )
    const collections = await card(page, "Collections").innerText()
    assert.match(collections, /products\s+200 documents/)
    assert.match(collections, /big\s+1 document\n/)
    const commits = await card(page, "Recent commits").innerText()
    const [newest] = await the.on.run(the.on.store.collection("wide").history("w-001", { limit: 1 }))
    assert.include(commits, newest!.author)
    assert.include(commits, newest!.message)
    assert.match(await card(page, "Since your last visit").innerText(), /This is the first visit/)
    await clean(page, "home")

    await page.locator("#results-title").focus()
    await tabTo(page, /^products$/)
    await page.keyboard.press("Enter")
    await page.locator(".table tbody th", { hasText: productId(1) }).waitFor()
    await page.locator(".home").waitFor({ state: "detached" })
    // The way back costs one request while the branch has not moved.
    const statuses: Array<number> = []
    const isQuestion = (response: Response) =>
      the.on.isQuestion({ method: response.request().method(), url: response.url() })
    page.on("response", (response) => {
      if (isQuestion(response)) statuses.push(response.status())
    })
    // The page shows what it knows before the reply.
    const answered = page.waitForResponse(isQuestion)
    await page.getByRole("button", { name: "Home", exact: true }).press("Enter")
    await loaded(page)
    await answered
    assert.match(await card(page, "Collections").innerText(), /products\s+200 documents/)
    assert.deepStrictEqual(statuses, [the.build === "hosted" ? 304 : 200])
    await page.keyboard.press("Control+k")
    await page.locator(".palette input").waitFor()
    await page.keyboard.type("all commits")
    await page.keyboard.press("Enter")
    await page.locator(".timeline li").first().waitFor()
  })

  it("lists what changed since the last visit of this browser, and opens it", async () => {
    const { page } = await the.enter()
    await loaded(page)
    const products = the.on.store.collection("products")
    await the.on.run(products.update(productId(9), { price: 90 }, { message: "a change between visits" }))
    await the.on.run(products.delete(productId(10)))

    const second = await page.context().newPage()
    await second.goto(the.on.url)
    if (the.build === "hosted") await signIn(the.on, second)
    await loaded(second)
    const changes = card(second, "Since your last visit")
    assert.match(await changes.innerText(), /2 documents have changed since/)
    assert.match(await changes.innerText(), new RegExp(`products/${productId(10)}\\s+removed`))
    await clean(second, "changes")
    // A reload is not another visit.
    await second.reload()
    if (the.build === "hosted") await signIn(the.on, second)
    await loaded(second)
    assert.match(await changes.innerText(), /2 documents have changed since/)
    await changes.getByRole("button", { name: `products/${productId(9)}` }).press("Enter")
    await second.locator(".panel", { hasText: productId(9) }).waitFor()
    await second.close()

    const third = await page.context().newPage()
    await third.goto(the.on.url)
    if (the.build === "hosted") await signIn(the.on, third)
    await loaded(third)
    assert.match(await card(third, "Since your last visit").innerText(), /No document has changed since/)
    // A commit that a forced push has removed.
    await third.evaluate(() => {
      for (const [key, value] of Object.entries(localStorage as Record<string, string>)) {
        if (!key.startsWith("chainstore.visit")) continue
        localStorage.setItem(key, JSON.stringify({ ...JSON.parse(value), head: "1".repeat(40) }))
      }
      sessionStorage.clear()
    })
    await third.reload()
    if (the.build === "hosted") await signIn(the.on, third)
    await loaded(third)
    assert.match(await card(third, "Since your last visit").innerText(), /no longer in the repository/)
    await third.close()
  })

  it("tells the health of the repository: without being asked only where that costs no requests", async () => {
    const { page, requests } = await the.enter()
    await loaded(page)
    const health = card(page, "Health")
    assert.match(await health.innerText(), /This session can read and write/)
    if (the.build === "hosted") {
      assert.strictEqual(await health.getByText("finding").count(), 0)
      const before = requests.filter(the.on.isQuestion).length
      await health.getByRole("button", { name: "Check the repository" }).press("Enter")
      await health.getByText(/^\d+ findings?$/).waitFor()
      assert.isAtMost(requests.filter(the.on.isQuestion).length - before, 30)
    } else {
      await health.getByText("No problems found").waitFor()
      await health.getByRole("button", { name: "Check every document" }).press("Enter")
    }
    await status(page)
      .getByText(/found\.$/)
      .waitFor()
    await health.getByText(/^\d+ findings?$/).press("Enter")
    await health.getByText("may read and write").waitFor()
    await clean(page, "health")
  })

  it("keeps the repositories that were opened, never a token, and opens one again", async () => {
    await the.on.run(the.on.store.createBranch("spare"))
    const { page } = await the.enter({ branch: "spare" })
    await loaded(page)
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.locator("#token").waitFor()
    await clean(page, "sign-in")
    await page.locator("#token").focus()
    await signIn(the.on, page, { branch: "main" })
    await loaded(page)
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
    assert.include(stored, "spare")
    assert.notInclude(stored, the.on.token)
    const recent = card(page, "Recent repositories")
    await recent.getByRole("button", { name: `Open ${repo}, ${the.on.api} · spare · data` }).press("Enter")
    await page.locator("#token").waitFor()
    assert.strictEqual(await page.getByLabel("Branch").inputValue(), "spare")
    assert.strictEqual(await focused(page), "token")
    await page.getByRole("button", { name: new RegExp(`^Open ${repo}, ${the.on.api} · main`) }).press("Enter")
    assert.strictEqual(await page.getByLabel("Branch").inputValue(), "main")
    await page
      .getByRole("button", { name: new RegExp(`^Remove ${repo}, ${the.on.api} · main`) })
      .press("Enter")
    assert.strictEqual(await focused(page), "recent-title")
    assert.strictEqual(await page.getByRole("button", { name: /· main ·/ }).count(), 0)
  })

  it("a collection that cannot be counted says why, and the others are counted", async () => {
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", the.on.repository, ...args], { encoding: "utf8" }).trim()
    const gitWith = (input: string, ...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", the.on.repository, ...args], { encoding: "utf8", input }).trim()
    // The directory of one collection is missing from the repository's objects.
    const listed = git("ls-tree", "main:data")
    const lost = `040000 tree ${"12".repeat(20)}\tdamaged`
    const data = gitWith(`${listed}\n${lost}\n`, "mktree", "--missing")
    const rest = git("ls-tree", "main")
      .split("\n")
      .filter((line) => !line.endsWith("\tdata"))
    const root = gitWith([...rest, `040000 tree ${data}\tdata`, ""].join("\n"), "mktree", "--missing")
    const identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    const commit = git(...identity, "commit-tree", "-m", "lose a directory", root)
    git("update-ref", "refs/heads/damaged", commit)
    const { page } = await the.enter({ branch: "damaged" })
    await loaded(page)
    const collections = await card(page, "Collections").innerText()
    assert.match(collections, /articles\s+12 documents/)
    assert.match(collections, /damaged\s+cannot be counted\s+\S/)
    assert.include(await card(page, "Recent commits").innerText(), "lose a directory")
    await clean(page, "not counted")
  })
})
