// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const Storage: Dom
declare const DOMException: Dom
declare const document: Dom
declare const window: Dom
declare const localStorage: Dom
declare const dispatchEvent: Dom
declare const Event: Dom

bothBuilds("drafts that the browser has not kept", (the) => {
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

  const enter = async (...ids: ReadonlyArray<string>) => {
    for (const id of ids) {
      await the.on.run(the.on.store.batch({}, (batch) => batch.put("enemy", id, { title: id })))
    }
    const watched = await the.enter({ hash: "#table=enemy" })
    await watched.page.locator(".table tbody th").first().waitFor()
    return watched
  }

  const fill = (page: Page) =>
    page.evaluate(() => {
      window.roomy = Storage.prototype.setItem
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError")
      }
    })

  const unkept = async (id: string) => {
    const { page } = await enter(id)
    await edit(page, id)
    await fill(page)
    await replace(page, '{"title": "precious"}')
    return page
  }

  const assertNotLost = async (page: Page) => {
    await page.waitForTimeout(700)
    const asked = await page.locator("dialog[open]").count()
    const text = (await editor(page).count()) === 0 ? "" : await editor(page).innerText()
    assert.isTrue(asked > 0 || text.includes("precious"), "the text is gone and nobody was asked")
  }

  it("are not lost by Escape beside the editor", async () => {
    const page = await unkept("esc")
    await page.evaluate(() => document.activeElement.blur())
    await page.locator("#open-esc").focus()
    await page.keyboard.press("Escape")
    await assertNotLost(page)
  })

  it("are not lost by another panel", async () => {
    const page = await unkept("side")
    await page.locator("#timeline").click()
    await assertNotLost(page)
  })

  it("are not lost by another document", async () => {
    const { page } = await enter("row-1", "row-2")
    await edit(page, "row-1")
    await fill(page)
    await replace(page, '{"title": "precious"}')
    await page.locator("#open-row-2").click()
    await assertNotLost(page)
  })

  it("are not lost by a duplicate", async () => {
    const page = await unkept("dup")
    await page.getByRole("button", { name: "Duplicate" }).click()
    await assertNotLost(page)
  })

  it("are not lost by Back", async () => {
    const page = await unkept("back")
    await page.goBack()
    await assertNotLost(page)
  })

  it("are not said to be kept, nor to be no changes", async () => {
    const page = await unkept("said")
    assert.notMatch(await page.locator(".json-path").innerText(), /No changes|kept as a draft/)
  })

  it("are not said to be kept where an earlier text of theirs was", async () => {
    const { page } = await enter("said-2")
    await edit(page, "said-2")
    await replace(page, '{"title": "first"}')
    await page.locator(".json-path", { hasText: "kept as a draft" }).waitFor()
    await fill(page)
    await replace(page, '{"title": "precious"}')
    assert.notMatch(await page.locator(".json-path").innerText(), /kept as a draft/)
  })

  it("are kept when the editor is closed and there is room again", async () => {
    const page = await unkept("room")
    await page.evaluate(() => {
      Storage.prototype.setItem = window.roomy
    })
    await page.getByRole("button", { name: "Close the editor" }).click()
    await page.waitForTimeout(700)
    assert.strictEqual(await page.locator("dialog[open]").count(), 0, "asked although there is room")
    assert.strictEqual(await page.locator("#review").count(), 1, "no draft is kept")
  })

  it("leave the focus in the text when a person stays", async () => {
    const page = await unkept("focus")
    await page.keyboard.press("Control+Enter")
    await page.getByRole("button", { name: "Stay" }).click()
    await page.waitForTimeout(500)
    await page.keyboard.insertText("typed on")
    assert.include(await editor(page).innerText(), "typed on")
  })

  it("are listed by an open review, too, where the review of them all fails", async () => {
    const { page } = await enter("late")
    await edit(page, "late")
    await replace(page, '{"title": "first"}')
    await page.locator(".json-path", { hasText: "kept as a draft" }).waitFor()
    await page.locator("#review").click()
    await page.locator(".reviewed").waitFor()
    await page.route(
      (url) => the.on.isData(url.href),
      (route) => route.abort()
    )
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find((one) => one.startsWith("chainstore.draft"))!
      const value = JSON.parse(localStorage.getItem(key))
      const other = { ...value, id: "added", base: null, text: "{}", stamp: "added" }
      localStorage.setItem(key.replace("late", "added"), JSON.stringify(other))
      dispatchEvent(new Event("storage"))
    })
    await page
      .locator(".review .problem")
      .first()
      .waitFor({ timeout: 20_000 })
      .catch(() => undefined)
    await page.unrouteAll()
    assert.strictEqual(
      await page.getByRole("button", { name: "Discard the draft of enemy/added" }).count(),
      1
    )
  })
})
