// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { readFileSync } from "node:fs"
import { Effect, Option } from "effect"
import { parseCsv } from "hucre/csv"
import readExcelFile from "read-excel-file/node"
import { assert, it } from "vitest"
import { buildsInTurn } from "../support/browser/BothBuilds.js"
import { axe, painted, status } from "../support/browser/Chromium.js"
import { product, productId } from "../support/browser/Seed.js"
import { choose, repo, signIn, submit } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const window: Dom
declare const navigator: Dom

buildsInTurn("tables of the console", (the) => {
  it("8, 9: a native table that sorts by buttons and keeps header and first column in view", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    assert.match((await page.locator("table.table caption").textContent()) ?? "", /documents of products/)
    const scopes = await page
      .locator(".table thead th")
      .evaluateAll((cells: Dom) => cells.map((cell: Dom) => cell.scope))
    assert.isTrue(scopes.every((scope: string) => scope === "col"))
    assert.strictEqual(await page.locator(".table tbody th").first().getAttribute("scope"), "row")
    const ids = () => page.locator(".table tbody th").allInnerTexts()
    const price = page.getByRole("button", { name: "price", exact: true })
    await price.click()
    await page.locator('th[aria-sort="ascending"]').waitFor()
    await price.click()
    await page.locator('th[aria-sort="descending"]').waitFor()
    assert.strictEqual(await page.locator("th[aria-sort]").count(), 1)
    await page.locator(".table tbody th", { hasText: productId(200) }).waitFor()
    assert.strictEqual((await ids())[0], productId(200))
    await price.click()
    await page.waitForFunction(() => document.querySelector("th[aria-sort]") === null)

    await choose(page, "wide")
    const region = page.getByRole("region", { name: "Results, scrollable" })
    assert.strictEqual(await region.getAttribute("tabindex"), "0")
    const places = () =>
      page.evaluate(() => {
        const head = [...document.querySelectorAll(".table thead th")].at(-1).getBoundingClientRect()
        const first = document.querySelector(".table tbody th").getBoundingClientRect()
        return { top: head.top, left: first.left }
      })
    const at = await places()
    await region.evaluate((element: Dom) => element.scrollTo(700, 900))
    await painted(page)
    const then = await places()
    assert.closeTo(then.top, at.top, 1)
    assert.closeTo(then.left, at.left, 1)
  })

  it("draws of five hundred columns those in view, and every one can be reached", async () => {
    const fields = Array.from({ length: 500 }, (_, n) => [`field${n + 1}`, `value ${n + 1}`] as const)
    await the.on.run(
      the.on.store.batch({}, (batch) => batch.put("broadest", "b-1", Object.fromEntries(fields)))
    )
    const { page } = await the.enter({ hash: "#table=broadest&rows=whole" })
    const region = page.getByRole("region", { name: "Results, scrollable" })
    await region.getByRole("cell", { name: "value 1", exact: true }).waitFor()
    await page.getByText("The first 100 of 504 columns are shown.").waitFor()
    await page.getByRole("button", { name: "Show all" }).click()
    assert.isBelow(await page.locator(".table thead th").count(), 60)
    await region.evaluate((element: Dom) => element.scrollTo(element.scrollWidth, 0))
    // Names are ordered as texts.
    await region.getByRole("cell", { name: "value 99", exact: true }).waitFor()
    assert.isBelow(await page.locator(".table thead th").count(), 60)
    assert.isTrue(await page.locator(".table tbody th", { hasText: "b-1" }).isVisible())
  })

  it("shows a revision with a suffix, and asks for the icon of the page once", async () => {
    for (const title of ["first", "second"])
      await the.on.run(the.on.store.batch({}, (batch) => batch.put("revised", "r-1", { title })))
    const { page, requests } = await the.enter({ hash: "#table=revised&at=main~1" })
    await page.getByRole("cell", { name: "first", exact: true }).waitFor()
    await page.locator(".results .banner", { hasText: "main~1" }).waitFor()
    for (const table of ["wide", "products", "revised"]) await choose(page, table)
    await page.getByRole("cell", { name: "first", exact: true }).waitFor()
    assert.isAtMost(requests.filter(({ url }) => /icon[^/]*\.svg/.test(url)).length, 1)
  })

  it("sorts by several columns, by mouse and by keyboard, and the address keeps them", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    const price = page.getByRole("button", { name: "price", exact: true })
    const names = () => page.locator(".table thead .sort:has(.sort-place)").allInnerTexts()
    const category = page.getByRole("button", { name: "category", exact: true })
    await category.click()
    await page.locator('th[aria-sort="ascending"]', { hasText: "category" }).waitFor()
    await price.click({ modifiers: ["Shift"] })
    await page.locator(".sort-place").nth(1).waitFor()
    const second = page.getByRole("button", { name: "price 2 ascending" })
    await second.focus()
    await page.keyboard.press("Shift+Enter")
    await page.getByRole("button", { name: "price 2 descending" }).waitFor()
    const order = (await names()).map((name) => name.replace(/\s+/g, " "))
    assert.deepStrictEqual(order, ["category 1", "price 2 descending"])
    assert.strictEqual(await page.locator("th[aria-sort]").count(), 1)
    assert.match(page.url(), /sort=category&sort=-price/)
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    const rows = await page
      .locator(".table tbody tr:not(.spacer)")
      .evaluateAll((all: Dom) =>
        all.map((row: Dom) => [...row.children].map((cell: Dom) => cell.textContent))
      )
    const found = (
      await the.on.run(
        the.on.store.collection("products").query({
          orderBy: ["category", { field: "price", order: "desc" }],
          limit: 10
        })
      )
    ).documents.map(({ _id }) => _id)
    assert.deepStrictEqual(
      rows.slice(0, 10).map(([id]: ReadonlyArray<string>) => id),
      found
    )
    await page.reload()
    if (the.build === "hosted") await signIn(the.on, page)
    await page.getByRole("button", { name: "price 2 descending" }).press("Shift+Enter")
    await page.waitForFunction(() => document.querySelector(".sort-place") === null)
    await category.click()
    await category.click()
    await page.waitForFunction(() => document.querySelector("th[aria-sort]") === null)
  })

  it("columns are made wider, moved and pinned, by mouse and by keyboard, and stay so for the collection", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    const heads = (): Promise<ReadonlyArray<string>> =>
      page.locator(".table thead .sort-name").allInnerTexts()
    const head = (name: string) =>
      page.locator(".table thead th", { has: page.getByText(name, { exact: true }) })
    const width = async (name: string): Promise<number> => {
      const at = (await heads()).indexOf(name)
      return page
        .locator(".table col")
        .nth(at)
        .evaluate((col: Dom) => Number.parseFloat(col.style.width))
    }
    const clean = async () => {
      for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    }
    const before = await heads()
    assert.isAbove(before.length, 5)
    const [, second, third, fourth, last] = [...before.slice(0, 4), before.at(-1)!] as [
      string,
      string,
      string,
      string,
      string
    ]

    // By keyboard.
    await head(fourth).locator(".sort").focus()
    await page.keyboard.press("Control+Shift+ArrowLeft")
    await status(page).getByText(`${fourth} is column 3 of ${before.length}.`).waitFor()
    assert.deepStrictEqual((await heads()).slice(1, 4), [second, fourth, third])
    await page.waitForFunction((name) => document.activeElement.textContent === name, fourth)
    const narrow = await width(fourth)
    await page.keyboard.press("Shift+ArrowRight")
    await page.keyboard.press("Shift+ArrowRight")
    await page.keyboard.press("Shift+ArrowLeft")
    await status(page).getByText("pixels wide").waitFor()
    assert.strictEqual(await width(fourth), narrow + 16)
    await page.keyboard.press("p")
    await status(page).getByText(`${fourth} is pinned`).waitFor()
    assert.deepStrictEqual((await heads()).slice(1, 3), [fourth, second])
    assert.strictEqual(await page.locator("th[aria-sort]").count(), 0, "nothing is sorted by it")

    // By mouse.
    const edge = (await head(second).locator(".edge").boundingBox())!
    const wide = (await head(second).boundingBox())!.width
    await page.mouse.move(edge.x + edge.width / 2, edge.y + 4)
    await page.mouse.down()
    await page.mouse.move(edge.x + 40, edge.y + 4, { steps: 4 })
    await page.mouse.move(edge.x + edge.width / 2 + 80, edge.y + 4)
    await page.mouse.up()
    assert.closeTo(await width(second), wide + 80, 2)
    await head(last).locator(".sort").scrollIntoViewIfNeeded()
    const from = (await head(last).locator(".sort").boundingBox())!
    const to = (await head(third).locator(".sort").boundingBox())!
    await page.mouse.move(from.x + 20, from.y + 10)
    await page.mouse.down()
    await page.mouse.move(to.x + 20, to.y + 10, { steps: 5 })
    await page.mouse.up()
    assert.strictEqual(await page.locator("th[data-to]").count(), 0)
    const after = await heads()
    assert.deepStrictEqual(after.slice(0, 5), ["_id", fourth, second, last, third])
    assert.strictEqual(await page.locator("th[aria-sort]").count(), 0, "nothing is sorted by it")
    await clean()

    await page.setViewportSize({ width: 700, height: 700 })
    await page.locator(".table-scroll").evaluate((region: Dom) => region.scrollTo(600, 0))
    await painted(page)
    const [region, pin] = [
      await page.locator(".table-scroll").boundingBox(),
      await head(fourth).boundingBox()
    ]
    const ids = await head("_id").boundingBox()
    assert.closeTo(pin!.x, ids!.x + ids!.width, 2)
    assert.closeTo(ids!.x, region!.x, 3)
    const cell = await page.locator(".table tbody td.pinned").first().boundingBox()
    assert.closeTo(cell!.x, pin!.x, 2)
    await page.setViewportSize({ width: 1280, height: 900 })

    await page.reload()
    if (the.build === "hosted") await signIn(the.on, page)
    await page.locator(".table tbody th").first().waitFor()
    assert.deepStrictEqual(await heads(), after)
    assert.closeTo(await width(second), wide + 80, 2)
    await choose(page, "wide")
    assert.strictEqual(await page.locator(".table .pinned").count(), 0, "another collection")
    await choose(page, "products")
    await page.locator("#columns").click()
    const pressed = page.getByRole("button", { name: `Pin ${fourth}`, exact: true })
    assert.strictEqual(await pressed.getAttribute("aria-pressed"), "true")
    await clean()
    await pressed.click()
    assert.strictEqual(await page.locator(".table .pinned").count(), 0)
    await page.getByRole("button", { name: "Reset layout" }).click()
    assert.deepStrictEqual(await heads(), before)
  })

  it("a cell and a header offer filters, by keyboard and by pointer", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    const heads = await page.locator(".table thead th").allInnerTexts()
    const cell = page.locator(`#cell-0-${heads.indexOf("price")}`)
    const price = await cell.innerText()
    const dialog = page.getByRole("dialog", { name: "Filter by price" })
    await cell.focus()
    await page.keyboard.press("f")
    await dialog.getByRole("button", { name: `price is not ${price}` }).waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    assert.strictEqual(await page.evaluate(() => document.activeElement.id), await cell.getAttribute("id"))
    await page.keyboard.press("f")
    await dialog.waitFor()
    await page.goBack()
    await dialog.waitFor({ state: "detached" })
    await page.goForward()
    await cell.waitFor()
    await painted(page)
    assert.strictEqual(await dialog.count(), 0, "a dialog that Back has removed")
    await cell.click({ button: "right" })
    await dialog.getByRole("button", { name: `price is ${price}`, exact: true }).click()
    await page.waitForFunction(() => document.activeElement.id === "results-title")
    assert.include(decodeURIComponent(page.url()), `["price","is",${price}]`)
    await page.locator(".query .chip", { hasText: `price is ${price}` }).waitFor({ state: "attached" })
    await page.getByRole("button", { name: "price", exact: true }).focus()
    await page.keyboard.press("f")
    await dialog.getByRole("button", { name: "price is missing" }).focus()
    await page.keyboard.press("Enter")
    await page.getByText("No documents", { exact: true }).waitFor()
    assert.include(decodeURIComponent(page.url()), `["price","missing"]`)
  })

  it("types of columns, readable dates and the density of rows", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    const heads = await page.locator(".table thead th").allInnerTexts()
    const head = (name: string) => page.locator(`#head-${heads.indexOf(name)}`)
    const typeOf = (name: string) =>
      head(name).evaluate(
        (button: Dom) => document.getElementById(button.getAttribute("aria-describedby")).textContent
      )
    assert.deepStrictEqual(await Promise.all(["_rev", "_updated_at", "category", "price"].map(typeOf)), [
      "number",
      "date",
      "text",
      "number"
    ])
    // The type describes the button and does not change its name.
    await page.getByRole("button", { name: "price", exact: true }).waitFor()
    const shown = (name: string) =>
      head(name).evaluate(
        (button: Dom) => window.getComputedStyle(button.querySelector(".sort-type"), "::before").content
      )
    assert.include(await shown("price"), "num")

    const right = await page
      .locator(`#cell-0-${heads.indexOf("price")}`)
      .evaluate((cell: Dom) => window.getComputedStyle(cell).textAlign)
    assert.strictEqual(right, "end")

    const stored = await the.on.run(the.on.store.collection("products").get(productId(1)))
    const exact = String(Option.getOrThrow(stored)["_updated_at"])
    const cell = page.locator(`#cell-0-${heads.indexOf("_updated_at")}`)
    const expected = await page.evaluate(
      (at) => new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "short" }).format(new Date(at)),
      exact
    )
    assert.strictEqual(await cell.innerText(), expected)
    await page.locator(`#cell-0-${heads.indexOf("category")}`).focus()
    await page.keyboard.press("ArrowLeft")
    await page.locator("#cell-full").waitFor()
    assert.strictEqual(await page.locator("#cell-full").innerText(), exact)
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await status(page).getByText("Copied").waitFor()
    assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), exact)
    await page.keyboard.press("Escape")

    const height = () =>
      page
        .locator(".table tbody th")
        .first()
        .evaluate((row: Dom) => row.getBoundingClientRect().height)
    assert.strictEqual(await height(), 38)
    await page.locator("#columns").press("Enter")
    await page.getByLabel("Comfortable").focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Escape")
    await page.waitForFunction(
      () => document.querySelector(".table tbody th").getBoundingClientRect().height === 28
    )
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    // The last row is where the scroll area ends: the rows that are not drawn have the new height.
    const region = page.getByRole("region", { name: "Results, scrollable" })
    await region.evaluate((element: Dom) => element.scrollTo(0, element.scrollHeight))
    await page.locator(".table tbody th", { hasText: productId(50) }).waitFor()
    assert.isAtMost(await region.evaluate((element: Dom) => element.scrollHeight), 38 + 50 * 28 + 20)
    await page.reload()
    if (the.build === "hosted") await signIn(the.on, page)
    await page.locator(".table.compact tbody th").first().waitFor()
  })

  it("10: identity first, long values clipped, whole on hover and on focus, and copied", async () => {
    const { page } = await the.visit()
    await page.clock.install()
    await submit(the.on, page)
    await page.locator(".bench").waitFor()
    await page.getByLabel("Whole documents").check()
    await page.locator("#query-table").selectOption("products")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.locator(".table tbody th").first().waitFor()
    const heads = await page.locator(".table thead th").allInnerTexts()
    assert.deepStrictEqual(heads.slice(0, 3), ["_id", "_rev", "_updated_at"])
    const column = heads.indexOf("description")
    const cell = page.locator(`#cell-0-${column}`)
    const long = String(product(1)["description"])
    await cell.scrollIntoViewIfNeeded()
    assert.isTrue(await cell.evaluate((element: Dom) => element.scrollWidth > element.clientWidth))
    await painted(page)
    await cell.hover()
    assert.strictEqual(await page.locator("#cell-full").innerText(), long)
    await page.locator(".tip").hover()
    await page.clock.fastForward(2000)
    await painted(page)
    assert.isTrue(await page.locator(".tip").isVisible())
    await page.mouse.move(5, 5)
    await page.clock.fastForward(2000)
    await page.locator(".tip").waitFor({ state: "detached" })
    await cell.focus()
    await page.locator("#cell-full").waitFor()
    assert.strictEqual(await cell.getAttribute("aria-describedby"), "cell-full")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await status(page).getByText("Copied").waitFor()
    assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), long)
    await page.keyboard.press("Escape")
    assert.strictEqual(await page.locator(".tip").count(), 0)
    await page.locator(".table-scroll").evaluate((element: Dom) => element.scrollTo(0, 0))
    const reach = (row: number, at: number) =>
      page.waitForFunction((id: string) => document.activeElement.id === id, `cell-${row}-${at}`)
    // Down to a row that comes into view with the focus alone.
    for (let row = 1; row < 16; row++) {
      await page.keyboard.press("ArrowDown")
      await reach(row, column)
    }
    assert.isAbove(await page.locator(".table-scroll").evaluate((element: Dom) => element.scrollTop), 0)
    await page.clock.fastForward(2000)
    await painted(page)
    assert.include(await page.locator("#cell-full").innerText(), "made by hand")
    const beside = await page.locator(`#cell-15-${column}`).evaluate((element: Dom) => {
      const [cell, tip] = [element, document.querySelector(".tip")].map((one: Dom) =>
        one.getBoundingClientRect()
      )
      return Math.min(Math.abs(tip.top - cell.bottom), Math.abs(cell.top - tip.bottom))
    })
    assert.isBelow(beside, 8, "the text lies beside its cell after a scroll, too")
    await page.keyboard.press("ArrowLeft")
    await reach(15, column - 1)
    await page.locator(".tip").waitFor({ state: "detached" })
    assert.isUndefined(
      (await page.locator(`#cell-15-${column - 1}`).getAttribute("aria-describedby")) ?? undefined
    )
    const whole = await page.locator(`#cell-15-${column - 1}`).innerText()
    await page.keyboard.press("Enter")
    await page.waitForFunction(
      (text: string) => navigator.clipboard.readText().then((now: string) => now === text),
      whole
    )
    await page.locator(`#cell-15-${column - 1}`).hover()
    await painted(page)
    assert.strictEqual(await page.locator(".tip").count(), 0, "a value that is whole has no tip")
  })

  const name =
    "fields of any name can be sorted by, ids of any length be read, and no number is taken for exact"
  it.skipIf(the.build === "hosted")(name, async () => {
    const id = "i".repeat(128)
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, i]))
    await the.on.run(
      the.on.store.batch({}, (batch) =>
        Effect.forEach(
          [
            [id, { "": 2, "-a": 1, amount: { in: { cents: 10 } }, big: 2 ** 60 }],
            ["b", { "": 1, "-a": 2, amount: { in: { cents: 9 } }, big: 5, ...many }]
          ] as const,
          ([name, document]) => batch.put("odd", name, document)
        )
      )
    )
    const { page } = await the.enter({ hash: "#table=odd&sort=no-such-field" })
    const ids = () => page.locator(".table tbody th").allInnerTexts()
    await page.locator(".table tbody th").nth(1).waitFor()
    const [, first] = await ids()
    for (const [name, down] of [
      ["", "b"],
      ["amount.in.cents", "b"],
      ["-a", first]
    ] as const) {
      await page.locator(".sort", { hasText: new RegExp(`^${name}$`) }).click()
      await page.locator('[aria-sort="ascending"]').waitFor()
      assert.strictEqual((await ids())[0], down, name)
    }
    await page.goBack()
    await page.waitForFunction(
      (text: string) => document.querySelector(".table tbody th").innerText === text,
      "b"
    )
    await page.locator(`#open-${id}`).focus()
    assert.strictEqual(await page.locator("#cell-full").innerText(), id)
    assert.match(await page.locator("td", { hasText: "≈" }).innerText(), /^≈ 1152921504606847000$/)
    await page.getByText(/^The first 100 of 30\d columns are shown/).waitFor()
    const table = page.locator(".table")
    assert.strictEqual(await table.getAttribute("aria-colcount"), "100")
    await page.getByRole("button", { name: "Show all" }).click()
    await page.waitForFunction(() => Number(document.querySelector(".table").ariaColCount) > 300)
    assert.include(page.url(), "columns=all")
    assert.isBelow(
      await page.locator(".table thead th").count(),
      40,
      "columns are drawn as they come into view"
    )
    const last = Number(await table.getAttribute("aria-colcount")) - 1
    await page.locator("#cell-0-1").focus()
    await page.keyboard.press("End")
    await page.waitForFunction((id: string) => document.activeElement.id === id, `cell-0-${last}`)
    assert.strictEqual(await page.locator(`#cell-0-${last}`).getAttribute("aria-colindex"), String(last + 1))
    const [head, cell, fixed]: Dom = await page.evaluate((id: string) => {
      const at = document.getElementById(id)
      const region = document.querySelector(".table-scroll").getBoundingClientRect()
      return [
        document.querySelector(".table thead tr").lastElementChild.getBoundingClientRect().left,
        at.getBoundingClientRect().left,
        document.querySelector(".table tbody th").getBoundingClientRect().left - region.left
      ]
    }, `cell-0-${last}`)
    assert.closeTo(cell, head, 1, "the last cell lies below its header")
    assert.closeTo(fixed, 1, 1, "the first column stays in view")
    await page.keyboard.press("Home")
    await page.waitForFunction(() => document.activeElement.id === "cell-0-1")
  })

  it("24: copies and files hold exactly the rows and columns shown", async () => {
    const { page } = await the.enter()
    await page.getByLabel("Whole documents").check()
    await page.locator("#query-table").selectOption("hostile")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.locator(".table tbody th").first().waitFor()
    await page.locator("#columns").click()
    await page.getByRole("button", { name: "Only _id" }).click()
    await page.getByRole("checkbox", { name: "title", exact: true }).check()
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "_id", exact: true }).click()
    await page.getByRole("button", { name: "_id", exact: true }).click()
    await page.locator('th[aria-sort="descending"]').waitFor()
    const shown = await page.locator(".table tbody tr:not(.spacer) th").allInnerTexts()
    const saved = async (name: string) => {
      await page.locator("#export").click()
      const download = page.waitForEvent("download")
      await page.getByRole("button", { name, exact: true }).click()
      const file = await download
      return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) }
    }
    const json = await saved("Save as JSON")
    assert.strictEqual(json.name, "hostile.json")
    const rows = JSON.parse(json.bytes.toString()) as ReadonlyArray<Record<string, string>>
    assert.deepStrictEqual(
      rows.map((row) => row["_id"]),
      shown
    )
    assert.isTrue(rows.every((row) => Object.keys(row).every((key) => key === "_id" || key === "title")))
    const csv = parseCsv((await saved("Save as CSV")).bytes.toString())
    assert.deepStrictEqual(csv[0], ["_id", "title"])
    assert.deepStrictEqual(
      csv.slice(1).map((row) => row[0]),
      shown
    )
    const formula = csv.find((row) => row[0] === "formula")
    assert.strictEqual(formula?.[1], '\'=HYPERLINK("http://example.invalid")')
    const [sheet] = await readExcelFile((await saved("Save as xlsx")).bytes)
    assert.deepStrictEqual(
      sheet?.data.map((row) => row[0]),
      ["_id", ...shown]
    )
    // The reader takes a formula for its result, of which there is none: what it finds is text.
    const cell = sheet?.data.find((row) => row[0] === "formula")?.[1]
    assert.strictEqual(cell, '=HYPERLINK("http://example.invalid")')
    const lines = (await saved("Save as NDJSON")).bytes.toString().trimEnd().split("\n")
    assert.deepStrictEqual(
      lines.map((line) => JSON.parse(line)._id),
      shown
    )
    await page.locator("#export").click()
    await page.getByRole("button", { name: "Copy as Markdown" }).click()
    await status(page).getByText("Copied 6 rows as Markdown").waitFor()
    const markdown = String(await page.evaluate("navigator.clipboard.readText()"))
    assert.strictEqual(markdown.trimEnd().split("\n").length, 8)
    assert.notInclude(markdown, "<script")
    await page.locator("#export").click()
    await page.getByRole("button", { name: "Copy as JSON", exact: true }).click()
    await status(page).getByText("as JSON").waitFor()
    assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), json.bytes.toString())
  })

  it("everything that matches is loaded and exported, and not only the first rows", async () => {
    const { page } = await the.enter({ hash: '#table=products&where=["category","is","tools"]&limit=20' })
    await page.locator(".results-count", { hasText: /^20/ }).waitFor()
    await page.locator("#export").click()
    await page.getByRole("button", { name: "Load them all first" }).click()
    await page.locator(".results-count", { hasText: /^50$/ }).waitFor()
    await status(page)
      .getByText(/^50 documents from products/)
      .waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Load everything that matches" }).count(), 0)
    await page.locator("#export").click()
    await page.getByRole("button", { name: "Copy as CSV" }).click()
    await status(page).getByText("Copied 50 rows as CSV").waitFor()
    const copied = parseCsv(String(await page.evaluate("navigator.clipboard.readText()")))
    const ids = copied.slice(1).map(([id]) => id)
    const tools = Array.from({ length: 200 }, (_, n) => n + 1).filter(
      (n) => product(n)["category"] === "tools"
    )
    assert.sameMembers(ids, tools.map(productId))
  })

  it("16: the address holds the place, Back and Forward work", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.getByLabel("Field of filter 1").fill("category")
    await page.getByLabel("Value of filter 1").fill("tools")
    await page.keyboard.press("Enter")
    await page.waitForFunction(() => window.location.hash.includes("where"))
    await page.locator(".table tbody th", { hasText: productId(4) }).waitFor()
    await page.getByRole("button", { name: "price", exact: true }).click()
    await page.locator("#columns").click()
    await page.getByRole("checkbox", { name: "name", exact: true }).uncheck()
    await page.keyboard.press("Escape")
    await page.locator(`#open-${productId(4)}`).click()
    await page.locator(".panel .cm-line").first().waitFor()
    const address = page.url()
    const params = new URLSearchParams(new URL(address).hash.slice(1))
    assert.strictEqual(params.get("repo"), repo)
    assert.strictEqual(params.get("branch"), "main")
    assert.strictEqual(params.get("root"), "data")
    assert.strictEqual(params.get("table"), "products")
    assert.strictEqual(params.get("where"), '["category","is","tools"]')
    assert.strictEqual(params.get("sort"), "price")
    assert.notInclude(params.get("columns") ?? "", '"name"')
    assert.strictEqual(params.get("document"), productId(4))
    assert.notInclude(address, the.on.token)
    await page.goBack()
    await page.locator(".panel").waitFor({ state: "detached" })
    await page.goBack()
    await page.getByRole("button", { name: "name", exact: true }).waitFor()
    await page.goBack()
    await page.waitForFunction(() => document.querySelector("th[aria-sort]") === null)
    await page.goBack()
    await page.waitForFunction(() => document.querySelector("[data-first]").value === "")
    for (let i = 0; i < 4; i++) await page.goForward()
    await page.locator(".panel .cm-line").first().waitFor()
    assert.strictEqual(page.url(), address)
    assert.strictEqual(await page.getByLabel("Field of filter 1").inputValue(), "category")

    const other = await the.enter({ hash: new URL(address).hash })
    await other.page.locator(".panel .cm-line").first().waitFor()
    assert.strictEqual(other.page.url(), address)
  })
})
