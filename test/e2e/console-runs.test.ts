// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { Effect, Option } from "effect"
import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { axe, focused, painted, status, visible } from "../support/browser/Chromium.js"
import { productId } from "../support/browser/Seed.js"
import { choose } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const window: Dom
declare const location: Dom
declare const MutationObserver: Dom

bothBuilds("runs of the console", (the) => {
  it("5: one polite and one assertive live region, each change told once", async () => {
    const { page } = await the.enter()
    assert.strictEqual(await page.locator('[aria-live="polite"]').count(), 1)
    assert.strictEqual(await page.locator('[aria-live="assertive"]').count(), 1)
    await page.evaluate(() => {
      window.heard = []
      for (const region of document.querySelectorAll("[aria-live]")) {
        new MutationObserver(() => {
          if (region.textContent !== "") window.heard.push(region.textContent)
        }).observe(region, { childList: true, characterData: true, subtree: true })
      }
    })
    await choose(page, "products")
    await page.getByLabel("At commit or tag").fill("no-such-tag")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.locator(".problem").waitFor()
    const heard = (await page.evaluate(() => window.heard)) as ReadonlyArray<string>
    assert.lengthOf(heard, 2, heard.join("\n"))
    assert.match(heard[0]!, /^50 documents of 200 from products/)
    assert.match(heard[1]!, /no-such-tag/)
  })

  it("6: a button is shut and busy while its request runs; a double click sends one", async () => {
    const { page, requests } = await the.enter()
    await choose(page, "products")
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let ask = () => {}
    const asked = new Promise<void>((resolve) => {
      ask = resolve
    })
    await page.route(
      (url) => the.on.isData(url.href),
      async (route) => {
        ask()
        await held
        await route.continue()
      }
    )
    const before = requests.filter(the.on.isQuestion).length
    const run = page.getByRole("button", { name: "Run", exact: true })
    await page.evaluate(() => {
      const button = document.querySelector(".query .primary")
      button.click()
      button.click()
    })
    await page.waitForFunction(() => document.querySelector(".query .primary").disabled)
    assert.strictEqual(await run.getAttribute("aria-busy"), "true")
    assert.isTrue(await page.locator(".collection").first().isDisabled())
    await asked
    await painted(page)
    const running = requests.filter(the.on.isQuestion).length - before
    assert.isAtMost(running, the.build === "local" ? 1 : 2)
    assert.isAtLeast(running, 1)
    release()
    await page.waitForFunction(() => !document.querySelector(".query .primary").disabled)
    assert.strictEqual(await run.getAttribute("aria-busy"), "false")
  })

  it("7: a run can be cancelled, and a late answer overwrites nothing", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    const slow: Array<() => void> = []
    const late: Array<Promise<void>> = []
    let holding = true
    let bothHeld = () => {}
    const twoHeld = new Promise<void>((resolve) => {
      bothHeld = resolve
    })
    await page.route(
      ({ href }) => the.on.isQuestion({ method: "GET", url: href }),
      async (route) => {
        if (!holding) return route.continue()
        await new Promise<void>((resolve) => {
          slow.push(resolve)
          if (slow.length === 2) bothHeld()
        })
        const answered = route.continue().catch(() => undefined)
        late.push(answered)
        await answered
      }
    )
    const table = page.locator("#query-table")
    await table.selectOption("hostile")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("button", { name: "Cancel" }).waitFor()
    assert.strictEqual(await page.locator(".table").count(), 0, "no rows of another collection")
    await page.keyboard.press("Escape")
    await page.getByText("Cancelled.").waitFor()
    await page.getByRole("heading", { name: "No query yet" }).waitFor()
    assert.isTrue(await page.getByRole("button", { name: "Run", exact: true }).isEnabled())

    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("button", { name: "Cancel" }).waitFor()
    await twoHeld
    holding = false
    await page.goBack()
    await page.locator(".table tbody th", { hasText: productId(1) }).waitFor()
    for (const resume of slow) resume()
    await Promise.all(late)
    await painted(page)
    assert.isTrue(await page.locator(".table tbody th", { hasText: productId(1) }).isVisible())
    assert.include(await page.locator("#results-title").innerText(), "products")
  })

  it("11: an empty result says so, names the filter and offers to clear it", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.getByLabel("Field of filter 1").fill("size.width")
    await page.getByLabel("Comparison of filter 1").selectOption("greaterThan")
    await page.getByLabel("Value of filter 1").fill("4000")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "No documents" }).waitFor()
    assert.include(await page.locator(".empty").innerText(), "size.width greater than 4000")
    assert.isTrue(await page.locator(".sort").first().isEnabled())
    await status(page).getByText("No documents in products match").waitFor()
    await page.getByRole("button", { name: "Clear the filter" }).click()
    await page.locator(".table tbody th").first().waitFor()
  })

  it("rows and refusals are of the filter that stands there, and what goes away hands on the focus", async () => {
    const { page } = await the.enter({
      hash: `#table=products&rows=whole&where=${encodeURIComponent('["category","is","none"]')}`
    })
    await page.getByRole("heading", { name: "No documents" }).waitFor()
    const heading = () => page.waitForFunction(() => document.activeElement.id === "results-title")
    const isData = ({ href }: URL) => the.on.isQuestion({ method: "GET", url: href })
    const slow: Array<() => void> = []
    await page.route(isData, async (route) => {
      await new Promise<void>((resolve) => slow.push(resolve))
      await route.continue().catch(() => undefined)
    })
    await page.getByLabel("Value of filter 1").fill("tools")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Cancel" }).waitFor()
    assert.strictEqual(await page.getByText("Nothing in products matches").count(), 0)
    await page.keyboard.press("Escape")
    await page.getByRole("heading", { name: "No query yet" }).waitFor()
    await page.getByLabel("Value of filter 1").fill("none")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Cancel" }).waitFor()
    const clear = page.getByRole("button", { name: "Clear the filter" })
    await clear.focus()
    await page.unroute(isData)
    for (const resume of slow) resume()
    await page.locator('.results[aria-busy="false"]').waitFor()
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert.isTrue(
      await clear.evaluate((button) => button === document.activeElement),
      "the focus is taken from nobody who went on"
    )
    await clear.press("Enter")
    await page.locator(".table tbody th").first().waitFor()
    await heading()
    await page.goto(`${the.on.url}#table=products&at=main&limit=150`)
    await page.getByRole("button", { name: "Back to now" }).press("Enter")
    await heading()
    assert.include(await page.locator(".results-count").innerText(), "150 of 200")

    await page.route(isData, (route) =>
      route.fulfill({
        status: 403,
        headers: { "access-control-allow-origin": "*" },
        json: { error: "AuthError", message: "Resource not accessible by personal access token" }
      })
    )
    const more = page.getByRole("button", { name: "Load the next 150" })
    await more.press("Enter")
    await page.locator(".results .problem").waitFor()
    assert.include(await page.locator(".results-count").innerText(), "150 of 200", "what was there stays")
    assert.isAbove(await page.locator(".table tbody th").count(), 5)
    await page.unroute(isData)
    await more.press("Enter")
    await page.waitForFunction(() => document.activeElement.matches(".table-scroll"))
    assert.strictEqual(await page.locator(".results-count").innerText(), "200")

    await page.getByLabel("Field of filter 1").fill("")
    await page.getByLabel("Value of filter 1").fill("tools")
    await page.keyboard.press("Enter")
    assert.isTrue(
      await page.getByLabel("Field of filter 1").evaluate((field: Dom) => field.validity.valueMissing)
    )
    assert.notInclude(page.url(), "where")
  })

  it("13: the rate meter shows what is left, warns when it is little, and a 304 takes nothing", async () => {
    the.on.stub.budget.remaining = 4000
    const { page } = await the.enter({ api: "Limited", token: the.on.hostToken })
    const left = () => page.locator("[data-remaining]").getAttribute("data-remaining").then(Number)
    await page.locator("[data-remaining]").waitFor()
    await choose(page, "products")
    await page.waitForFunction(
      (n) => Number(document.querySelector("[data-remaining]").dataset.remaining) === n,
      the.on.stub.budget.remaining
    )
    assert.match(await page.locator(".rate").innerText(), /3,9\d\d \/ 5,000 · resets \d/)
    const first = await left()
    const measured = page.waitForResponse((response) => /\/rate(_limit)?$/.test(response.url()))
    await page.keyboard.press("r")
    await measured
    await painted(page)
    assert.strictEqual(await left(), first)
    assert.strictEqual(the.on.stub.budget.remaining, first)
    the.on.stub.budget.remaining = 300
    await choose(page, "articles")
    await page.locator(".rate.low").waitFor()
    assert.include(await page.locator(".rate").innerText(), "Low")
  })

  it("29: every view stays within its number of requests; with a manifest it is one", async () => {
    const { page, requests } = await the.enter()
    const data = () => requests.filter(the.on.isQuestion).length
    const cost = async (view: () => Promise<unknown>) => {
      await painted(page)
      const before = data()
      await view()
      await painted(page)
      return data() - before
    }
    const hosted = the.build === "hosted"
    await page.locator('.home[aria-busy="false"]').waitFor()
    if (!hosted) await page.getByText("No problems found").waitFor()
    assert.isAtMost(data(), hosted ? 13 : 6, "sign-in and the home page")
    assert.strictEqual(await cost(() => choose(page, "products")), 1, "a view with a manifest")
    assert.isAtMost(
      await cost(async () => {
        await page.locator(`#open-${productId(9)}`).click()
        await page.locator(".cm-line").first().waitFor()
      }),
      hosted ? 2 : 1,
      "a document"
    )
    assert.isAtMost(
      await cost(async () => {
        await page.getByRole("button", { name: "History" }).click()
        await page.locator(".timeline li").first().waitFor()
      }),
      hosted ? 3 : 1,
      "a history"
    )
    await page.getByRole("button", { name: "Close the document" }).click()
    assert.isAtMost(
      await cost(() => choose(page, "articles")),
      hosted ? 15 : 1,
      "12 documents without a manifest"
    )
    assert.isAtMost(
      await cost(async () => {
        await page.getByLabel("Whole documents").check()
        await page.locator("#query-table").selectOption("products")
        await page.getByLabel("Field of filter 1").fill("category")
        await page.getByLabel("Value of filter 1").fill("garden")
        await page.getByLabel("Limit").fill("10")
        await page.keyboard.press("Enter")
        await page.locator(".source.index").waitFor()
      }),
      hosted ? 25 : 1,
      "an indexed filter"
    )
  })

  it("what is cancelled or fails leaves the rows there, and says which question they answer", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    const rows = page.locator(".table tbody th")
    const isData = ({ href }: URL) => the.on.isQuestion({ method: "GET", url: href })
    let holding = true
    await page.route(isData, async (route) => {
      if (!holding) await route.abort().catch(() => undefined)
    })
    await page.getByLabel("Whole documents").check()
    await page.getByLabel("Field of filter 1").fill("size.width")
    await page.getByLabel("Value of filter 1").fill("7")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Cancel" }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByText("These rows are from an earlier query, without a filter").waitFor()
    assert.isTrue(await rows.first().isVisible())
    holding = false
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.locator(".problem").waitFor()
    assert.isTrue(await rows.first().isVisible())
    await page.getByText("These rows are from an earlier query, without a filter").waitFor()
    await page.unroute(isData)
    await page.getByRole("button", { name: "Try again" }).click()
    await page.locator(".problem").waitFor({ state: "detached" })
    assert.strictEqual(await page.getByText("These rows are from an earlier query").count(), 0)
    assert.strictEqual(await rows.count(), 5)
  })

  it("a filter of the address that is not understood is shown, and nothing is asked without it", async () => {
    const where = encodeURIComponent('["price","about",3]')
    const { page, requests } = await the.enter({ hash: `#table=products&where=${where}` })
    await page.getByRole("heading", { name: "This link contains an invalid filter" }).waitFor()
    assert.include(await page.locator(".problem").innerText(), '["price","about",3]')
    await painted(page)
    assert.strictEqual(await page.locator(".table").count(), 0)
    const before = requests.filter(the.on.isQuestion).length
    await page.getByRole("button", { name: "Show all documents" }).click()
    await page.locator(".table tbody th").first().waitFor()
    assert.isAbove(requests.filter(the.on.isQuestion).length, before)
    assert.notInclude(page.url(), "where=")
  })

  it("how the rows were found, and what that has read, is told in words", async () => {
    const { page } = await the.enter({ hash: "#table=products" })
    await page.locator(".source.manifest").click()
    const words = page.getByRole("region", { name: /^from the / })
    await words.getByText("rows were read from the manifest").waitFor()
    assert.match(
      await words.innerText(),
      /rows were read from the manifest[\s\S]* of the manifest and no document\./
    )
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    await page.setViewportSize({ width: 320, height: 700 })
    await painted(page)
    const { width, x } = (await words.boundingBox())!
    assert.isAtLeast(x, 0)
    assert.isAtMost(x + width, 320)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.keyboard.press("Escape")
    await words.waitFor({ state: "detached" })
    assert.strictEqual(await focused(page), "explain")
    await page.evaluate(() => {
      location.hash = '#table=products&where=["category","is","garden"]&limit=4&rows=whole'
    })
    await page.locator(".source.index").click()
    assert.match(
      await words.innerText(),
      /An index was used[\s\S]*Why: [\s\S]*category[\s\S]* and \d+ documents\./
    )
    await page.keyboard.press("Escape")
    await page.evaluate(() => {
      location.hash = "#table=products&limit=4&rows=whole&sort=name"
    })
    await page.locator(".source.scan").click()
    assert.match(
      await words.innerText(),
      /one by one[\s\S]*4 documents\.[\s\S]*Only the loaded rows are sorted/
    )
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Load the next 4" }).click()
    await page.locator(".results-count", { hasText: /^8/ }).waitFor()
    await page.locator(".source.scan").click()
    assert.match(await words.innerText(), /8 documents/)
  })

  it("an index is created where a scan is explained, by keyboard, and the query uses it", async () => {
    const before = await the.on.run(the.on.store.createBranch("indexed"))
    const { page } = await the.enter({
      branch: "indexed",
      hash: `#table=products&rows=whole&where=${encodeURIComponent('["price","is",12.5]')}`
    })
    await page.locator(".source.scan").waitFor()
    await page.keyboard.press("Control+k")
    await page.locator(".palette input").waitFor()
    await page.keyboard.type("create an index")
    await page.keyboard.press("Enter")
    const dialog = page.getByRole("dialog", { name: "Create an index" })
    await dialog.waitFor()
    await painted(page)
    for (const scheme of ["light", "dark"] as const) assert.deepStrictEqual(await axe(page, scheme), [])
    assert.strictEqual(await dialog.getByLabel("Field").inputValue(), "price")
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    assert.strictEqual(await focused(page), "explain")

    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    assert.strictEqual(await focused(page), "Create an index")
    await page.keyboard.press("Enter")
    await dialog.waitFor()
    await dialog.getByRole("button", { name: "Create", exact: true }).focus()
    await page.keyboard.press("Enter")
    await page.locator(".source.index").waitFor()
    await status(page)
      .getByText(/^The index on price is created in commit |from products, read from the index/)
      .waitFor()
    await page.waitForFunction(() => document.activeElement.id === "explain")
    assert.strictEqual(await page.locator(".table tbody th").count(), 1)
    const made = await the.on.run(the.on.store.resolveRef("indexed"))
    assert.notDeepEqual(Option.getOrUndefined(made), before)
    assert.deepStrictEqual(
      await the.on.run(the.on.store.resolveRef("indexed~1")),
      await the.on.run(the.on.store.resolveRef("main"))
    )

    // The reasons why there is none are told in the dialog, and nothing is written.
    for (const [filter, unique, told] of [
      ['["inStock","is",true]', true, /^The index was not created[\s\S]*inStock[\s\S]*have the same value/],
      ['["size.width","is",3]', false, /^The index was not created[\s\S]*needs format 2/]
    ] as const) {
      await page.evaluate((where: string) => {
        location.hash = `#table=products&rows=whole&where=${encodeURIComponent(where)}`
      }, filter)
      await page.locator(".source.scan").click()
      await page.getByRole("button", { name: "Create an index" }).click()
      if (unique) await dialog.getByLabel("No two documents").check()
      await dialog.getByRole("button", { name: "Create", exact: true }).click()
      await dialog.locator(".problem").waitFor()
      assert.match(await dialog.locator(".problem").innerText(), told)
      await page.keyboard.press("Escape")
      await dialog.waitFor({ state: "detached" })
    }
    assert.deepStrictEqual(await the.on.run(the.on.store.resolveRef("indexed")), made)
  })

  it("collections that cannot be read again are told in sight", async () => {
    const { page } = await the.enter({ hash: "#table=products" })
    await page.locator(".table tbody th").first().waitFor()
    await page.route(
      (url) => the.on.isData(url.href),
      (route) => route.abort()
    )
    await page.getByRole("button", { name: "Refresh", exact: true }).click()
    const alert = page.locator("[role=alert]", { hasText: /\w/ })
    await alert.waitFor()
    assert.include(await visible(page), (await alert.innerText()).trim())
  })

  it("Escape closes the panel from wherever the focus is", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.locator(`#open-${productId(1)}`).click()
    await page.locator(".cm-line").first().waitFor()
    await page.locator("#results-title").focus()
    await page.keyboard.press("Escape")
    await page.locator(".panel").waitFor({ state: "detached" })
    await page.waitForFunction((id: string) => document.activeElement.id === id, `open-${productId(1)}`)
  })

  it("Escape closes a menu or the text of a cell, and nothing else, wherever the focus is", async () => {
    const { page } = await the.enter({ hash: "#table=products&rows=whole" })
    await page.locator(`#open-${productId(1)}`).click()
    await page.locator(".cm-line").first().waitFor()
    await page.getByRole("button", { name: "Columns" }).click()
    // A click on plain text takes the focus from the button.
    await page.getByText("Columns shown").click()
    assert.strictEqual(await page.evaluate(() => document.activeElement.tagName), "BODY")
    await page.keyboard.press("Escape")
    await page.locator(".menu-panel").waitFor({ state: "detached" })
    await page.waitForFunction(() => document.activeElement.id === "columns")
    const long = page.locator(".table tbody td", { hasText: "made by hand" }).first()
    await long.scrollIntoViewIfNeeded()
    // The pointer may be on the cell already, where the menu was: then nothing enters it.
    await page.mouse.move(0, 0)
    await painted(page)
    await long.hover()
    await page.locator(".tip").waitFor()
    await page.keyboard.press("Escape")
    await page.locator(".tip").waitFor({ state: "detached" })
    assert.strictEqual(await page.locator(".panel").count(), 1)
    await page.keyboard.press("Escape")
    await page.locator(".panel").waitFor({ state: "detached" })
  })

  it("a question of more than 200 requests is asked once somebody has agreed to its cost", async () => {
    await the.on.run(
      the.on.hostStore.batch({}, (batch) =>
        Effect.forEach(Array.from({ length: 230 }), (_, i) =>
          batch.put("crowd", `m-${i}`, { i, even: i % 2 === 0 })
        )
      )
    )
    the.on.stub.budget.remaining = 4000
    await the.on.run(the.on.hostStore.createBranch("crowded"))
    const { page } = await the.enter({ api: "Limited", token: the.on.hostToken, branch: "crowded" })
    await page.locator('.home[aria-busy="false"]').waitFor()
    await page.locator("#query-table").selectOption("crowd")
    await page.getByLabel("Field of filter 1").fill("even")
    await page.getByLabel("Value of filter 1").fill("true")
    const asked = the.on.stub.counted
    const before = asked()
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "This query needs up to 230 requests" }).waitFor()
    await painted(page)
    assert.isAtMost(asked() - before, 5)
    assert.match(
      await page.locator(".cost").innerText(),
      /3,9\d\d of 5,000 requests are left[\s\S]*index on even/
    )
    await page.getByRole("button", { name: "Create an index" }).click()
    await page.getByText("are read once, which takes up to 230 requests.").waitFor()
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.locator("dialog").waitFor({ state: "detached" })
    assert.isAtMost(asked() - before, 5)
    await page.getByRole("button", { name: "Narrow the filter" }).click()
    await page.waitForFunction(() => document.activeElement.dataset.first === "true")

    // Documents are read by the hundred: the first step is answered, and the last one is not.
    const held = the.on.stub.hold(125)
    await page.getByRole("button", { name: "Run anyway" }).click()
    await held.reached
    const shown = page.locator(".results-count", { hasText: /^[1-4]0\+$/ })
    await shown.waitFor()
    await page.getByText(/\d+ of up to 230 requests\. Press Esc to stop/).waitFor()
    await page.keyboard.press("Escape")
    await page.getByText("Cancelled.").waitFor()
    assert.isTrue(await shown.isVisible(), "what was read stays")
    held.release()

    the.on.stub.budget.remaining = 505
    const again = asked()
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("heading", { name: "a tenth of the rate limit is reserved" }).waitFor()
    assert.isBelow(asked() - again, 200)
    assert.isTrue(await page.locator(".table tbody th").first().isVisible())
    the.on.stub.budget.remaining = 4000
    await page.getByRole("button", { name: "Try again" }).click()
    await page.locator(".results-count", { hasText: /^50\+$/ }).waitFor()
    await page.locator('.results[aria-busy="false"]').waitFor()
    assert.strictEqual(await page.locator(".banner").count(), 0)
    assert.strictEqual(await page.locator(".cost, .results .problem").count(), 0)

    // The first page takes few requests, and all that matches takes more than two hundred.
    await page.getByLabel("Field of filter 1").fill("")
    await page.getByLabel("Value of filter 1").fill("")
    await page.getByLabel("Limit").fill("20")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.locator(".results-count", { hasText: /^20\+$/ }).waitFor()
    const first = asked()
    await page.getByRole("button", { name: "Load everything that matches" }).click()
    await page.getByRole("heading", { name: "This query needs up to 210 requests" }).waitFor()
    await painted(page)
    assert.isAtMost(asked() - first, 5)
    assert.isTrue(await page.locator(".results-count", { hasText: /^20\+$/ }).isVisible())
    await page.getByRole("button", { name: "Run anyway" }).click()
    await page.locator(".results-count", { hasText: /^230$/ }).waitFor()
    assert.strictEqual(await page.locator(".cost, .results .problem").count(), 0)

    // An index in the place of the question.
    await page.getByLabel("Field of filter 1").fill("i")
    await page.getByLabel("Value of filter 1").fill("7")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("button", { name: "Create an index" }).click()
    await page.getByRole("button", { name: "Create", exact: true }).click()
    await page.locator(".source.index").waitFor()
    await page.waitForFunction(() => document.activeElement.id === "results-title")
    assert.strictEqual(await page.locator(".results-count").innerText(), "1")
    assert.strictEqual(await page.locator(".cost").count(), 0)
  })
})
