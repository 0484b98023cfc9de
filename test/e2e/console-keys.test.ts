// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { contrast, focused, painted, status } from "../support/browser/Chromium.js"
import { productId } from "../support/browser/Seed.js"
import { choose, repo } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const getComputedStyle: Dom
declare const KeyboardEvent: Dom
declare const MutationObserver: Dom

bothBuilds("the console by keyboard", (the) => {
  it("2, 3: the whole task with the keyboard alone, the focus where it belongs", async () => {
    const { page } = await the.visit()
    await page.goto(the.on.url)
    await page.locator("form").waitFor()
    const tabTo = async (name: RegExp, key: "Tab" | "Shift+Tab" = "Tab") => {
      for (let i = 0; i < 60; i++) {
        if (name.test(await focused(page))) return
        await page.keyboard.press(key)
      }
      assert.fail(`no way to ${name} by Tab`)
    }
    await page.keyboard.type(repo)
    await page.keyboard.press("Tab")
    await page.keyboard.type(the.on.token)
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.type(the.build === "hosted" ? "Host" : "Embedded")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.locator(".bench").waitFor()
    assert.strictEqual(
      await focused(page).then((id) => id.startsWith("field-")),
      true,
      "focus in the query form"
    )
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.type("products")
    await page.keyboard.press("Tab")
    await page.keyboard.type("category")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.type("garden")
    await page.keyboard.press("Enter")
    await page.locator(".table tbody th").first().waitFor()
    await page.waitForFunction(() => document.activeElement.id === "results-title")
    assert.strictEqual((await page.locator(".table tbody th").count()) > 10, true)
    await tabTo(new RegExp(`open-${productId(2)}`))
    await page.keyboard.press("Enter")
    await page.locator(".cm-line").first().waitFor()
    assert.include(await focused(page), productId(2))
    await tabTo(/^History$/)
    await page.keyboard.press("Enter")
    await page.locator(".timeline li").nth(2).waitFor()
    await tabTo(/^restore-/)
    await page.keyboard.press("Enter")
    await page.locator("dialog[open] .diff").waitFor()
    await tabTo(/^Restore/)
    await page.keyboard.press("Enter")
    await status(page).getByText("as revision").waitFor()
    await page.locator(".timeline li").nth(3).waitFor()
    await page.waitForFunction(() => document.activeElement.id.startsWith("restore-"))
    await page.keyboard.press("Escape")
    await page.waitForFunction((id) => document.activeElement.id === id, `open-${productId(2)}`)
    await page.keyboard.press("?")
    await page.locator("dialog[open]").waitFor()
    await page.keyboard.press("Escape")
    await page.waitForFunction((id) => document.activeElement.id === id, `open-${productId(2)}`)
    await page.keyboard.press("e")
    await page.locator(".menu-panel").waitFor()
    await page.keyboard.press("Escape")
    assert.strictEqual(await focused(page), "export")
    await tabTo(/^Sign out$/, "Shift+Tab")
    await page.keyboard.press("Enter")
    await page.getByLabel("Token").waitFor()
    assert.strictEqual(await page.locator(".bench").count(), 0)
  })

  it("4: the focus is ringed with 3:1 or more, and never under the sticky header", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await the.enter({}, { colorScheme, reducedMotion: "reduce" })
      await choose(page, "wide")
      await page.keyboard.press("Tab")
      const rings = new Map<
        string,
        { readonly colour: string; readonly behind: string; readonly what: string }
      >()
      for (let i = 0; i < 36; i++) {
        const ring = await page.evaluate(() => {
          const at = document.activeElement
          const style = getComputedStyle(at)
          const head = document.querySelector(".table thead").getBoundingClientRect()
          let behind = at.parentElement
          while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)")
            behind = behind.parentElement
          return {
            what: at.outerHTML.slice(0, 120),
            page: at === document.body,
            colour: style.outlineColor,
            style: style.outlineStyle,
            width: Number.parseFloat(style.outlineWidth),
            behind: getComputedStyle(behind ?? document.body).backgroundColor,
            hidden: at.closest(".table tbody") !== null && at.getBoundingClientRect().top < head.bottom - 1
          }
        })
        if (!ring.page) {
          assert.notStrictEqual(ring.style, "none", ring.what)
          assert.isAtLeast(ring.width, 2, ring.what)
          assert.isFalse(ring.hidden, ring.what)
          rings.set(`${ring.colour} ${ring.behind}`, ring)
        }
        await page.keyboard.press("Tab")
      }
      for (const { behind, colour, what } of rings.values()) {
        assert.isAtLeast(await contrast(page, colour, behind), 3, what)
      }
      await page.locator(".table-scroll").evaluate((element: Dom) => element.scrollTo(0, 0))
      await page.locator("#cell-0-3").focus()
      for (let i = 0; i < 24; i++) {
        await page.keyboard.press("ArrowDown")
        await page.waitForFunction((id) => document.activeElement.id === id, `cell-${i + 1}-3`)
      }
      for (let i = 23; i >= 6; i--) {
        await page.keyboard.press("ArrowUp")
        await page.waitForFunction((id) => document.activeElement.id === id, `cell-${i}-3`)
        const under = await page.evaluate(
          () =>
            document.activeElement.getBoundingClientRect().top <
            document.querySelector(".table thead").getBoundingClientRect().bottom - 1
        )
        assert.isFalse(under, `row ${i}`)
      }
    }
  })

  it("a panel that arrives late does not take the keys of who types elsewhere meanwhile", async () => {
    const { page } = await the.enter({ hash: "#table=products" })
    await page.locator(".table tbody th").first().waitFor()
    await page.setViewportSize({ width: 2200, height: 900 })
    const late = async (name: string) => {
      await page.route(new RegExp(`assets/${name}-[^/]*\\.js`), async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 1000))
        await route.continue()
      })
    }
    await late("Editing")
    await page.getByRole("button", { name: "New", exact: true }).click()
    const field = page.getByLabel("Field of filter 1")
    await field.click()
    await page.keyboard.type("size.width", { delay: 150 })
    await page.getByRole("heading", { name: "New document" }).waitFor()
    assert.notInclude(page.url(), "panel=commits", "letters of a name ran shortcuts")
    assert.strictEqual(await field.inputValue(), "size.width")
    await late("TimePanels")
    await page.locator("#timeline").click()
    await page.getByRole("heading", { name: "Timeline" }).waitFor()
    assert.strictEqual(await focused(page), "Timeline", "who waits for a panel is in it")
  })

  it("27: shortcuts are listed, act outside of fields alone, and can be turned off", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.keyboard.press("/")
    await page.waitForFunction(() => document.activeElement.dataset.first === "true")
    await page.keyboard.type("?/ret")
    assert.strictEqual(await page.getByLabel("Field of filter 1").inputValue(), "?/ret")
    assert.strictEqual(await page.locator("dialog[open], .menu-panel").count(), 0)
    await page.locator("#results-title").focus()
    await page.keyboard.press("?")
    const dialog = page.locator("dialog[open]")
    assert.match(await dialog.innerText(), /Go to the filter/)
    await dialog.getByRole("checkbox").uncheck()
    await page.keyboard.press("Escape")
    await page.locator("#results-title").focus()
    await page.keyboard.press("c")
    await page.keyboard.press("e")
    await page.locator("#cell-0-1").focus()
    await page.keyboard.press("o")
    await painted(page)
    assert.strictEqual(await page.locator(".menu-panel, .panel").count(), 0)
    assert.notInclude(page.url(), "document=")
    await page.keyboard.press("?")
    await dialog.waitFor()
    await dialog.getByRole("checkbox").check()
    await page.keyboard.press("Escape")
    await page.locator("#results-title").focus()
    await page.keyboard.press("c")
    await page.locator(".menu-panel").waitFor()
  })

  it("a key that comes after a dialog has closed and before the browser tells so opens the palette", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.locator("#results-title").focus()
    const palette = page.locator(".palette[open]")
    for (const opened of ["Control+k", "?"]) {
      await page.keyboard.press(opened)
      await page.locator("dialog[open]").waitFor()
      await page.evaluate(() => {
        const observer = new MutationObserver(async () => {
          observer.disconnect()
          await null
          document.body.dispatchEvent(
            new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true })
          )
        })
        observer.observe(document.querySelector("dialog"), { attributeFilter: ["open"] })
      })
      await page.keyboard.press("Escape")
      await palette.waitFor()
      await painted(page)
      await palette.locator("input").fill("columns")
      await page.keyboard.press("Escape")
      await palette.waitFor({ state: "detached" })
      assert.strictEqual(await focused(page), "results-title")
    }
  })
})
