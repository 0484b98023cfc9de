// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { Effect, Option } from "effect"
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import type { JsonObject } from "../../src/domain/json/Json.js"
import { buildsInTurn } from "../support/browser/BothBuilds.js"
import { axe, painted } from "../support/browser/Chromium.js"
import { edit, editor, replace } from "../support/browser/Editor.js"
import { choose, signIn, submit } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const localStorage: Dom

buildsInTurn("editing in the console", (the) => {
  const type = async (page: Page, value: JsonObject | string) => {
    await replace(page, typeof value === "string" ? value : JSON.stringify(value, null, 2))
    await page.locator(".json-path", { hasText: /draft|text/ }).waitFor()
  }

  const review = async (page: Page) => {
    await page.getByRole("button", { name: "Review and publish" }).click()
    await page.locator(".reviewed, .empty").first().waitFor()
  }

  const publish = async (page: Page, said: RegExp) => {
    await page.locator("#publish").click()
    await page.locator(".review .banner", { hasText: said }).waitFor()
  }

  const stored = (id: string, collection = "notes"): Promise<JsonObject | undefined> =>
    the.on.run(
      Effect.map(the.on.store.collection(collection).get(id, { fresh: true }), (found) => {
        if (Option.isNone(found)) return undefined
        const { _created_at, _id, _updated_at, ...rest } = found.value
        return rest
      })
    )

  const put = (id: string, value: JsonObject) =>
    the.on.run(the.on.store.batch({}, (batch) => batch.put("notes", id, value)))

  const head = async () => Option.getOrThrow(await the.on.run(the.on.store.commitSha))

  const drafts = (page: Page): Promise<number> =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("chainstore.draft")).length)

  it("22: creates, changes, duplicates and deletes across collections in one commit, by keyboard alone", async () => {
    await put("k-1", { title: "one", n: 1 })
    await put("k-2", { title: "two" })
    const { page } = await the.enter({ hash: "#table=notes" })
    await page.locator(".table tbody th").first().waitFor()
    const press = async (name: string | RegExp) => {
      await page.getByRole("button", { name }).last().focus()
      await page.keyboard.press("Enter")
    }
    await press("New")
    await page.getByRole("textbox", { name: "Id", exact: true }).focus()
    await page.keyboard.type("no/id")
    await page.keyboard.press("Enter")
    await page.locator(".panel .wrong").waitFor()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("k-new")
    await page.keyboard.press("Enter")
    await editor(page).waitFor()
    await type(page, '{"none": null, "empty": "", "list": []}')
    await press("Duplicate")
    await page.getByRole("textbox", { name: "Collection", exact: true }).focus()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("products")
    await page.keyboard.press("Enter")
    await page.locator(".panel h2", { hasText: /^[0-9A-Z]{26}$/ }).waitFor()
    const copy = await page.locator(".panel h2").innerText()
    await editor(page).waitFor()
    await page.keyboard.press("Escape")
    await choose(page, "notes")
    await press("Open k-1")
    await page.locator(".panel .cm-line").first().waitFor()
    await press("Edit")
    await editor(page).waitFor()
    await type(page, { title: "changed", n: 1 })
    // The page's keys are text in the editor, and Tab leads out of it.
    await editor(page).focus()
    await page.keyboard.press("Control+End")
    await page.keyboard.type("?r")
    assert.strictEqual(await page.locator("dialog[open]").count(), 0)
    await page.locator(".json-path.wrong", { hasText: "Line" }).waitFor()
    await page.keyboard.press("Control+z")
    await page.keyboard.press("Tab")
    assert.isFalse(await page.evaluate(() => document.activeElement.classList.contains("json-text")))
    await page.locator(".json-path", { hasText: "saved as a draft" }).waitFor()
    await page.keyboard.press("Escape")
    await page.waitForFunction(() => document.activeElement.id === "open-k-1")
    await press("Open k-2")
    await page.locator(".panel .cm-line").first().waitFor()
    await press("Edit")
    await editor(page).waitFor()
    await press("Delete")
    await page.getByRole("heading", { name: "Marked for deletion" }).waitFor()
    const before = await head()
    await press("Review 4 drafts")
    await page.locator(".reviewed").nth(3).waitFor()
    const shown = await page.locator(".review").innerText()
    for (const word of ["new", "changed", "deleted", "notes/k-new", `products/${copy}`]) {
      assert.include(shown, word)
    }
    assert.strictEqual(await head(), before)
    await page.getByLabel("Message").focus()
    await page.keyboard.type("four at once")
    await press("Publish")
    await page.locator(".review .banner", { hasText: "Published as commit" }).waitFor()
    assert.strictEqual(await drafts(page), 0)
    const none = { _rev: 1, none: null, empty: "", list: [] }
    assert.deepStrictEqual(await stored("k-new"), none)
    assert.deepStrictEqual(await stored(copy, "products"), none)
    assert.deepStrictEqual(await stored("k-1"), { _rev: 2, title: "changed", n: 1 })
    assert.isUndefined(await stored("k-2"))
    const [last] = await the.on.run(the.on.store.collection("notes").history("k-1"))
    assert.strictEqual(last?.sha, await head())
    assert.match(last?.message ?? "", /^four at once\n\nChainstore-Edits:( [0-9a-f]{16}){4}$/)
  })

  it("22: the rows of a file become drafts, which replace nothing before they are published", async () => {
    await put("i-old", { title: "old", kept: true })
    await put("i-same", { key: "i-same", title: "same", n: 5 })
    const { page } = await the.enter({ hash: "#table=notes" })
    await page.locator(".table tbody th").first().waitFor()
    await page.getByRole("button", { name: "Import", exact: true }).press("Enter")
    const csv = 'key,title,n\ni-old,"new, and longer",2\ni-new,first,1\nno/id,x,3\ni-same,same,5\n'
    await page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from(csv) })
    await page.getByRole("combobox", { name: "Id field" }).selectOption("key")
    await page.locator(".panel li", { hasText: "Row 3:" }).waitFor()
    await page.getByRole("button", { name: "Create 3 drafts" }).waitFor()
    await page.getByRole("button", { name: "Preview changes" }).press("Enter")
    const preview = page.getByRole("region", { name: "Preview of the import" })
    await preview.getByText("1 new, 1 changed, 1 unchanged.").waitFor()
    await preview.locator("summary", { hasText: "i-old" }).press("Enter")
    const rows = await preview.locator("details[open] tbody tr").allInnerTexts()
    assert.deepStrictEqual(
      rows.map((row) => row.replace(/\s+/g, " ").trim()),
      [
        "kept removed true nothing",
        "key added nothing i-old",
        "n added nothing 2",
        "title changed old new, and longer"
      ]
    )
    assert.deepStrictEqual(await axe(page, "light"), [])
    assert.deepStrictEqual(await axe(page, "dark"), [])
    await page.getByRole("button", { name: "Create 2 drafts" }).press("Enter")
    await page.locator(".reviewed").nth(1).waitFor()
    const words = await page.locator(".reviewed").allInnerTexts()
    assert.match(words[0]!, /notes\/i-new\s+new/)
    assert.match(words[1]!, /notes\/i-old\s+changed[\s\S]*kept/)
    assert.deepInclude(await stored("i-old"), { title: "old" })
    await publish(page, /Published as commit/)
    assert.deepStrictEqual(await stored("i-old"), { _rev: 2, key: "i-old", title: "new, and longer", n: 2 })
    assert.deepStrictEqual(await stored("i-new"), { _rev: 1, key: "i-new", title: "first", n: 1 })
  })

  it("22: drafts outlive a reload and a closed tab, and tabs see each other's", async () => {
    await put("t-1", { title: "tab" })
    const { page } = await the.enter({ hash: "#table=notes" })
    await edit(page, "t-1")
    await type(page, '{"title": "half typed"')
    await page.locator(".json-path.wrong").waitFor()
    await page.reload()
    if (the.build === "hosted") await signIn(the.on, page, {})
    await editor(page).waitFor()
    assert.strictEqual(await editor(page).innerText(), '{"title": "half typed"')
    const other = await page.context().newPage()
    if (the.build === "hosted") await submit(the.on, other, { hash: "#table=notes" })
    else await other.goto(`${the.on.url}#table=notes`)
    await other.getByRole("button", { name: "Review 1 draft" }).waitFor()
    await type(page, { title: "by the first tab" })
    await other.getByRole("button", { name: "Review 1 draft" }).click()
    await other.locator(".reviewed", { hasText: "by the first tab" }).waitFor()
    await type(page, { title: "again" })
    await other.locator(".reviewed", { hasText: "again" }).waitFor()
    await other.getByRole("button", { name: "Discard the draft of notes/t-1" }).click()
    await other.getByRole("heading", { name: "No drafts" }).waitFor()
    await page.locator(".json-path", { hasText: "No changes" }).waitFor()
    assert.include(await editor(page).innerText(), '"tab"')
    const secrets = await page.evaluate(() => JSON.stringify(Object.entries(localStorage)))
    assert.notInclude(secrets, the.on.token)
    await other.close()
  })

  it("23: what others changed elsewhere is merged, and what they changed there too is decided field by field", async () => {
    const base = { title: "base", text: "base", kept: true }
    await put("c-1", base)
    await put("c-2", base)
    const { page } = await the.enter({ hash: "#table=notes" })
    await edit(page, "c-1")
    await type(page, { ...base, title: "mine" })
    await edit(page, "c-2")
    await type(page, { ...base, title: "mine", text: "mine" })
    const collection = the.on.store.collection("notes")
    await the.on.run(collection.update("c-1", { text: "theirs" }))
    await the.on.run(collection.update("c-2", { title: "theirs", text: "theirs" }))
    const before = await head()
    await review(page)
    await page.locator(".reviewed .badge", { hasText: "merged" }).waitFor()
    await page.locator(".conflict").waitFor()
    assert.isTrue(await page.locator("#publish").isDisabled())
    const row = page.locator(".conflict tr", { hasText: "title" })
    assert.match(await row.innerText(), /base\s+theirs\s+mine/)
    assert.deepStrictEqual(await axe(page, "light"), [], "conflict")
    await row.getByRole("radio").first().check()
    await page.getByRole("button", { name: "Apply selection" }).click()
    await page.locator(".conflict").waitFor({ state: "detached" })
    assert.strictEqual(await head(), before)
    await publish(page, /Published as commit/)
    assert.deepStrictEqual(await stored("c-1"), { _rev: 3, title: "mine", text: "theirs", kept: true })
    assert.deepStrictEqual(await stored("c-2"), { _rev: 3, title: "theirs", text: "mine", kept: true })
  })

  it("23: of two browsers that edit one document, nobody overwrites the other; deleted against edited is asked", async () => {
    await put("b-1", { title: "base", n: 1 })
    await put("b-2", { title: "base" })
    const first = (await the.enter({ hash: "#table=notes" })).page
    const second = (await the.enter({ hash: "#table=notes" })).page
    await edit(first, "b-1")
    await edit(second, "b-1")
    await type(first, { title: "first", n: 1 })
    await type(second, { title: "second", n: 2 })
    await edit(second, "b-2")
    await type(second, { title: "edited" })
    await edit(first, "b-2")
    await first.getByRole("button", { name: "Delete" }).click()
    await review(first)
    await review(second)
    await publish(first, /Published as commit/)
    const before = await head()
    await second.locator("#publish").click()
    await second.locator(".conflict").nth(1).waitFor()
    assert.strictEqual(await head(), before)
    await second
      .locator(".conflict", { hasText: "deleted" })
      .getByRole("button", { name: "Take mine" })
      .click()
    await second.locator(".conflict").nth(1).waitFor({ state: "detached" })
    await second.getByRole("button", { name: "Edit", exact: true }).click()
    await editor(second).waitFor()
    await type(second, { title: "both", n: 2 })
    await review(second)
    await publish(second, /Published as commit/)
    assert.deepStrictEqual(await stored("b-1"), { _rev: 3, title: "both", n: 2 })
    assert.deepInclude(await stored("b-2"), { title: "edited" })
  })

  it("22: a publish whose reply is lost keeps the drafts, and is not made twice", async () => {
    await put("l-1", { title: "base" })
    const { page } = await the.enter({ hash: "#table=notes" })
    await edit(page, "l-1")
    await type(page, { title: "once" })
    await review(page)
    await page.locator("#publish:enabled").waitFor()
    let lost = 0
    await page.route(
      (url) => the.on.isData(url.href),
      async (route) => {
        const isWrite =
          /^(PUT|PATCH|POST)$/.test(route.request().method()) &&
          !/review|editable|rate/.test(route.request().url())
        if (!isWrite || lost > 0) return route.fallback()
        lost++
        await route.fetch().catch(() => undefined)
        await route.abort()
      }
    )
    await page.locator("#publish").click()
    await page.locator(".review .problem, .review .banner").first().waitFor()
    assert.strictEqual(lost, 1)
    if ((await page.locator(".review .problem").count()) > 0) {
      assert.strictEqual(await drafts(page), 1)
      assert.include(await page.locator(".review .problem").innerText(), "Your drafts are kept")
      await page.reload()
      if (the.build === "hosted") await signIn(the.on, page, {})
      await page.locator("#publish:enabled").click()
      await page.locator(".review .banner").waitFor()
    }
    assert.strictEqual(await drafts(page), 0)
    assert.deepStrictEqual(await stored("l-1"), { _rev: 2, title: "once" })
  })

  it("large numbers are never rounded, and what a text is not is told as one types", async () => {
    await put("n-1", { n: 1 })
    const { page } = await the.enter({ hash: "#table=notes" })
    await edit(page, "n-1")
    await type(page, '{\n  "n": 9007199254740993\n}')
    const told = page.locator(".json-path.wrong")
    await told.waitFor()
    assert.include(await told.innerText(), "9007199254740993 at n")
    await type(page, '{\n  "n": 1,\n  "m": 2,\n  "n": 3\n}')
    await page.getByRole("button", { name: "Go to line 4" }).waitFor()
    assert.include(await told.innerText(), "has n twice, on lines 2 and 4")
    await review(page)
    await page.locator(".reviewed .badge", { hasText: "not valid" }).waitFor()
    await page.getByRole("button", { name: "Edit notes/n-1" }).click()
    await editor(page).waitFor()
    await type(page, '{\n  "n": 1,\n  oops\n}')
    await page.getByRole("button", { name: "Go to line 3" }).waitFor()
    assert.deepStrictEqual(await axe(page, "light"), [], "editor")
    await review(page)
    await page.locator(".reviewed .badge", { hasText: "not valid" }).waitFor()
    assert.isTrue(await page.locator("#publish").isDisabled())
    await page.getByRole("button", { name: "Edit notes/n-1" }).click()
    await editor(page).waitFor()
    await page.getByRole("button", { name: "Discard the draft" }).click()
    await page.locator(".json-path", { hasText: "No changes" }).waitFor()
    assert.strictEqual(await drafts(page), 0)
    assert.strictEqual(await page.locator('[aria-live="polite"]').count(), 1)
  })

  it("looks like the rest of the console, wide and narrow, light and dark", async () => {
    await put("s-1", { title: "The look of a studio", tags: ["a", "b"], size: { width: 3, height: 4 } })
    const { page } = await the.enter({ hash: "#table=notes" }, { reducedMotion: "reduce" })
    await edit(page, "s-1")
    await type(page, { title: "Another look", tags: ["a", "b", "c"], size: { width: 3 }, price: null })
    const looks = async (state: string) => {
      for (const [width, height] of [
        [1280, 800],
        [390, 844]
      ] as const) {
        await page.setViewportSize({ width, height })
        await painted(page)
        const wide = await page.evaluate(() => document.scrollingElement.scrollWidth)
        assert.isAtMost(wide, width, `${state} does not scroll sideways`)
        for (const scheme of ["light", "dark"] as const) {
          assert.deepStrictEqual(await axe(page, scheme), [], `${state}, ${width}, ${scheme}`)
        }
      }
    }
    await looks("editor")
    await page.setViewportSize({ width: 1280, height: 800 })
    await review(page)
    await page.locator("#publish:enabled").waitFor()
    await page.locator("summary").click()
    await looks("review")
    await page.getByRole("button", { name: "Discard the draft of notes/s-1" }).click()
  })

  it.skipIf(the.build === "hosted")(
    "the embedded demo on this machine is written after one click",
    async () => {
      const { page } = await the.visit()
      await page.goto(the.on.url)
      await page.getByRole("button", { name: "Open the demo" }).click()
      await choose(page, "flags")
      await page.locator("#new").click()
      await page.getByRole("textbox", { name: "Id", exact: true }).fill("demo-edit")
      await page.keyboard.press("Enter")
      await editor(page).waitFor()
      await type(page, { enabled: true })
      await review(page)
      await publish(page, /1 document|Published/)
      await choose(page, "flags")
      await page.locator(".table tbody th", { hasText: "demo-edit" }).waitFor()
    }
  )

  it("who may only read is offered no editing", async () => {
    const { page } = await the.enter({ api: "Host", repo: "local/demo", token: "" })
    await choose(page, "products")
    assert.strictEqual(await page.locator("#new").count(), 0)
    await page.locator(".table tbody th button").first().click()
    await page.locator(".panel .cm-line").first().waitFor()
    assert.strictEqual(await page.locator("#edit").count(), 0)
  })

  it("who may only read begins no drafts, whatever the address says", async () => {
    for (const panel of ["import", "edit"]) {
      const { page } = await the.enter({
        api: "Host",
        repo: "local/demo",
        token: "",
        hash: `#table=products&panel=${panel}`
      })
      await page.locator(".badge.read-only").waitFor()
      await page.locator(".table tbody th").first().waitFor()
      await page.waitForTimeout(500)
      assert.strictEqual(await page.locator(".panel").count(), 0, panel)
    }
  })
})
