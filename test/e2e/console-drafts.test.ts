// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const localStorage: Dom
declare const Storage: Dom
declare const DOMException: Dom
declare const document: Dom
declare const dispatchEvent: Dom
declare const Event: Dom

bothBuilds("drafts of the console", (the) => {
  const editor = (page: Page) => page.locator(".editing .cm-content")

  const edit = async (page: Page, id: string) => {
    await page.locator(`#open-${id}`).click()
    await page.locator("#edit").click()
    await editor(page).waitFor()
  }

  const replace = async (page: Page, text: string) => {
    await editor(page).focus()
    await page.keyboard.press("Control+a")
    await page.keyboard.insertText(text)
    await page.waitForTimeout(600)
  }

  const put = (id: string, value: Record<string, string>) =>
    the.on.run(the.on.store.batch({}, (batch) => batch.put("enemy", id, value)))

  const enter = async (...ids: ReadonlyArray<string>) => {
    for (const id of ids) await put(id, { title: id })
    const watched = await the.enter({ hash: "#table=enemy" })
    await watched.page.locator(".table tbody th").first().waitFor()
    return watched
  }

  const fill = (page: Page) =>
    page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError")
      }
    })

  /** Begins drafts and tells what the key of the last one is. */
  const draft = async (page: Page, id: string, text: string) => {
    await edit(page, id)
    await replace(page, text)
    await page.locator(".json-path", { hasText: "draft" }).waitFor()
    await page.keyboard.press("Escape")
    await page.locator(".editing").waitFor({ state: "detached" })
  }

  it("with a full storage, closing the editor asks before it loses what was typed", async () => {
    const { page } = await enter("full-1")
    await edit(page, "full-1")
    await fill(page)
    await replace(page, '{"title": "precious"}')
    await page.getByRole("button", { name: "Close the editor" }).click()
    await page.waitForTimeout(500)
    const asked = await page.locator("dialog[open], [role=alertdialog]").count()
    const open = await editor(page).count()
    const text = open === 0 ? "" : await editor(page).innerText()
    assert.isTrue(asked > 0 || text.includes("precious"), "the text is gone and nobody was asked")
  })

  it("with a full storage, review does not leave the editor and lose the text", async () => {
    const { page } = await enter("full-2")
    await edit(page, "full-2")
    await fill(page)
    await replace(page, '{"title": "precious"}')
    await page.getByRole("button", { name: "Review and publish" }).click()
    await page.waitForTimeout(500)
    const shown = await page.locator(".panel").innerText()
    assert.notInclude(shown, "No drafts")
  })

  it("with a full storage, a new draft is not announced as begun", async () => {
    const { page } = await enter("full-3")
    await fill(page)
    await page.getByRole("button", { name: "New", exact: true }).click()
    await page.getByRole("textbox", { name: "Id", exact: true }).fill("never-kept")
    await page.getByRole("button", { name: "Begin a draft" }).click()
    await page.waitForTimeout(500)
    const said = await page.locator("[aria-live]").allInnerTexts()
    assert.notMatch(said.join(" "), /draft of never-kept has begun/)
  })

  it("with a full storage, a decision of a conflict that is not kept is told", async () => {
    const { page } = await enter("full-4")
    await draft(page, "full-4", '{"title": "mine"}')
    await put("full-4", { title: "theirs" })
    await page.locator("#review").click()
    await page.locator(".conflict").waitFor()
    await fill(page)
    await page.getByRole("button", { name: /Take what is chosen/ }).click()
    await page.waitForTimeout(700)
    const said = await page.locator("[aria-live=assertive], [role=alert]").allInnerTexts()
    assert.notStrictEqual(said.join("").trim(), "", "nothing happened and nothing was said")
  })

  it("a duplicate under the id of a draft tells that it is taken", async () => {
    const { page } = await enter("dup-1", "dup-2")
    await draft(page, "dup-2", '{"title": "another"}')
    await edit(page, "dup-1")
    await replace(page, '{"title": "to be copied"}')
    await page.getByRole("button", { name: "Duplicate" }).click()
    await page.getByRole("textbox", { name: "Id", exact: true }).fill("dup-2")
    await page.getByRole("button", { name: "Duplicate as a draft" }).click()
    await page.waitForTimeout(700)
    const said = [
      ...(await page.locator("[aria-live], [role=alert]").allInnerTexts()),
      await page.locator(".panel").innerText()
    ].join(" ")
    assert.match(said, /already|exists|there is a draft|to be copied/i)
  })

  it("a draft whose new review failed cannot be published by the old one", async () => {
    const { page } = await enter("stale-1")
    await draft(page, "stale-1", '{"title": "reviewed"}')
    await page.locator("#review").click()
    await page.locator(".reviewed", { hasText: "reviewed" }).waitFor()
    await page.locator("#publish:not([disabled])").waitFor()
    await page.route(
      (url) => the.on.isData(url.href),
      (route) => route.abort()
    )
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find((one) => one.startsWith("chainstore.draft"))!
      const value = JSON.parse(localStorage.getItem(key))
      localStorage.setItem(key, JSON.stringify({ ...value, text: '{"title": "never seen"}', stamp: "other" }))
      dispatchEvent(new Event("storage"))
    })
    await page
      .locator(".review .problem")
      .first()
      .waitFor({ timeout: 20_000 })
      .catch(() => undefined)
    await page.unrouteAll()
    assert.notInclude(await page.locator(".review").innerText(), "never seen")
    assert.isTrue(await page.locator("#publish").isDisabled(), "what nobody has seen can be published")
  })

  it("more drafts than are published together can be discarded or edited one by one", async () => {
    const { page } = await enter("big-1")
    await draft(page, "big-1", '{"title": "mine"}')
    await page.evaluate((much: boolean) => {
      const key = Object.keys(localStorage).find((one) => one.startsWith("chainstore.draft"))!
      const value = JSON.parse(localStorage.getItem(key))
      const add = (id: string, text: string) =>
        localStorage.setItem(
          key.replace("big-1", id),
          JSON.stringify({ ...value, id, base: null, text, stamp: id })
        )
      if (much) for (let i = 0; i < 501; i++) add(`many-${i}`, "{}")
      else for (let i = 0; i < 4; i++) add(`big-new-${i}`, JSON.stringify({ text: "x".repeat(100_000) }))
      dispatchEvent(new Event("storage"))
    }, the.build === "hosted")
    await page.locator("#review").click()
    await page.locator(".review .problem, .reviewed").first().waitFor()
    await page.waitForTimeout(500)
    const ways = await page.getByRole("button", { name: /^(Edit|Discard the draft of) / }).count()
    assert.isAbove(ways, 0, "no draft is listed, so none can be taken out")
  })
  it("Ctrl+K opens the palette right after the sign-in", async () => {
    const { page } = await enter("pal-2")
    await page.keyboard.press("Control+k")
    await page.waitForTimeout(1500)
    const at = await page.evaluate(() => document.activeElement.outerHTML.slice(0, 120))
    assert.strictEqual(await page.locator(".palette").count(), 1, `the focus is at ${at}`)
  })
})
