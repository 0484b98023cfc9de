// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { Effect, Option } from "effect"
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import type { JsonObject } from "../../src/domain/json/Json.js"
import { buildsInTurn } from "../support/browser/BothBuilds.js"
import { axe } from "../support/browser/Chromium.js"
import { edit, replace } from "../support/browser/Editor.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const localStorage: Dom

buildsInTurn("several documents in the console", (the) => {
  const put = (collection: string, documents: Readonly<Record<string, JsonObject>>) =>
    the.on.run(
      the.on.store.batch({}, (batch) =>
        Effect.forEach(Object.entries(documents), ([id, document]) => batch.put(collection, id, document))
      )
    )

  const stored = (collection: string, id: string): Promise<JsonObject | undefined> =>
    the.on.run(
      Effect.map(the.on.store.collection(collection).get(id, { fresh: true }), (found) => {
        if (Option.isNone(found)) return undefined
        const { _created_at, _id, _rev, _updated_at, ...rest } = found.value
        return rest
      })
    )

  const enter = async (collection: string) => {
    const { page } = await the.enter({ hash: `#table=${collection}` })
    await page.locator(".table tbody th").first().waitFor()
    return page
  }

  const box = (page: Page, id: string) => page.getByRole("checkbox", { name: `Select ${id}`, exact: true })
  const bar = (page: Page) => page.locator(".chosen")
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true })

  const publish = async (page: Page) => {
    await page.locator("#publish:not([disabled])").click()
    await page.locator(".review .banner", { hasText: "Published as commit" }).waitFor()
  }

  it("rows are chosen one by one, through a range, by keys and all at once", async () => {
    await put("chosen", Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`c-${n}`, { n }])))
    const page = await enter("chosen")
    assert.strictEqual(await bar(page).count(), 0)
    await box(page, "c-2").click()
    await box(page, "c-4").click({ modifiers: ["Shift"] })
    assert.match(await bar(page).innerText(), /3 rows selected/)
    await page.locator("#open-c-3").focus()
    await page.keyboard.press("x")
    assert.isFalse(await box(page, "c-3").isChecked())
    await page.keyboard.press("ArrowDown")
    await page.locator("#cell-4-1").focus()
    await page.keyboard.press("Shift+X")
    assert.match(await bar(page).innerText(), /4 rows selected/)
    const all = page.getByRole("checkbox", { name: "Select all rows" })
    assert.isTrue(await all.evaluate((element: Dom) => element.indeterminate))
    await all.click()
    assert.match(await bar(page).innerText(), /5 rows selected/)
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    await button(page, "Clear selection").click()
    await bar(page).waitFor({ state: "detached" })
  })

  it("one field of several is set, drafts among them, and nothing else changes in them", async () => {
    await put("sets", {
      a: { price: { amount: 1 }, n: 1 },
      b: { price: { amount: 2 }, n: 2 },
      c: { price: "none", n: 3 },
      d: { price: { amount: 9 }, n: 4 }
    })
    const page = await enter("sets")
    await edit(page, "b")
    await replace(page, '{"price": {"amount": 2}, "n": 2.50}')
    await page.locator(".json-path", { hasText: "saved as a draft" }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("checkbox", { name: "Select all rows" }).click()
    await button(page, "Change or delete").click()
    await page.getByRole("combobox", { name: "Field" }).fill("price.amount")
    await page.locator(".panel").getByLabel("Value").fill("9")
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    await button(page, "Create 4 drafts").click()
    await page.locator(".reviewed").first().waitFor()
    assert.match(
      await page.locator(".review").innerText(),
      /1 document skipped: c has a value that is not an object at price/
    )
    assert.deepStrictEqual(await page.locator(".reviewed h3 bdi").allInnerTexts(), ["sets/a", "sets/b"])
    await publish(page)
    assert.deepStrictEqual(await stored("sets", "a"), { price: { amount: 9 }, n: 1 })
    assert.deepStrictEqual(await stored("sets", "b"), { price: { amount: 9 }, n: 2.5 })
    assert.deepStrictEqual(await stored("sets", "c"), { price: "none", n: 3 })
  })

  it.skipIf(the.build === "hosted")(
    "a change leaves room for what another tab drafts while it reads the documents",
    async () => {
      await put("room", { a: { text: "x".repeat(100_000) }, b: { text: "b" } })
      const page = await enter("room")
      await edit(page, "b")
      await replace(page, '{"text": "draft"}')
      await page.locator(".json-path", { hasText: "saved as a draft" }).waitFor()
      await page.keyboard.press("Escape")
      await box(page, "a").click()
      await button(page, "Change or delete").click()
      await page.getByRole("combobox", { name: "Field" }).fill("n")
      await page.locator(".panel").getByLabel("Value").fill("9")
      await page.route("**/api/editable", async (route) => {
        await page.evaluate(() => {
          for (const key of Object.keys(localStorage).filter((name) => name.includes('["room","b"]'))) {
            const text = JSON.stringify({ text: "x".repeat(200_000) })
            localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage.getItem(key)), text }))
          }
        })
        await route.continue()
      })
      await button(page, "Create 1 draft").click()
      await page
        .locator(".panel .wrong", {
          hasText: "1 document skipped: a would exceed the size limit for one publish"
        })
        .waitFor()
    }
  )

  it("a value and a message of several lines keep their line breaks", async () => {
    await put("breaks", { a: { n: "one" }, b: { n: "two" } })
    const page = await enter("breaks")
    await page.getByRole("checkbox", { name: "Select all rows" }).click()
    await button(page, "Change or delete").click()
    await page.getByRole("combobox", { name: "Field" }).fill("n")
    const value = page.locator(".panel").getByLabel("Value")
    await value.pressSequentially("first")
    await value.press("Shift+Enter")
    await value.pressSequentially("second")
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    await button(page, "Create 2 drafts").click()
    await page.locator(".reviewed").first().waitFor()
    await page.getByRole("textbox", { name: "Message" }).fill("a subject\n\nand its reason")
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    await publish(page)
    for (const id of ["a", "b"]) assert.deepStrictEqual(await stored("breaks", id), { n: "first\nsecond" })
    const [newest] = await the.on.run(the.on.store.collection("breaks").history("a"))
    assert.match(newest?.message ?? "", /^a subject\n\nand its reason\n\nChainstore-Edits:/)
  })

  it("several are deleted in one commit, by keyboard alone; a field is removed where it is", async () => {
    await put("gone", { a: { n: 1, old: true }, b: { n: 2 }, c: { n: 3, old: 1 } })
    const page = await enter("gone")
    await page.locator("#open-a").focus()
    await page.keyboard.press("x")
    await page.locator("#open-b").focus()
    await page.keyboard.press("x")
    await page.locator("#change").focus()
    await page.keyboard.press("Enter")
    await page.getByRole("radio", { name: "Delete the documents" }).focus()
    await page.keyboard.press("Space")
    await page.keyboard.press("Enter")
    await page.locator(".reviewed").nth(1).waitFor()
    await publish(page)
    assert.isUndefined(await stored("gone", "a"))
    assert.isUndefined(await stored("gone", "b"))
    await page.locator("#open-a").waitFor({ state: "detached" })
    await page.keyboard.press("Escape")
    await box(page, "c").click()
    await button(page, "Change or delete").click()
    await page.getByRole("radio", { name: "Remove a field" }).check()
    await page.getByRole("combobox", { name: "Field" }).fill("old")
    await button(page, "Create 1 draft").click()
    await page.locator(".reviewed").first().waitFor()
    await publish(page)
    assert.deepStrictEqual(await stored("gone", "c"), { n: 3 })
  })

  it("at an earlier commit there is nothing to choose", async () => {
    await put("past", { a: { n: 1 } })
    const at = await the.on.run(
      Effect.map(the.on.store.collection("past").history("a", { limit: 1 }), (found) => found[0]!.sha)
    )
    const { page } = await the.enter({ hash: `#table=past&at=${at}` })
    await page.locator("#open-a").waitFor()
    assert.strictEqual(await page.getByRole("checkbox", { name: /^Select/ }).count(), 0)
  })
})
