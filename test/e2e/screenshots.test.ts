import { Effect } from "effect"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { JsonObject } from "../../src/domain/json/Json.js"
import { executable, launchWith, open, painted } from "../support/browser/Chromium.js"
import { comparePictures } from "../support/browser/ComparePictures.js"
import { replace } from "../support/browser/Editor.js"
import {
  pictured,
  rendererOf,
  type Screenshots,
  screenshot,
  screenshots
} from "../support/browser/Screenshots.js"
import { productId } from "../support/browser/Seed.js"
import { type Entry, type Stage, showFirstChanges, stage, submit } from "../support/browser/Stage.js"
import { at } from "../support/SetClock.js"

// What runs in the page sees a DOM; this file does not.
declare const document: any

const comparisons = ["fine", "coarse"] as const

const day = (number: number) => new Date(Date.UTC(2026, 10, number, 9))

const schema: JsonObject = {
  type: "object",
  required: ["title"],
  properties: {
    title: { type: "string", minLength: 2, description: "What people see first." },
    kind: { enum: ["lamp", "chair", "table"] },
    price: { type: "number", minimum: 0 },
    sold: { type: "boolean" },
    since: { type: "string", format: "date" },
    tags: { type: "array", items: { type: "string" } },
    size: { type: "object", properties: { width: { type: "number" }, height: { type: "number" } } }
  }
}

const thing: JsonObject = {
  title: "Lamp of oak",
  kind: "lamp",
  price: 10.5,
  sold: false,
  since: "2026-10-31",
  tags: ["wood", "light"],
  size: { width: 30, height: 45 }
}

describe.skipIf(executable === undefined)("the views look as they did", () => {
  let on: Stage
  let pictures: Screenshots

  beforeAll(async () => {
    on = await stage("local", { at: day(2) })
    pictures = await screenshots(on.browser, on.url)
    const products = on.store.collection("products")
    const things = on.store.collection("things")
    await onDay(3, things.insert(thing, { id: "t-1" }))
    await onDay(3, things.writeJsonSchema({ schema }))
    await onDay(4, products.update(productId(7), { price: 70 }, { message: "raise a price" }))
    await onDay(
      4,
      on.store.propose({ title: "Cheaper chairs", body: "They sell badly\nat this price." }, (draft) =>
        Effect.zipRight(
          draft.collection("things").update("t-1", { price: 9 }),
          draft.collection("things").insert({ ...thing, title: "Chair" }, { id: "t-2" })
        )
      )
    )
    await onDay(4, on.store.createBranch("draft"))
    const draft = on.store.onBranch("draft")
    await onDay(5, draft.collection("products").update(productId(3), { price: 3, note: "on a branch" }))
    await onDay(5, draft.collection("articles").insert({ title: "Only there" }, { id: "a-there" }))
  })
  afterAll(() => on?.close())

  const onDay = <A, E>(number: number, effect: Effect.Effect<A, E>) => on.run(at(day(number))(effect))

  const show = (view: string, prepare: () => Promise<Page>) =>
    it(`${view}`, async () => {
      const page = await prepare()
      const differences = await pictures.compare(page, view)
      await page.context().close()
      assert.deepStrictEqual(differences, [])
    })

  const visit = async (by = on) => {
    const { page } = await open(by.browser, pictured)
    await page.clock.setFixedTime(day(6))
    return page
  }

  const enter = async (hash = "", entry: Entry = {}, by = on) => {
    const page = await visit(by)
    await submit(by, page, { ...entry, hash })
    await page.locator(".bench").waitFor()
    return page
  }

  const table = async (hash: string) => {
    const page = await enter(hash)
    await page.locator(".table tbody th").first().waitFor()
    return page
  }

  show("sign-in", async () => {
    const page = await visit()
    await page.goto(on.url)
    await page.locator("form").waitFor()
    return page
  })

  show("sign-in-refused", async () => {
    const page = await visit()
    await submit(on, page, { api: "Limited", repo: "stub/no-permission", token: "a-token" })
    await page.getByRole("heading", { name: "The token lacks a permission" }).waitFor()
    return page
  })

  show("home", async () => {
    const page = await enter()
    await page.locator('.home[aria-busy="false"]').waitFor()
    await page.getByText("No problems found").waitFor()
    return page
  })

  show("no-collections", async () => {
    const page = await visit()
    await page.goto(`${on.url}#root=elsewhere`)
    await page.getByLabel("Data root").fill("elsewhere")
    await submit(on, page, { hash: "#root=elsewhere" })
    await page.getByRole("heading", { name: "No collections" }).waitFor()
    return page
  })

  show("table", () => table("#table=products"))

  show("find", async () => {
    const page = await table(
      '#table=products&where=["category","is","garden"]&where=["price","lessThan",200]&sort=-price'
    )
    await page.locator(".source").click()
    await page
      .getByRole("region", { name: /^from the / })
      .getByText(/^Read: /)
      .waitFor()
    return page
  })

  show("create-index", async () => {
    const page = await table('#table=things&where=["price","lessThan",20]&sort=title')
    await page.locator(".source").click()
    await page.getByRole("button", { name: "Create an index" }).click()
    await page.getByRole("dialog", { name: "Create an index" }).waitFor()
    return page
  })

  show("columns", async () => {
    const page = await table("#table=things")
    await page.getByRole("button", { name: "Columns" }).click()
    await page.getByText("Columns shown").waitFor()
    return page
  })

  show("export", async () => {
    const page = await table("#table=things")
    await page.getByRole("button", { name: "Export" }).click()
    await page.getByRole("button", { name: "Save as csv" }).waitFor()
    return page
  })

  const imported = async () => {
    const page = await table("#table=things")
    await page.locator("#import").click()
    const buffer = Buffer.from("_id,title,price\nt-1,Lamp of ash,12\nt-3,Bench,80\n")
    await page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name: "things.csv", mimeType: "text/csv", buffer })
    await page.getByRole("combobox", { name: "Id field" }).waitFor()
    return page
  }

  show("import", imported)

  show("import-preview", async () => {
    const page = await imported()
    await page.getByRole("button", { name: "Preview changes" }).click()
    await page.locator(".import-preview summary").first().click()
    await page.locator(".import-preview .diff").first().waitFor()
    return page
  })

  show("bulk-change", async () => {
    const page = await table("#table=products")
    for (const n of [1, 2, 3]) await page.getByRole("checkbox", { name: `Select ${productId(n)}` }).check()
    await page.getByRole("button", { name: "Change or delete" }).click()
    await page.getByRole("radio", { name: "Remove a field" }).check()
    return page
  })

  show("no-documents", async () => {
    const page = await enter('#table=products&where=["category","is","nothing"]')
    await page.getByRole("heading", { name: "No documents" }).waitFor()
    return page
  })

  show("document", async () => {
    const page = await table(`#table=products&document=${productId(2)}`)
    await page.locator(".panel .cm-line").first().waitFor()
    return page
  })

  show("history", async () => {
    const page = await table(`#table=products&document=${productId(2)}&panel=history`)
    await page.locator(".timeline li").nth(2).waitFor()
    await showFirstChanges(page)
    return page
  })

  show("restore", async () => {
    const page = await table(`#table=products&document=${productId(2)}`)
    await page.locator(".panel .cm-line").first().waitFor()
    await page.getByRole("button", { name: "History", exact: true }).click()
    await page.locator(".timeline li").nth(2).waitFor()
    await page.locator("[id^=restore-]").last().click()
    await page.locator("dialog[open] .diff").waitFor()
    return page
  })

  show("form", async () => {
    const page = await table("#table=things&document=t-1&panel=edit")
    await page.getByRole("form", { name: "Fields of things/t-1" }).waitFor()
    return page
  })

  const edited = async () => {
    const page = await table("#table=things&document=t-1&panel=edit")
    await page.getByRole("button", { name: "JSON", exact: true }).click()
    await page.locator(".editing .cm-content").waitFor()
    await replace(page, JSON.stringify({ ...thing, price: 12, sold: true, note: "new" }, null, 2))
    await page.locator(".json-path", { hasText: "saved as a draft" }).waitFor()
    return page
  }

  show("json", edited)

  show("review", async () => {
    const page = await edited()
    await page.getByRole("button", { name: "Review and publish" }).click()
    await page.locator(".reviewed .diff, .reviewed table").first().waitFor()
    return page
  })

  show("timeline", async () => {
    const page = await table("#table=products&panel=timeline")
    await page.locator(".timeline li").nth(3).waitFor()
    await showFirstChanges(page)
    return page
  })

  show("branches", async () => {
    const page = await table("#table=products&panel=branches")
    await page.getByRole("button", { name: "Compare draft with main" }).click()
    await page.locator(".changes li", { hasText: "articles/a-there" }).waitFor()
    await page.locator(".changes .badge.changed").first().waitFor()
    return page
  })

  show("merge", async () => {
    for (const [branch, title] of [
      ["main", "On oak"],
      ["draft", "On ash"]
    ] as const)
      await onDay(5, on.store.onBranch(branch).collection("articles").update("a-2", { title }))
    const page = await table("#table=products&panel=branches")
    await page.getByRole("button", { name: "Merge draft into main" }).click()
    await page.locator("dialog .conflict").waitFor()
    return page
  })

  show("proposals", async () => {
    const page = await table("#table=things&panel=proposals")
    await page.getByRole("button", { name: "Changes in Cheaper chairs" }).click()
    await page.locator(".changes li", { hasText: "things/t-2" }).waitFor()
    return page
  })

  show("palette", async () => {
    const page = await table("#table=products")
    await page.keyboard.press("Control+k")
    await page.locator(".palette input").waitFor()
    return page
  })

  show("revert", async () => {
    const page = await table("#table=products&panel=timeline")
    await page.locator(".timeline li", { hasText: "raise a price" }).locator("[id^=revert-]").click()
    await page.locator("dialog[open] .diff").waitFor()
    return page
  })

  show("sign-out", async () => {
    const page = await edited()
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByRole("dialog", { name: "Keep the drafts in this browser?" }).waitFor()
    return page
  })

  show("conflict", async () => {
    const page = await table(`#table=products&document=${productId(9)}&panel=edit`)
    await page.locator(".editing .cm-content").waitFor()
    await replace(page, JSON.stringify({ title: "Mine", price: 9, tags: ["mine"] }, null, 2))
    await page.locator(".json-path", { hasText: "saved as a draft" }).waitFor()
    const products = on.store.collection("products")
    await onDay(5, products.update(productId(9), { title: "Theirs", price: 8, tags: ["theirs"] }))
    await page.getByRole("button", { name: "Review and publish" }).click()
    await page.locator(".conflict tbody tr").first().waitFor()
    return page
  })

  show("cost", async () => {
    await on.run(
      on.hostStore.batch({}, (batch) =>
        Effect.forEach(Array.from({ length: 230 }), (_, i) => batch.put("crowd", `m-${i}`, { i, even: true }))
      )
    )
    const page = await visit()
    await submit(on, page, { api: "Limited", token: on.hostToken })
    await page.locator('.home[aria-busy="false"]').waitFor()
    await page.locator("#query-table").selectOption("crowd")
    await page.getByLabel("Field of filter 1").fill("even")
    await page.getByLabel("Value of filter 1").fill("true")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "This query needs up to 230 requests" }).waitFor()
    return page
  })

  const playground = async (example: string) => {
    const page = await visit()
    await page.goto(on.playground)
    await page.getByRole("button", { name: "Run", exact: true }).waitFor()
    await page.getByRole("button", { name: "Examples" }).click()
    await page.getByRole("button", { name: example, exact: true }).click()
    return page
  }

  show("playground", async () => {
    const page = await playground("A branch and a fragment")
    await page.locator(".chart-step.fragment.matched").waitFor()
    return page
  })

  show("playground-cases", async () => {
    const page = await playground("A branch and a fragment")
    await page.locator(".chart-step.fragment.matched").waitFor()
    await page.getByLabel("Many requests").check({ force: true })
    await page.locator(".case-summary").waitFor()
    return page
  })

  show("docs", async () => {
    const page = await visit()
    await page.goto(`${on.url}docs`)
    await page.waitForSelector("main[aria-busy=false]")
    return page
  })

  describe("the hosted build", () => {
    let hosted: Stage
    beforeAll(async () => {
      hosted = await stage("hosted", { at: day(2) })
    })
    afterAll(() => hosted?.close())

    show("hosted-sign-in", async () => {
      const page = await visit(hosted)
      await page.goto(hosted.url)
      await page.locator("form").waitFor()
      return page
    })

    show("hosted-home", async () => {
      const page = await enter("", {}, hosted)
      await page.locator('.home[aria-busy="false"]').waitFor()
      return page
    })

    show("hosted-table", async () => {
      const page = await enter("#table=products", {}, hosted)
      await page.locator(`#open-${productId(2)}`).click()
      await page.locator(".panel .cm-line").first().waitFor()
      return page
    })
  })

  describe("the comparison", () => {
    const shown = async (browser = on.browser) => {
      const { page } = await open(browser, pictured)
      await page.clock.setFixedTime(day(6))
      await submit(on, page, { hash: `#table=products&document=${productId(2)}` })
      await page.locator(".panel .cm-line").first().waitFor()
      await page.mouse.move(0, 0)
      await painted(page)
      return page
    }

    it("finds a changed colour, a missing column and a shifted panel, by fine and by coarse cells", async () => {
      const page = await shown()
      const encoder = await on.browser.newPage()
      const found = async (before: Buffer) => {
        await painted(page)
        const after = await screenshot(page, encoder)
        return Promise.all(
          comparisons.map(async (each) => (await comparePictures(encoder, before, after, each)) !== undefined)
        )
      }
      const changes: Readonly<Record<string, () => void>> = {
        "a colour": () => document.documentElement.style.setProperty("--accent", "#8a2be2"),
        "a surface": () => document.documentElement.style.setProperty("--paper", "#e4e8f4"),
        "a missing column": () => {
          for (const cell of document.querySelectorAll(".table tr > :nth-child(3)"))
            cell.style.display = "none"
        },
        "a shifted panel": () => {
          document.querySelector(".panel").style.transform = "translateX(10px)"
        }
      }
      const undo = () => {
        for (const element of document.querySelectorAll("html, .panel, .table tr > *")) {
          for (const name of ["--accent", "--paper", "display", "transform"])
            element.style.removeProperty(name)
        }
      }
      for (const [name, change] of Object.entries(changes)) {
        const before = await screenshot(page, encoder)
        assert.deepStrictEqual(await found(before), [false, false], `before ${name}`)
        await page.evaluate(change)
        assert.deepStrictEqual(await found(before), [true, true], name)
        await page.evaluate(undo)
        await painted(page)
      }
      await page.context().close()
    })

    it("of another renderer's picture finds no coarse cell that differs", async () => {
      const other = await launchWith([
        "--disable-font-subpixel-positioning",
        "--font-render-hinting=none",
        "--disable-lcd-text"
      ])
      const encoder = await on.browser.newPage()
      const [one, two] = [await shown(), await shown(other)]
      const [first, second] = [await screenshot(one, encoder), await screenshot(two, encoder)]
      const [id, otherId] = [await rendererOf(on.browser, on.url), await rendererOf(other, on.url)]
      const compared = await Promise.all(
        comparisons.map((each) => comparePictures(encoder, first, second, each))
      )
      await one.context().close()
      await other.close()
      assert.notStrictEqual(id, otherId)
      assert.deepStrictEqual(
        compared.map((each) => each?.different ?? 0).map((count) => count > 0),
        [true, false],
        JSON.stringify(compared.map((each) => [each?.different, each?.box]))
      )
    })
  })
})
