// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { Effect, Option, Schema } from "effect"
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import type { JsonObject } from "../../src/domain/json/Json.js"
import { Collection } from "../../src/store/Collection.js"
import { buildsInTurn } from "../support/browser/BothBuilds.js"
import { axe, focused, painted } from "../support/browser/Chromium.js"
import { editor, replace } from "../support/browser/Editor.js"
import { signIn } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const localStorage: Dom
declare const innerWidth: number

const schema: JsonObject = {
  $defs: { Size: { type: "object", required: ["w"], properties: { w: { type: "number", minimum: 1 } } } },
  type: "object",
  required: ["title", "kind"],
  properties: {
    title: { type: "string", minLength: 2, description: "What people see first" },
    kind: { enum: ["lamp", "desk"] },
    price: { type: "number" },
    count: { type: ["integer", "null"], minimum: 0 },
    sold: { type: "boolean" },
    since: { type: "string", format: "date-time" },
    story: { type: "string", maxLength: 2000 },
    tags: { type: "array", items: { type: "string" }, uniqueItems: true },
    size: { $ref: "#/$defs/Size" },
    parts: { type: "array", items: { type: "object" } }
  },
  additionalProperties: false
}

buildsInTurn("forms in the console", (the) => {
  const lines = (collection: string, id: string, text: string) =>
    the.on.run(
      Effect.zipRight(
        the.on.store.batch({}, (batch) => batch.put(collection, id, JSON.parse(text) as JsonObject)),
        the.on.store.collection(collection).count
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

  /** The text of the draft that the browser keeps, once nothing is being typed. */
  const draft = async (page: Page, id: string): Promise<string> => {
    const kept = () =>
      page.evaluate((wanted): string => {
        for (const key of Object.keys(localStorage)) {
          const value = localStorage.getItem(key)
          if (key.startsWith("chainstore.draft") && value.includes(`"id":"${wanted}"`))
            return JSON.parse(value).text
        }
        return ""
      }, id)
    let last = await kept()
    for (let same = 0; same < 4; ) {
      await page.waitForTimeout(100)
      const next = await kept()
      same = next === last ? same + 1 : 0
      last = next
    }
    return last
  }

  const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })

  /** What is said beside a field. */
  const said = (page: Page, name: string): Promise<string> =>
    field(page, name).evaluate((control: Dom) =>
      (control.getAttribute("aria-describedby") ?? "")
        .split(" ")
        .map((id: string) => document.getElementById(id)?.textContent ?? "")
        .join(" ")
    )

  it("22: a form of the stored schema makes the smallest changes, by keyboard alone", async () => {
    await the.on.run(the.on.store.collection("things").writeJsonSchema({ schema }))
    await lines(
      "things",
      "t-1",
      '{"title": "Lamp", "kind": "lamp", "price": 10.5, "extra": [[[[{"n": 1}]]]], "tags": ["a", "b"], "size": {"w": 3, "h": 4}}'
    )
    const { page } = await the.enter({ hash: "#table=things&document=t-1&panel=edit" })
    const form = page.getByRole("form", { name: "Fields of things/t-1" })
    await form.waitFor()
    assert.isFalse(await editor(page).isVisible())
    assert.strictEqual(
      await page.getByRole("button", { name: "Form", exact: true }).getAttribute("aria-pressed"),
      "true"
    )
    assert.include(await said(page, "title required"), "What people see first")
    assert.include(await form.innerText(), "1 field does not fit")

    // Typing, with words at once and never a refusal of the draft.
    await field(page, "title required").focus()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("L")
    assert.include(await said(page, "title required"), "at least 2 characters")
    assert.strictEqual(await field(page, "title required").getAttribute("aria-invalid"), "true")
    await page.keyboard.type("ight ☀")
    assert.notInclude(await said(page, "title required"), "at least")
    await field(page, "price").focus()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("1.")
    assert.include(await said(page, "price"), "1. is not a number")
    await page.keyboard.type("50")
    assert.notInclude(await said(page, "price"), "not a number")

    // Absent, null and empty are three things.
    await page.getByLabel("Type of count").selectOption("value")
    await field(page, "count").focus()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("12345678901234567890")
    assert.include(await said(page, "count"), "would be rounded to 12345678901234567000")
    const before = await draft(page, "t-1")
    assert.include(before, '"count": 12345678901234567890')
    assert.include(before, '"price": 1.50')
    assert.deepStrictEqual(JSON.parse(before).extra, [[[[{ n: 1 }]]]])
    await page.getByLabel("Type of count").selectOption("null")
    await page.getByLabel("Type of price").selectOption("absent")
    await page.getByLabel("Type of story").selectOption("value")
    await field(page, "sold").selectOption("true")
    await field(page, "kind required").selectOption("desk")
    await page.getByLabel("Type of since").selectOption("value")
    await field(page, "since").fill("yesterday")
    assert.include(await said(page, "since"), "a date and time, such as")
    await field(page, "since").fill("2025-01-31T12:00:00+01:00")

    // A list, whose buttons keep the focus where somebody works.
    await page.getByRole("button", { name: "Add to tags" }).press("Enter")
    await page.keyboard.type("c")
    await page.getByRole("button", { name: "Move item 3 of tags up" }).press("Enter")
    assert.strictEqual(
      await focused(page),
      (await page.getByLabel("Move item 2 of tags up").getAttribute("id")) ?? ""
    )
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Remove item 2 of tags" }).press("Enter")
    assert.strictEqual(
      await focused(page),
      (await page.getByLabel("Remove item 2 of tags").getAttribute("id")) ?? ""
    )
    await field(page, "w required").fill("0")
    assert.include(await said(page, "w required"), "at least 1")
    // What is typed after a pause is undone by itself.
    await page.waitForTimeout(600)
    await field(page, "w required").fill("2.50")

    // Undo is of the draft's text, also of what the JSON editor did.
    await page.keyboard.press("Control+z")
    assert.strictEqual(await field(page, "w required").inputValue(), "0")
    await page.keyboard.press("Control+Shift+z")
    assert.strictEqual(await field(page, "w required").inputValue(), "2.50")
    await page.getByRole("button", { name: "Edit extra, item 1, item 1, item 1 as JSON" }).press("Enter")
    await editor(page).waitFor()
    await page.waitForFunction(() => document.activeElement.classList.contains("json-text"))
    await page.keyboard.press("ArrowRight")
    await page.keyboard.type("2, ")
    await page.getByRole("button", { name: "Form", exact: true }).press("Enter")
    await form.waitFor()
    const text = await draft(page, "t-1")
    assert.deepStrictEqual(JSON.parse(text), {
      title: "Light ☀",
      kind: "desk",
      extra: [[[[2, { n: 1 }]]]],
      tags: ["c", "b"],
      size: { w: 2.5, h: 4 },
      count: null,
      story: "",
      sold: true,
      since: "2025-01-31T12:00:00+01:00"
    })
    assert.include(text, '"w": 2.50')
    await field(page, "title required").focus()
    await page.keyboard.press("Control+Enter")
    await page.locator(".reviewed").first().waitFor()
    await page.locator("#publish").press("Enter")
    await page.locator(".review .banner", { hasText: "Published as commit" }).waitFor()
    assert.deepStrictEqual(await stored("things", "t-1"), JSON.parse(text))
  })

  it("22: the schema of an Effect Schema is told beside the JSON and in the review, which publishes only what was asked for", async () => {
    const Person = Collection.define(
      "people",
      Schema.Struct({ name: Schema.NonEmptyString, age: Schema.Int })
    )
    await the.on.run(the.on.store.collection(Person).writeJsonSchema())
    await lines("people", "p-1", '{"name": "Ada", "age": 36}')
    const { page } = await the.enter({ hash: "#table=people&document=p-1&panel=edit" })
    await page.getByRole("form", { name: "Fields of people/p-1" }).waitFor()
    await page.getByRole("button", { name: "JSON", exact: true }).press("Enter")
    await replace(page, '{"name": "Ada",\n "age": "old"}')
    const told = page.locator(".form-sum")
    await told.waitFor()
    assert.match(await told.innerText(), /1 field does not fit what is expected\.\s+age\s+It must be/)
    await page.locator('[role="status"]', { hasText: "1 field does not fit" }).waitFor({ state: "attached" })
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    await page.getByRole("button", { name: "Review and publish" }).press("Enter")
    await page.locator(".reviewed .form-sum", { hasText: "age" }).waitFor()
    const publish = page.locator("#publish")
    assert.strictEqual((await publish.innerText()).trim(), "Publish anyway")
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    await page.locator(".reviewed .form-sum").getByRole("button", { name: "age" }).press("Enter")
    await editor(page).waitFor()
    // The place of the field is selected in the text.
    await told.getByRole("button", { name: "age" }).press("Enter")
    await page.waitForFunction(() => document.activeElement.classList.contains("json-text"))
    await page.keyboard.press("Shift+End")
    await page.keyboard.insertText("37}")
    await told.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Review and publish" }).press("Enter")
    await publish.and(page.locator(":enabled")).waitFor()
    assert.strictEqual((await publish.innerText()).trim(), "Publish")
    await publish.press("Enter")
    await page.locator(".review .banner", { hasText: "Published as commit" }).waitFor()
    assert.deepStrictEqual(await stored("people", "p-1"), { name: "Ada", age: 37 })
  })

  it("what is typed into a number's field and is no number is not lost without a question", async () => {
    await lines("numbers", "n-1", '{"title": "form", "n": 1}')
    const { page } = await the.enter({ hash: "#table=numbers" })
    await page.locator("#open-n-1").click()
    await page.locator("#edit").click()
    const form = page.getByRole("button", { name: "Form", exact: true })
    await form.click()
    await field(page, "n").fill("1234,5")
    const question = page.getByRole("dialog", { name: "Discard unsaved changes?" })
    for (const way of ["Close the editor", "JSON"]) {
      await page.getByRole("button", { name: way, exact: true }).click()
      await question.waitFor()
      assert.match(await question.innerText(), /1 field without a valid number/)
      for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
      await page.getByRole("button", { name: "Stay" }).click()
      await question.waitFor({ state: "detached" })
      assert.strictEqual(await field(page, "n").inputValue(), "1234,5")
    }
    await page.goBack()
    await question.waitFor()
    await page.getByRole("button", { name: "Leave the form" }).click()
    await page.locator(".editing").waitFor({ state: "detached" })
    assert.strictEqual(await draft(page, "n-1"), "")
    await page.goForward()
    await form.waitFor()
    assert.strictEqual(await field(page, "n").inputValue(), "1")
    await field(page, "n").fill("x")
    await page.getByRole("button", { name: "JSON", exact: true }).click()
    await page.getByRole("button", { name: "Leave the form" }).click()
    await editor(page).waitFor()
    await page.getByRole("button", { name: "Close the editor" }).click()
    await page.locator(".editing").waitFor({ state: "detached" })
  })

  it("what is typed into an item of a list stays with that item when others are removed or moved", async () => {
    await lines("numbers", "n-2", '{"list": [11, 22, 33]}')
    const { page } = await the.enter({ hash: "#table=numbers" })
    await page.locator("#open-n-2").click()
    await page.locator("#edit").click()
    await page.getByRole("button", { name: "Form", exact: true }).click()
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click()
    const items = page.locator(".form-items input")
    const shown = async (wanted: ReadonlyArray<string>) => {
      await page.waitForTimeout(300)
      assert.deepStrictEqual(
        await items.evaluateAll((all: ReadonlyArray<Dom>) => all.map((one) => one.value)),
        [...wanted]
      )
    }
    await items.nth(1).fill("2x")
    await press("Remove item 1 of list")
    await shown(["2x", "33"])
    await press("Move item 1 of list down")
    await shown(["33", "2x"])
    await press("Move item 2 of list up")
    await shown(["2x", "33"])
    await press("Remove item 1 of list")
    await shown(["33"])
    assert.match(await draft(page, "n-2"), /\[\s*33\s*\]/)
  })

  it("what is typed into an item is not shown at another item after an undo or a discard by a button", async () => {
    await lines("numbers", "n-4", '{"list": [11, 22, 33]}')
    const { page } = await the.enter({ hash: "#table=numbers" })
    await page.locator("#open-n-4").click()
    await page.locator("#edit").click()
    await page.getByRole("button", { name: "Form", exact: true }).click()
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click()
    const items = page.locator(".form-items input")
    const values = () => items.evaluateAll((all: ReadonlyArray<Dom>) => all.map((one) => one.value))
    await press("Remove item 1 of list")
    await items.nth(0).fill("2x")
    await press("Undo")
    assert.deepStrictEqual(await values(), ["22", "33"])
    await press("Undo")
    await items.nth(2).waitFor()
    assert.deepStrictEqual(await values(), ["11", "22", "33"])
    await press("Redo")
    await items.nth(2).waitFor({ state: "detached" })
    await items.nth(0).fill("2x")
    await press("Discard the draft")
    await items.nth(2).waitFor()
    assert.deepStrictEqual(await values(), ["11", "22", "33"])
    await items.nth(0).fill("12")
    assert.deepStrictEqual(JSON.parse(await draft(page, "n-4")), { list: [12, 22, 33] })
  })

  it("fields that a script fills in together all keep their values", async () => {
    await lines("numbers", "n-5", '{"first": "a", "second": "b", "third": 1, "fourth": 2}')
    const { page } = await the.enter({ hash: "#table=numbers" })
    await page.locator("#open-n-5").click()
    await page.locator("#edit").click()
    await page.getByRole("button", { name: "Form", exact: true }).click()
    await field(page, "fourth").waitFor()
    const given = { first: "a longer text", second: "another one", third: "12345", fourth: "67890" }
    const ids = await Promise.all(
      Object.keys(given).map((name) => field(page, name).evaluate(({ id }: Dom) => id as string))
    )
    await page.evaluate(
      (all) => {
        for (const [id, value] of all) {
          const control = document.getElementById(id)
          control.value = value
          control.dispatchEvent(new (globalThis as Dom).Event("input", { bubbles: true }))
        }
      },
      Object.values(given).map((value, at) => [ids[at], value])
    )
    assert.deepStrictEqual(JSON.parse(await draft(page, "n-5")), { ...given, third: 12345, fourth: 67890 })
  })

  it("a form does not take the place of the JSON that somebody is typing", async () => {
    await lines("numbers", "n-6", '{"n": 1}')
    const { page } = await the.enter({ hash: "#table=numbers" })
    await page.locator("#open-n-6").click()
    await page.locator("#edit").click()
    await page.getByRole("button", { name: "JSON", exact: true }).click()
    await replace(page, '{"n": }')
    await page.getByRole("button", { name: "Form", exact: true }).click()
    await page.locator(".banner", { hasText: "is not valid JSON" }).waitFor()
    await editor(page).focus()
    await page.keyboard.press("Control+End")
    await page.keyboard.press("ArrowLeft")
    for (const digit of "123") {
      await page.keyboard.type(digit)
      await painted(page)
    }
    assert.deepStrictEqual(JSON.parse(await draft(page, "n-6")), { n: 123 })
    assert.isTrue(await editor(page).isVisible())
    await page.getByRole("button", { name: "Form", exact: true }).click()
    assert.strictEqual(await field(page, "n").inputValue(), "123")
  })

  it("22: objects and lists in a list have fields of their own, by keyboard alone", async () => {
    const part: JsonObject = {
      type: "object",
      required: ["w"],
      properties: { w: { type: "number", minimum: 1 }, tags: { type: "array", items: { type: "string" } } }
    }
    const pair: JsonObject = { type: "array", items: [{ type: "string" }, { type: "number" }] }
    await the.on.run(
      the.on.store.collection("sets").writeJsonSchema({
        schema: { type: "object", properties: { parts: { type: "array", items: part }, pair } }
      })
    )
    await lines("sets", "s-1", '{"parts": [{"w": 2.5, "tags": ["a"]}], "pair": ["x", 1]}')
    const { page } = await the.enter({ hash: "#table=sets&document=s-1&panel=edit" })
    const form = page.getByRole("form", { name: "Fields of sets/s-1" })
    await form.waitFor()
    const item = (name: string) => form.getByRole("group", { name, exact: true })
    const first = item("parts, item 1")
    const second = item("parts, item 2")
    assert.strictEqual(await first.getByLabel("w required").inputValue(), "2.5")
    await first.getByLabel("w required").fill("2.50")

    await form.getByRole("button", { name: "Add to parts", exact: true }).press("Enter")
    await second.waitFor()
    assert.include(await form.innerText(), "1 field does not fit")
    // The focus is in the group that was added.
    assert.isTrue(await second.evaluate((group: Dom) => group.contains(document.activeElement)))
    await second.getByLabel("Type of w").selectOption("value")
    await second.getByLabel("w required").fill("3")
    await second.getByLabel("Type of tags").selectOption("value")
    await second.getByRole("button", { name: "Add to tags", exact: true }).press("Enter")
    await page.keyboard.type("b")
    // An item of an item is moved and removed in its own list.
    await first.getByRole("button", { name: "Add to tags", exact: true }).press("Enter")
    await page.keyboard.type("c")
    await first.getByRole("button", { name: "Move item 2 of tags up", exact: true }).press("Enter")
    await form.getByRole("button", { name: "Move item 1 of parts down", exact: true }).press("Enter")
    assert.strictEqual(
      await focused(page),
      (await page.getByLabel("Move item 2 of parts up").getAttribute("id")) ?? ""
    )
    await field(page, "pair, item 2").fill("1.50")
    const text = await draft(page, "s-1")
    assert.deepStrictEqual(JSON.parse(text), {
      parts: [
        { w: 3, tags: ["b"] },
        { w: 2.5, tags: ["c", "a"] }
      ],
      pair: ["x", 1.5]
    })
    assert.include(text, '"w": 2.50')
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    await page.setViewportSize({ width: 390, height: 844 })
    assert.deepStrictEqual(await axe(page, "light"), [])
    assert.isTrue(
      await page.evaluate(() =>
        [...document.querySelectorAll(".fields *")].every((element: Dom) => {
          const { left, right } = element.getBoundingClientRect()
          return left >= 0 && right <= innerWidth
        })
      ),
      "at 390 pixels"
    )
    await page.setViewportSize({ width: 1360, height: 820 })
    await form.getByRole("button", { name: "Remove item 1 of parts", exact: true }).press("Enter")
    await second.waitFor({ state: "detached" })
    assert.strictEqual(await first.getByLabel("w required").inputValue(), "2.50")
    await page.keyboard.press("Control+z")
    await second.waitFor()
    await page.keyboard.press("Control+Enter")
    await page.locator(".reviewed").first().waitFor()
    await page.locator("#publish").press("Enter")
    await page.locator(".review .banner", { hasText: "Published as commit" }).waitFor()
    assert.deepStrictEqual(await stored("sets", "s-1"), JSON.parse(text))
  })

  it("a text with line breaks keeps them when it is moved to where a text of one line was", async () => {
    await lines("numbers", "n-3", '{"list": ["one", "first\\nsecond"]}')
    const { page } = await the.enter({ hash: "#table=numbers" })
    await page.locator("#open-n-3").click()
    await page.locator("#edit").click()
    await page.getByRole("button", { name: "Form", exact: true }).click()
    await field(page, "list, item 1").focus()
    await page.getByRole("button", { name: "Move item 2 of list up", exact: true }).click()
    await field(page, "list, item 1").press("End")
    await page.keyboard.type("!")
    await field(page, "list, item 2").focus()
    await page.keyboard.press("End")
    await page.keyboard.type("?")
    assert.match(await draft(page, "n-3"), /"first(!\\nsecond|\\nsecond!)",\s*"one\?"/)
  })

  it("a text keeps its line breaks in every field, and pasted ones stay", async () => {
    await the.on.run(
      the.on.store.collection("breaks").writeJsonSchema({
        schema: {
          properties: {
            title: { type: "string" },
            since: { type: "string", format: "date-time" },
            list: { type: "array", items: { type: "string", format: "date-time" } },
            size: { type: "object", properties: { w: { type: "number" } } }
          }
        }
      })
    )
    await lines(
      "breaks",
      "b-1",
      '{"title": "one", "since": "first\\nsecond", "list": ["a\\nb", "c"], "size": {"w": "x\\ny"}, "old": "p\\r\\nq"}'
    )
    const { page } = await the.enter({ hash: "#table=breaks&document=b-1&panel=edit" })
    await page.getByRole("form", { name: "Fields of breaks/b-1" }).waitFor()
    for (const name of ["since", "list, item 1", "w"]) {
      await field(page, name).press("Control+End")
      await page.keyboard.type("!")
    }
    // What is pasted into a line keeps its line breaks, and the control with its focus and its caret.
    for (const name of ["title", "list, item 2"]) {
      await field(page, name).press("Control+End")
      await page.evaluate(() => {
        ;(globalThis as Dom).before = document.activeElement
      })
      await page.evaluate((text) => (globalThis as Dom).navigator.clipboard.writeText(text), " two\nthree")
      await page.keyboard.press("Control+v")
      await page.keyboard.type("!")
      assert.isTrue(await page.evaluate(() => (globalThis as Dom).before === document.activeElement))
    }
    // In one line Enter adds no line; with Shift, and in several lines, it does.
    await field(page, "title").press("Control+End")
    await page.keyboard.press("Enter")
    await page.keyboard.type("four")
    await field(page, "list, item 2").press("Control+a")
    await page.keyboard.type("c")
    await page.keyboard.press("Enter")
    await page.keyboard.type("d")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("e")
    const text = await draft(page, "b-1")
    assert.deepStrictEqual(JSON.parse(text), {
      title: "one two\nthree!\nfour",
      since: "first\nsecond!",
      list: ["a\nb!", "cd\ne"],
      size: { w: "x\ny!" },
      old: "p\r\nq"
    })
    assert.include(text, String.raw`"p\r\nq"`)
    await page.getByRole("button", { name: "Edit old as JSON" }).waitFor()
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
  })

  it("22: without a schema the fields are inferred; what no form shows is JSON, and says why", async () => {
    await lines("loose", "a", '{"name": "one", "n": 1, "long": "first\\nsecond"}')
    await lines("loose", "b", '{"name": "two", "when": "2025-01-01T00:00:00Z", "deep": {"list": [{"x": 1}]}}')
    const { page } = await the.enter({ hash: "#table=loose" })
    await page.locator(".table tbody th").first().waitFor()
    await page.locator("#open-a").click()
    await page.locator("#edit").click()
    await editor(page).waitFor()
    await page.getByRole("button", { name: "Form", exact: true }).press("Enter")
    const form = page.getByRole("form", { name: "Fields of loose/a" })
    await form.waitFor()
    assert.include(await form.innerText(), "inferred from 2 documents of the table")
    assert.strictEqual(await page.getByLabel("Type of when").inputValue(), "absent")
    assert.strictEqual(await field(page, "long").inputValue(), "first\nsecond")
    await field(page, "long").press("Control+End")
    await page.keyboard.press("Enter")
    await page.keyboard.type("third")
    assert.deepStrictEqual(JSON.parse(await draft(page, "a")), {
      name: "one",
      n: 1,
      long: "first\nsecond\nthird"
    })

    // As in the JSON editor, with every theme, narrow, and from right to left.
    assert.deepStrictEqual(await axe(page, "light"), [])
    assert.deepStrictEqual(await axe(page, "dark"), [])
    await page.setViewportSize({ width: 390, height: 844 })
    await page.evaluate(() => {
      document.documentElement.dir = "rtl"
    })
    const inside = () =>
      page.evaluate(() =>
        [...document.querySelectorAll(".fields *")].every((element: Dom) => {
          const { left, right } = element.getBoundingClientRect()
          return left >= 0 && right <= innerWidth
        })
      )
    assert.isTrue(await inside(), "from right to left")
    await page.evaluate(() => {
      document.documentElement.dir = ""
    })
    assert.isTrue(await inside(), "at 390 pixels")
    assert.deepStrictEqual(await axe(page, "light"), [])
    await page.setViewportSize({ width: 1360, height: 820 })

    await page.getByRole("button", { name: "JSON", exact: true }).press("Enter")
    await replace(page, '{"a": 1, "a": 2}')
    await page.getByRole("button", { name: "Form", exact: true }).press("Enter")
    await page
      .locator(".banner", { hasText: "has a duplicate key. Fix it to use the form. It is shown as JSON." })
      .waitFor()
    assert.isTrue(await editor(page).isVisible())
    await replace(page, '{"a": 1}')
    await page.getByRole("button", { name: "Form", exact: true }).press("Enter")
    await form.waitFor()
    assert.strictEqual(await field(page, "a").inputValue(), "1")
    // Nothing of another document is lost by that, and a form says where its schema cannot be used.
    await the.on.run(
      Effect.flatMap(
        the.on.store.collection("loose").writeJsonSchema({ schema: { type: "string" } }),
        () => Effect.void
      )
    )
    await page.reload()
    if (the.build === "hosted") await signIn(the.on, page)
    await page.locator(".banner", { hasText: "does not define the fields of a document" }).waitFor()
    assert.isTrue(await editor(page).isVisible())
  })
})
