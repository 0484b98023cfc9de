// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import { buildsInTurn } from "../support/browser/BothBuilds.js"
import { axe } from "../support/browser/Chromium.js"
import { edit, editor, replace } from "../support/browser/Editor.js"
import { submit } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const localStorage: Dom
declare const dispatchEvent: Dom
declare const Event: Dom
declare const InputEvent: Dom
declare const document: Dom

interface StoredDraft {
  readonly id: string
  readonly text: string | null
  readonly stamp: string
  readonly base: { readonly sha: string; readonly commit: string; readonly text: string } | null
}

buildsInTurn("a draft in several tabs", (the) => {
  const words = (page: Page) => page.locator(".json-path")
  const shown = (page: Page) => editor(page).innerText()

  const put = (id: string, title: string) =>
    the.on.run(the.on.store.batch({}, (batch) => batch.put("enemy", id, { title })))

  const enter = async (...ids: ReadonlyArray<string>) => {
    for (const id of ids) await put(id, id)
    const { page } = await the.enter({ hash: "#table=enemy" })
    await page.locator(".table tbody th").first().waitFor()
    return page
  }

  const kept = (page: Page): Promise<ReadonlyArray<StoredDraft>> =>
    page.evaluate(() =>
      Object.keys(localStorage)
        .filter((key) => key.startsWith("chainstore.draft"))
        .map((key) => JSON.parse(localStorage.getItem(key)))
    )

  /** What another tab does to the only draft, as this one hears of it; null discards it. */
  const elsewhere = (page: Page, change: Partial<StoredDraft> | null) =>
    page.evaluate((part) => {
      const key = Object.keys(localStorage).find((one) => one.startsWith("chainstore.draft"))!
      if (part === null) localStorage.removeItem(key)
      else
        localStorage.setItem(
          key,
          JSON.stringify({ ...JSON.parse(localStorage.getItem(key)), stamp: "of another tab", ...part })
        )
      dispatchEvent(new Event("storage"))
    }, change)

  it("what another tab has kept is shown, and not kept once more as a change of this tab", async () => {
    const page = await enter("echo-1")
    await edit(page, "echo-1")
    await replace(page, '{"title": "one"}')
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    await elsewhere(page, { text: '{"title": "two"}' })
    await page.waitForTimeout(700)
    assert.include(await shown(page), "two")
    const [draft] = await kept(page)
    assert.strictEqual(draft?.stamp, "of another tab")
  })

  it("a deletion by another tab stays one", async () => {
    const page = await enter("gone-1")
    await edit(page, "gone-1")
    await replace(page, '{"title": "one"}')
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    await elsewhere(page, { text: null })
    await page.getByRole("heading", { name: "Marked for deletion" }).waitFor()
    await page.waitForTimeout(700)
    const [draft] = await kept(page)
    assert.isNull(draft?.text)
  })

  it("what is being typed is not replaced by what another tab keeps meanwhile", async () => {
    const page = await enter("race-1")
    await edit(page, "race-1")
    await replace(page, '{"title": "one"}')
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    await replace(page, '{"title": "precious"}')
    await elsewhere(page, { text: '{"title": "two"}' })
    await page.waitForTimeout(700)
    assert.include(await shown(page), "precious")
    const said = await page.locator("[aria-live=assertive], [role=alert]").allInnerTexts()
    assert.match(said.join(" "), /tab/, "nobody hears of the banner")
    const [theirs] = await kept(page)
    assert.include(theirs?.text, "two")
    await page.getByRole("button", { name: "Keep this version" }).click()
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    const [mine] = await kept(page)
    assert.include(mine?.text, "precious")
  })

  it("what is being typed outlives that another tab discards or publishes the draft", async () => {
    const page = await enter("race-2")
    await edit(page, "race-2")
    await replace(page, '{"title": "one"}')
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    await replace(page, '{"title": "precious"}')
    await elsewhere(page, null)
    await page.waitForTimeout(700)
    assert.include(await shown(page), "precious")
    assert.notInclude(await page.locator(".editing").innerText(), "storage is full")
    await page.getByRole("button", { name: "Keep this version" }).click()
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    const [mine] = await kept(page)
    assert.include(mine?.text, "precious")
  })

  it("a draft that another tab begins while the document is being read is not overwritten", async () => {
    const page = await enter("slow-1")
    await page.locator("#open-slow-1").click()
    await page.locator("#edit").waitFor()
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    await page.route(
      (url) => the.on.isData(url.href),
      async (route) => {
        await gate
        await route.fallback()
      }
    )
    await page.locator("#edit").click()
    await page.locator(".editing").waitFor()
    await page.evaluate(() => {
      const own = localStorage.getItem("unused")
      if (own !== null) throw new Error("the storage is not empty")
    })
    await page.evaluate(
      ({ api, repo }) => {
        const key = `chainstore.draft ${JSON.stringify([api, repo, "main", "data"])} ["enemy","slow-1"]`
        localStorage.setItem(
          key,
          JSON.stringify({
            collection: "enemy",
            id: "slow-1",
            base: null,
            text: '{"title": "of the other tab"}',
            stamp: "of another tab"
          })
        )
        dispatchEvent(new Event("storage"))
      },
      await page.evaluate((): { api: string; repo: string } => {
        const named = new URLSearchParams((globalThis as Dom).location.hash.slice(1))
        return { api: named.get("api") ?? "", repo: named.get("repo") ?? "" }
      })
    )
    go()
    await editor(page).waitFor()
    await page.waitForTimeout(300)
    assert.include(await shown(page), "of the other tab")
    await page.unrouteAll()
  })

  it("a draft that stands on another version elsewhere does so here", async () => {
    const page = await enter("base-1")
    await edit(page, "base-1")
    await replace(page, '{"title": "one"}')
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    const [before] = await kept(page)
    const base = { ...before!.base!, text: '{"title": "newer"}' }
    await elsewhere(page, { base })
    await page.waitForTimeout(400)
    await replace(page, '{"title": "three"}')
    await page.waitForTimeout(700)
    const [after] = await kept(page)
    assert.include(after?.text, "three")
    assert.deepStrictEqual(after?.base, base)
  })

  it("nothing is decided or discarded in a review about a draft that has changed since", async () => {
    const page = await enter("unseen-1")
    await edit(page, "unseen-1")
    await replace(page, '{"title": "mine"}')
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    await put("unseen-1", "theirs")
    await page.getByRole("button", { name: "Review and publish" }).click()
    await page.locator(".conflict").waitFor()
    await page.route(
      (url) => the.on.isData(url.href),
      (route) => route.abort()
    )
    await elsewhere(page, { text: '{"title": "never seen"}' })
    await page.waitForTimeout(300)
    await page.getByRole("button", { name: "Take theirs and discard the draft" }).click()
    await page.waitForTimeout(300)
    assert.include(JSON.stringify(await kept(page)), "never seen")
    await page.locator(".conflict").getByRole("button", { name: "Edit", exact: true }).click()
    await page.waitForTimeout(300)
    assert.include(JSON.stringify(await kept(page)), "never seen")
    await page.unrouteAll()
  })

  it("a review publishes nothing that another tab has discarded, also where it has not heard of it", async () => {
    const page = await enter("frozen-1")
    await edit(page, "frozen-1")
    await replace(page, '{"title": "discarded"}')
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    await page.getByRole("button", { name: "Review and publish" }).click()
    await page.locator("#publish:enabled").waitFor()
    // As in a page that the browser had frozen.
    await page.evaluate(() => {
      for (const key of Object.keys(localStorage))
        if (key.startsWith("chainstore.draft")) localStorage.removeItem(key)
    })
    await page.locator("#publish").click()
    await page.getByRole("heading", { name: "No drafts" }).waitFor()
    assert.strictEqual(await page.locator(".review .banner").count(), 0)
  })

  it("of two tabs that change one draft in the same moment, neither loses its text without being asked", async () => {
    const page = await enter("race-1")
    const other = await page.context().newPage()
    other.setDefaultTimeout(15_000)
    if (the.build === "hosted") await submit(the.on, other, { hash: "#table=enemy" })
    else await other.goto(`${the.on.url}#table=enemy`)
    await other.locator(".table tbody th").first().waitFor()
    for (const tab of [page, other]) await edit(tab, "race-1")
    const lost: Array<string> = []
    for (let round = 0; round < 8; round++) {
      const texts = ["one", "other"].map((who) => `{"title": "${who} ${round}"}`)
      const tabs = [page, other]
      for (const tab of tabs) {
        await editor(tab).focus()
        await tab.keyboard.press("Control+a")
      }
      const moment = Date.now() + 200
      await Promise.all(
        tabs.map((tab, at) =>
          tab.evaluate(
            ([text, then]) =>
              new Promise<void>((resolve) => {
                const wait = () => {
                  if (Date.now() < then) return void setTimeout(wait, then - Date.now() > 10 ? 5 : 0)
                  const field = document.activeElement.shadowRoot.activeElement
                  field.dispatchEvent(
                    new InputEvent("beforeinput", {
                      inputType: "insertText",
                      data: text,
                      bubbles: true,
                      cancelable: true,
                      composed: true
                    })
                  )
                  resolve()
                }
                wait()
              }),
            [texts[at]!, moment] as const
          )
        )
      )
      await page.waitForTimeout(700)
      for (const [at, tab] of tabs.entries()) {
        const shown = (await editor(tab).innerText()).trim()
        if (shown !== texts[at]) lost.push(`${texts[at]} became ${shown}`)
      }
      for (const tab of tabs) {
        const keep = tab.getByRole("button", { name: "Keep this version" })
        if ((await keep.count()) > 0) {
          await keep.click()
          await page.waitForTimeout(300)
        }
      }
    }
    await other.close()
    assert.deepStrictEqual(lost, [])
  })

  it("a document that is not deleted after all has the draft that it had", async () => {
    const page = await enter("undo-1")
    await edit(page, "undo-1")
    await replace(page, '{"title": "precious"}')
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("heading", { name: "Marked for deletion" }).waitFor()
    await page.getByRole("button", { name: "Keep the document" }).click()
    await editor(page).waitFor()
    assert.include(await shown(page), "precious")
    const [draft] = await kept(page)
    assert.include(draft?.text, "precious")
  })

  it("what is typed without a pause is kept now and then", async () => {
    const page = await enter("steady-1")
    await edit(page, "steady-1")
    await editor(page).focus()
    const end = Date.now() + 3000
    let found = 0
    while (Date.now() < end && found === 0) {
      await page.keyboard.insertText("x")
      await page.waitForTimeout(60)
      found = (await kept(page)).length
    }
    assert.strictEqual(found, 1)
  })

  it("a new document after a duplicate that was given up is empty", async () => {
    const page = await enter("copy-1")
    await edit(page, "copy-1")
    await page.getByRole("button", { name: "Duplicate" }).click()
    await page.getByRole("button", { name: "Duplicate as a draft" }).waitFor()
    await page.goBack()
    await editor(page).waitFor()
    await page.locator("#new").click()
    await page.getByRole("button", { name: "Create draft" }).waitFor({ timeout: 3000 })
  })

  it("what the browser has of a draft and cannot be read is listed, is not overwritten, and can be discarded", async () => {
    const page = await enter("torn-1", "torn-2")
    await edit(page, "torn-1")
    await replace(page, '{"title": "whole"}')
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find((one) => one.startsWith("chainstore.draft"))!
      localStorage.setItem(key.replace("torn-1", "torn-2"), '{"text": "torn')
      dispatchEvent(new Event("storage"))
    })
    const torn = () =>
      page.evaluate(
        () => Object.keys(localStorage).filter((key) => localStorage.getItem(key).endsWith("torn")).length
      )
    await page.keyboard.press("Escape")
    await page.locator(".editing").waitFor({ state: "detached" })
    await edit(page, "torn-2")
    await replace(page, '{"title": "precious"}')
    await page.locator(".banner", { hasText: "cannot be read" }).waitFor()
    assert.strictEqual(await torn(), 1, "it is overwritten without a question")
    await page.getByRole("button", { name: "Keep this version" }).click()
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    assert.strictEqual(await torn(), 0)
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find((one) => one.includes("torn-2"))!
      localStorage.setItem(key, '{"text": "torn')
      dispatchEvent(new Event("storage"))
    })
    await page.getByRole("button", { name: "Review 2 drafts" }).click()
    const listed = page.getByRole("article", { name: "enemy/torn-2" })
    await listed.filter({ hasText: "not readable" }).waitFor()
    await page.locator("#publish:enabled").waitFor()
    assert.deepStrictEqual(await axe(page, "light"), [])
    await page.getByRole("button", { name: "Discard the draft of enemy/torn-2" }).click()
    await listed.waitFor({ state: "detached" })
    assert.strictEqual(await torn(), 0)
    await page.getByRole("button", { name: "Review 1 draft" }).waitFor()
  })

  it("who signs out is asked whether the browser keeps the drafts", async () => {
    const page = await enter("out-1", "out-2")
    const drafts = async () => (await kept(page)).map(({ id }) => id)
    await edit(page, "out-1")
    await replace(page, '{"title": "left behind"}')
    await words(page).filter({ hasText: "saved as a draft" }).waitFor()
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find((one) => one.startsWith("chainstore.draft"))!
      localStorage.setItem(key.replace('"main"', '"another"'), localStorage.getItem(key))
      localStorage.setItem(key.replace("shop", "shop-2"), localStorage.getItem(key))
      dispatchEvent(new Event("storage"))
    })
    const question = page.getByRole("dialog", { name: "Keep the drafts in this browser?" })
    const leave = async (choice: string) => {
      await page.getByRole("button", { name: "Sign out" }).click()
      await question.filter({ hasText: "2 unpublished drafts of" }).waitFor()
      await page.getByRole("button", { name: choice }).click()
      await question.waitFor({ state: "detached" })
    }
    await leave("Cancel")
    assert.strictEqual(await page.locator(".bench").count(), 1)
    await page.getByRole("button", { name: "Sign out" }).click()
    await question.waitFor()
    assert.deepStrictEqual(await axe(page, "light"), [])
    assert.deepStrictEqual(await axe(page, "dark"), [])
    await page.keyboard.press("Escape")
    await question.waitFor({ state: "detached" })
    await leave("Keep and sign out")
    await page.getByLabel("Token").waitFor()
    assert.strictEqual((await drafts()).length, 3)

    await submit(the.on, page, { hash: "#table=enemy" })
    await page.locator(".table tbody th").first().waitFor()
    await edit(page, "out-2")
    await replace(page, '{"title": "just typed"}')
    await page.getByRole("button", { name: "Sign out" }).click()
    await question.waitFor()
    await page.getByRole("button", { name: "Delete and sign out" }).click()
    await page.getByLabel("Token").waitFor()
    await page.waitForTimeout(600)
    assert.strictEqual((await drafts()).length, 1, "the one of another repository")
  })

  it("a collection that is called like an action can be chosen by its name, and so can the action", async () => {
    for (const name of ["Timeline", "Export"]) {
      await the.on.run(the.on.store.batch({}, (batch) => batch.put(name, "one", { in: name })))
    }
    const page = await enter("named-1")
    const find = async (name: string) => {
      await page.keyboard.press("Control+k")
      await page.locator(".palette input").fill(name)
      return page.locator(".palette").getByRole("option", { name: new RegExp(`^${name}( collection)?$`) })
    }
    const options = await find("Timeline")
    assert.deepStrictEqual(
      (await options.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim()).sort(),
      ["Timeline", "Timeline collection"]
    )
    assert.deepStrictEqual(await axe(page, "light"), [])
    await options.filter({ hasText: "collection" }).click()
    await page.waitForFunction(() => (globalThis as Dom).location.hash.includes("table=Timeline"))
    await (await find("Timeline")).filter({ hasNotText: "collection" }).click()
    await page.waitForFunction(() => (globalThis as Dom).location.hash.includes("panel=timeline"))
    await (await find("Export")).filter({ hasText: "collection" }).click()
    await page.waitForFunction(() => (globalThis as Dom).location.hash.includes("table=Export"))
  })
})
