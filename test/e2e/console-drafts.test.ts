// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { axe, focused, painted } from "../support/browser/Chromium.js"
import { edit, editor, replace } from "../support/browser/Editor.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const localStorage: Dom
declare const Storage: Dom
declare const DOMException: Dom
declare const document: Dom
declare const dispatchEvent: Dom
declare const Event: Dom
declare const window: Dom
declare const location: Dom

bothBuilds("drafts of the console", (the) => {
  const type = async (page: Page, text: string) => {
    await replace(page, text)
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
      window.roomy ??= Storage.prototype.setItem
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError")
      }
    })

  const empty = (page: Page) =>
    page.evaluate(() => {
      Storage.prototype.setItem = window.roomy
    })

  const question = (page: Page) => page.getByRole("dialog", { name: "Lose what you typed?" })
  const stay = (page: Page) => page.getByRole("button", { name: "Stay" })
  const words = (page: Page) => page.locator(".json-path").innerText()

  /** Begins drafts and tells what the key of the last one is. */
  const draft = async (page: Page, id: string, text: string) => {
    await edit(page, id)
    await type(page, text)
    await page.locator(".json-path", { hasText: "draft" }).waitFor()
    await page.keyboard.press("Escape")
    await page.locator(".editing").waitFor({ state: "detached" })
  }

  it("with a full storage, no way out of the editor loses what was typed without a question", async () => {
    const { page } = await enter("full-1", "full-2")
    await edit(page, "full-1")
    await fill(page)
    await type(page, '{"title": "precious"}')
    assert.notMatch(await words(page), /No changes|kept as a draft/)
    const address = page.url()
    const steps = await page.evaluate(() => window.history.length)
    const remains = async (way: string) => {
      await question(page).waitFor({ timeout: 5000 })
      await stay(page).click()
      await question(page).waitFor({ state: "detached" })
      assert.include(await editor(page).innerText(), "precious", way)
      await page.waitForFunction((before) => location.href === before, address)
    }
    const ways: Readonly<Record<string, () => Promise<unknown>>> = {
      close: () => page.getByRole("button", { name: "Close the editor" }).click(),
      review: () => page.getByRole("button", { name: "Review and publish" }).click(),
      duplicate: () => page.getByRole("button", { name: "Duplicate" }).click(),
      "another document": () => page.locator("#open-full-2").click(),
      "another collection": () =>
        page
          .getByRole("navigation", { name: "Collections" })
          .getByRole("button", { name: "products" })
          .click(),
      timeline: () => page.locator("#timeline").click(),
      "Escape beside it": async () => {
        await page.locator("#open-full-2").focus()
        await page.keyboard.press("Escape")
      },
      "sign-out": () => page.getByRole("button", { name: "Sign out" }).click(),
      "an address by hand": () =>
        page.evaluate(() => {
          location.hash = location.hash.replace("panel=edit", "panel=timeline")
        }),
      "a way forward": () => page.evaluate(() => window.history.forward()),
      back: () => page.evaluate(() => window.history.back()),
      "back twice": () => page.evaluate(() => window.history.go(-2))
    }
    const ended = async () => {
      const json = { error: "AuthError", message: "The session has ended." }
      await page.route(
        (url) => the.on.isData(url.href),
        (route) => route.fulfill({ status: 401, json })
      )
      await page.getByRole("button", { name: "Refresh" }).click()
      await question(page).waitFor()
      await page.unrouteAll()
    }
    const all = the.build === "local" ? { ...ways, "an ended session": ended } : ways
    for (const [way, take] of Object.entries(all)) {
      await take()
      await remains(way)
    }
    assert.strictEqual(
      await page.evaluate(() => window.history.length),
      steps + 1,
      "the address by hand alone"
    )
    const closed = await page.evaluate(() => {
      const event = new Event("beforeunload", { cancelable: true })
      dispatchEvent(event)
      return event.defaultPrevented
    })
    assert.isTrue(closed, "closing the tab")

    await page.goBack()
    await page.getByRole("button", { name: "Leave the editor" }).click()
    await page.locator("#edit").waitFor()
    assert.notInclude(page.url(), "panel=edit")
    await page.goForward()
    await editor(page).waitFor()
    assert.strictEqual(page.url(), address)
    assert.notInclude(await editor(page).innerText(), "precious")

    await type(page, '{"title": "precious"}')
    await page.getByRole("button", { name: "Close the editor" }).click()
    await page.getByRole("button", { name: "Leave the editor" }).click()
    await page.locator(".editing").waitFor({ state: "detached" })
    await page.waitForFunction(() => document.activeElement.id === "open-full-1")
  })

  it("with a full storage, the question is asked for everybody, and the focus goes back to the text", async () => {
    const { page } = await enter("full-5")
    await edit(page, "full-5")
    await type(page, '{"title": "first"}')
    await page.locator(".json-path", { hasText: "kept as a draft" }).waitFor()
    await fill(page)
    await type(page, '{"title": "precious"}')
    assert.notMatch(await words(page), /kept as a draft/, "an earlier text was")
    assert.deepStrictEqual(await axe(page, "light"), [])
    assert.deepStrictEqual(await axe(page, "dark"), [])
    await page.keyboard.press("Control+Enter")
    await question(page).waitFor()
    assert.deepStrictEqual(await axe(page, "light"), [])
    assert.deepStrictEqual(await axe(page, "dark"), [])
    const reached = new Set<string>()
    for (let i = 0; i < 5; i++) {
      // From the last button the focus goes to the browser itself, where the body stands for it.
      const behind = await page.evaluate(
        () => document.activeElement !== document.body && document.activeElement.closest("dialog") === null
      )
      assert.isFalse(behind, "the focus is behind the question")
      reached.add(await focused(page))
      await page.keyboard.press("Tab")
    }
    assert.includeMembers([...reached], ["Stay", "Leave the editor"])
    await page.setViewportSize({ width: 320, height: 640 })
    await page.emulateMedia({ forcedColors: "active" })
    await painted(page)
    const shown = await question(page).evaluate((dialog: Dom) => ({
      sideways:
        document.documentElement.scrollWidth -
        document.documentElement.clientWidth +
        dialog.scrollWidth -
        dialog.clientWidth,
      frames: [dialog, ...dialog.querySelectorAll("button")].map(
        (one) => window.getComputedStyle(one).borderTopStyle
      ),
      heights: [...dialog.querySelectorAll("button")].map((one) => one.getBoundingClientRect().height >= 24)
    }))
    assert.deepStrictEqual(shown, {
      sideways: 0,
      frames: ["solid", "solid", "solid"],
      heights: [true, true]
    })
    await page.emulateMedia({ forcedColors: "none" })
    await page.setViewportSize({ width: 1360, height: 820 })
    await page.keyboard.press("Escape")
    await question(page).waitFor({ state: "detached" })
    await page.keyboard.press("Control+End")
    await page.keyboard.insertText(" typed on")
    assert.include(await editor(page).innerText(), "precious")
    assert.include(await editor(page).innerText(), "typed on")

    await empty(page)
    await page.getByRole("button", { name: "Close the editor" }).click()
    await page.locator(".editing").waitFor({ state: "detached" })
    assert.strictEqual(await page.locator("dialog[open]").count(), 0, "asked although there is room")
    const kept = await page.evaluate(() =>
      Object.keys(localStorage)
        .filter((key) => key.startsWith("chainstore.draft"))
        .map((key) => localStorage.getItem(key))
    )
    assert.include(kept.join(), "typed on")
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
    await type(page, '{"title": "to be copied"}')
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

  it("a draft whose new review failed is listed, and cannot be published by the old one", async () => {
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
      const added = { ...value, id: "stale-2", base: null, text: "{}", stamp: "added" }
      localStorage.setItem(key.replace("stale-1", "stale-2"), JSON.stringify(added))
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
    for (const id of ["stale-1", "stale-2"]) {
      const ways = await page.getByRole("button", { name: `Discard the draft of enemy/${id}` }).count()
      assert.strictEqual(ways, 1, `the draft of ${id} is listed`)
    }
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
