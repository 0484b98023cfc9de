// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { focused, painted, status } from "../support/browser/Chromium.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom

const program = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))

const run = (page: Page) => page.getByRole("button", { name: "Run", exact: true })
/** Waits until the result is that of the chain as it is. */
const settled = (page: Page) => page.locator(".report-parts[aria-busy=false]").waitFor()

const view = (page: Page, name: string) => page.getByLabel(name, { exact: true }).check({ force: true })

const outcomes = (page: Page) => page.locator(".trace li").allInnerTexts()
const clipboard = async (page: Page) => String(await page.evaluate("navigator.clipboard.readText()"))

const example = async (page: Page, name: string) => {
  await page.getByRole("button", { name: "Examples" }).click()
  await page.getByRole("button", { name, exact: true }).click()
}

const copied = async (page: Page, language: string) => {
  await page.getByRole("button", { name: "Copy as" }).click()
  await page.getByRole("button", { name: language, exact: true }).click()
  await status(page).getByText(`the chain as ${language}`).waitFor()
  return clipboard(page)
}

bothBuilds("the chain playground", (the) => {
  const start = async (options: Parameters<typeof the.visit>[0] = {}, hash = "") => {
    const watched = await the.visit(options)
    await watched.page.goto(the.on.playground + hash)
    await run(watched.page).waitFor()
    return watched
  }

  it("composes a chain by mouse, runs it in the browser alone, and shows every step and the log", async () => {
    const { page, requests } = await start()
    await page.getByRole("button", { name: "Remove positive" }).click()
    assert.strictEqual(await page.locator(".step:not(.fixed)").count(), 2)
    await page.getByRole("button", { name: "Add a handler" }).click()
    const added = page.locator(".step:not(.fixed)").nth(2)
    await added.getByLabel("Name").fill("huge")
    await added.getByLabel("When the request").selectOption("greaterThan")
    await added.getByLabel("Number").fill("100")
    await added.getByLabel("Respond with").fill("{request} is huge")
    await page.getByLabel("Request (a number)").fill("5000")
    await run(page).click()
    await page.locator(".verdict .response").waitFor()
    await page.locator(".verdict .response", { hasText: "5000 is huge" }).waitFor()
    assert.strictEqual(await page.locator(".verdict .status").innerText(), "200")
    assert.strictEqual(await page.locator(".verdict .response").innerText(), "5000 is huge")
    const facts = await page.locator(".facts").innerText()
    assert.match(facts, /Handled by\s+huge/i)
    assert.match(facts, /Ran\s+in this browser/i)
    const steps = await outcomes(page)
    assert.match(
      steps.join("|"),
      /logging.*passed.*\|negative.*skipped.*5000 < 0 is false in (under )?[\d.]+ µs\|zero.*skipped.*\|huge.*matched.*5000 > 100 is true/is
    )
    await page.getByText("Log", { exact: true }).click()
    assert.match(await page.locator(".log").innerText(), /Executed chain ad-hoc/)
    assert.isTrue(
      requests.every(({ method }) => method === "GET"),
      "nothing left the browser"
    )
    assert.isTrue(
      requests.every(({ url }) => !url.includes("/v1/")),
      "nothing left the browser"
    )
    await page.getByRole("button", { name: "Move huge up" }).click()
    await page.getByRole("button", { name: "Move huge up" }).click()
    await run(page).click()
    await settled(page)
    assert.match(
      (await outcomes(page)).join("|"),
      /huge.*matched.*\|negative.*not reached.*\|zero.*not reached/is
    )
  })

  it("moves a handler by dragging it", async () => {
    const { page } = await start()
    const names = () =>
      page
        .locator(".step:not(.fixed)")
        .getByLabel("Name")
        .evaluateAll((all: Dom) => all.map((field: Dom) => field.value))
    assert.deepStrictEqual(await names(), ["negative", "zero", "positive"])
    await page.setViewportSize({ width: 1360, height: 1400 })
    await page.locator(".grip").nth(2).dragTo(page.locator(".step:not(.fixed)").first())
    assert.deepStrictEqual(await names(), ["positive", "negative", "zero"])
  })

  it("works by keyboard alone, with announcements", async () => {
    const { page } = await start()
    const tabTo = async (name: RegExp) => {
      for (let i = 0; i < 60; i++) {
        if (name.test(await focused(page))) return
        await page.keyboard.press("Tab")
      }
      assert.fail(`no way to ${name} by Tab`)
    }
    assert.strictEqual(await page.locator('[aria-live="polite"]').count(), 1)
    assert.strictEqual(await page.locator('[aria-live="assertive"]').count(), 1)
    await page.keyboard.press("n")
    await page.waitForFunction(() => document.activeElement.value === "handler-4")
    await page.keyboard.press("Control+a")
    await page.keyboard.type("fourth?nr")
    await page.keyboard.press("Alt+ArrowUp")
    await status(page).getByText("fourth?nr is now step 3 of 4.").waitFor()
    await page.waitForFunction(
      () => document.activeElement.getAttribute("aria-label") === "Move fourth?nr up"
    )
    await page.keyboard.press("Enter")
    await status(page).getByText("fourth?nr is now step 2 of 4.").waitFor()
    await page.waitForFunction(
      () => document.activeElement.getAttribute("aria-label") === "Move fourth?nr up"
    )
    await tabTo(/^Remove fourth/)
    await page.keyboard.press("Enter")
    await status(page).getByText("Removed fourth?nr.").waitFor()
    await page.waitForFunction(() => /^Remove /.test(document.activeElement.getAttribute("aria-label")))
    await page.keyboard.press("r")
    await page.waitForFunction(() => document.activeElement.id === "result-title")
    await status(page).getByText("Handled by negative: -7 is negative").waitFor()
    await page.keyboard.press("?")
    await page.locator("dialog[open]").waitFor()
    assert.match(await page.locator("dialog[open]").innerText(), /Add a handler/)
    await page.locator("dialog[open]").getByRole("checkbox").uncheck()
    await page.keyboard.press("Escape")
    await page.waitForFunction(() => document.activeElement.id === "result-title")
    await page.keyboard.press("n")
    await painted(page)
    assert.strictEqual(await page.locator(".step:not(.fixed)").count(), 3)
  })

  it("shows 422 and 400 as results", async () => {
    const { page } = await start()
    await example(page, "No handler accepts (422)")
    await run(page).click()
    await page.locator(".verdict.s4").waitFor()
    assert.match(await page.locator(".verdict").innerText(), /422\s+UnhandledRequestError/)
    assert.match((await outcomes(page)).join("|"), /negative.*skipped/is)
    assert.include(await page.locator(".report").innerText(), "Add a fallback")
    await page.getByLabel("Fallback for requests that no handler accepts").check()
    await run(page).click()
    await page.locator(".verdict.s2").waitFor()
    assert.match(await page.locator(".facts").innerText(), /Handled by\s+fallback/i)
    await example(page, "No handlers (400)")
    await run(page).click()
    await page.locator(".verdict.s4").waitFor()
    assert.match(await page.locator(".verdict").innerText(), /400\s+ValidationError.*handlers/s)
    await example(page, "The sign of a number")
    await page.getByLabel("Request (a number)").fill("seven")
    await run(page).click()
    await page.locator(".verdict.s4").waitFor()
    assert.match(await page.locator(".verdict").innerText(), /400\s+ValidationError.*request/s)
    assert.include(await page.locator(".report").innerText(), "Correct the errors in the message")
  })

  it("draws the triage chain with its branch, and what each ticket does in it", async () => {
    const { page } = await start()
    await page.getByLabel("Ticket triage").check({ force: true })
    await page.locator(".chart").waitFor()
    await example(page, "Urgent, of another kind")
    await run(page).click()
    await page.locator(".verdict.s2").waitFor()
    assert.strictEqual(
      await page.locator(".verdict .response").innerText(),
      "ticket 43 escalated to a human agent"
    )
    assert.match(
      await page.locator(".chart-step.branch").innerText(),
      /escalation.*matched.*human-agent.*matched/is
    )
    await example(page, "For the fallback")
    await run(page).click()
    await page.locator(".verdict .response", { hasText: "queued for triage" }).waitFor()
    assert.match(await page.locator(".chart-step.branch").innerText(), /skipped.*not reached/is)
    await example(page, "No such id (400)")
    await run(page).click()
    await page.locator(".verdict.s4").waitFor()
  })

  it("copies the chain as curl, TypeScript and JSON that run as they are", async () => {
    const { page } = await start()
    await page.getByLabel("Respond with").first().fill("it's `${request}` {request} \\ negative")
    await settled(page)
    const response = await page.locator(".verdict .response").innerText()
    assert.strictEqual(response, "it's `$-7` -7 \\ negative")
    const json: unknown = JSON.parse(await copied(page, "JSON"))
    const curl = (await copied(page, "curl")).trim()
    const typescript = await copied(page, "TypeScript")
    assert.strictEqual(await page.locator(".menu-panel").count(), 0)
    assert.deepNestedInclude(json as object, { request: -7, "handlers[0].name": "negative" })
    if (the.build === "local") {
      const { stdout } = await program("bash", ["-c", curl], { timeout: 20_000 })
      const answer = JSON.parse(stdout) as { readonly response: string }
      assert.strictEqual(answer.response, response)
    } else assert.include(curl, "/v1/chains/execute")
    const directory = mkdtempSync(join(root, "test/e2e/.copied-"))
    try {
      writeFileSync(
        join(directory, "copied.ts"),
        typescript.replace("chainstore/chain", "../../../src/chain/index.js")
      )
      const { stdout } = await program(process.execPath, ["--import", "tsx", join(directory, "copied.ts")], {
        cwd: root,
        timeout: 60_000
      })
      assert.strictEqual(stdout.trim(), response)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it("the address holds the chain; examples can be gone back from", async () => {
    const { page } = await start()
    await page.getByLabel("Request (a number)").fill("77")
    await page.waitForURL(
      ({ hash }) => new URLSearchParams(hash.slice(1)).get("chain")?.includes('"request":77') === true
    )
    const address = page.url()
    await example(page, "Order counts")
    assert.strictEqual(await page.getByLabel("Request (a number)").inputValue(), "120")
    await page.goBack()
    await page.waitForFunction(() => document.querySelector(".request input").value === "77")
    const other = await start({}, new URL(address).hash)
    assert.strictEqual(await other.page.getByLabel("Request (a number)").inputValue(), "77")
    assert.strictEqual(await other.page.locator(".step:not(.fixed)").count(), 3)
    const odd = await start(
      {},
      `#chain=${encodeURIComponent('{"handlers":[{"name":"<img src=x onerror=alert(1)>"}]}')}`
    )
    assert.strictEqual(
      await odd.page.locator(".step:not(.fixed)").getByLabel("Name").inputValue(),
      "<img src=x onerror=alert(1)>"
    )
    await run(odd.page).click()
    await odd.page.locator(".verdict.s4").waitFor()
    assert.strictEqual(await odd.page.locator("main img").count(), 0)
    const broken = await start({}, "#chain=%7Bnot-json")
    assert.strictEqual(await broken.page.locator(".step:not(.fixed)").count(), 3)
  })

  it("responds during typing, and never replaces a new response by an old one", async () => {
    const { page } = await start()
    const request = page.getByLabel("Request (a number)")
    await settled(page)
    assert.strictEqual(await page.locator(".verdict .response").innerText(), "-7 is negative")
    await request.fill("")
    await request.pressSequentially("12345")
    await page.locator(".verdict .response", { hasText: /^12345 is positive$/ }).waitFor()
    assert.match(await page.locator(".facts").innerText(), /Took\s+[\d.]+ (µs|ms) \(mean of [\d,]+ runs\)/i)
    await status(page).getByText("Handled by positive: 12345 is positive").waitFor()
    assert.isTrue(
      await request.evaluate((field: Dom) => field === document.activeElement),
      "the focus stays in the field"
    )
    await request.fill("x")
    await page.locator(".verdict.s4", { hasText: "request must be a number" }).waitFor()
    assert.strictEqual(await page.locator(".trace .outcome").count(), 0, "nothing ran")
    // A run that takes long ends with the chain that it was of.
    await example(page, "Too slow, recovered")
    await page.getByLabel("Time limit").fill("10000")
    await page.getByLabel("Delay (ms)").fill("9000")
    await page.getByText("Running in this browser…").waitFor()
    await page.getByLabel("Delay (ms)").fill("1")
    await page.locator(".verdict .response", { hasText: "7 in time" }).waitFor()
  })

  it("draws branches and fragments with the way of the request, and tries work again", async () => {
    const { page } = await start()
    await example(page, "A branch and a fragment")
    await settled(page)
    assert.match(
      await page.locator(".chart-step.branch").innerText(),
      /large.*branch.*skipped.*42 > 100 is false.*million.*not reached.*the branch was not entered/is
    )
    assert.match(
      await page.locator(".chart-step.fragment").innerText(),
      /answers.*matched.*zero.*42 = 0 is false.*everything.*matched.*42 = 42 is true/is
    )
    await page.getByRole("button", { name: "Add a handler inside" }).first().click()
    await page.waitForFunction(() => /^handler-/.test(document.activeElement.value))
    await page.keyboard.press("Control+a")
    await page.keyboard.type("inner")
    await page.keyboard.press("Alt+ArrowUp")
    await status(page).getByText("inner is now step 2 of 3.").waitFor()
    await page.getByRole("button", { name: "Remove inner" }).click()
    await status(page).getByText("Removed inner.").waitFor()
    await example(page, "Fails twice, then succeeds")
    await page.locator(".verdict .response", { hasText: "answered at last" }).waitFor()
    assert.match((await outcomes(page)).join("|"), /flaky.*matched.*on try 3 in \d+ ms/is)
    if (the.build === "local") {
      assert.isTrue(await page.getByRole("button", { name: "Run on the service" }).isDisabled())
    }
  })

  it("judges many requests at once", async () => {
    const { page } = await start()
    await view(page, "Many requests")
    await page.getByRole("button", { name: "Add boundary values" }).click()
    const rows = page.locator(".case-table tbody tr")
    await page.locator(".actual", { hasText: "1 is positive" }).waitFor()
    assert.strictEqual(await rows.count(), 3)
    await page.getByRole("button", { name: "Accept the results" }).click()
    await page.getByText("3 of 3 pass.").first().waitFor()
    await page.getByRole("button", { name: "Remove zero" }).click()
    await page.getByText("2 of 3 pass.").first().waitFor()
    assert.match(await rows.nth(1).innerText(), /422.*UnhandledRequestError.*fail/is)
    await page.getByRole("button", { name: "Add a request" }).click()
    await page.waitForFunction(() => document.activeElement.getAttribute("aria-label") === "Request of row 4")
    await page.keyboard.type("nine")
    await page.keyboard.press("Tab")
    await page.keyboard.type("400")
    await page.getByText("3 of 4 pass.").first().waitFor()
    const again = await start({}, new URL(page.url()).hash)
    await view(again.page, "Many requests")
    await again.page.getByText("3 of 4 pass.").first().waitFor()
  })

  it("shows the chain as code, and takes JSON and curl", async () => {
    const { page } = await start()
    await view(page, "Code")
    await page.locator("section.code", { hasText: "ChainBuilder.make<number, string>" }).waitFor()
    await page.getByLabel("Request (a number)").fill("3")
    await page.locator("section.code", { hasText: "Chain.executeSync(chain, 3)" }).waitFor()
    await view(page, "JSON")
    const area = page.locator("textarea.code")
    const apply = page.getByRole("button", { name: "Apply" })
    await area.fill('{"request": 1, "handlers": []}')
    await page.locator(".problems", { hasText: "handlers must hold at least 1 handler" }).waitFor()
    assert.isTrue(await apply.isDisabled())
    await area.fill('{"request": 1, "handlers": [{"name":"one","when":{"equals":1},"respond":"it is one"}]}')
    await area.press("Control+Enter")
    await page.waitForFunction(() => document.querySelectorAll(".step:not(.fixed)").length === 1)
    await area.fill(
      `curl -s http://127.0.0.1/v1/chains/ticket-triage/execute -d '{"id":43,"kind":"other","priority":"urgent"}'`
    )
    await apply.click()
    await view(page, "Result")
    await page.locator(".verdict .response", { hasText: "ticket 43 escalated" }).waitFor()
    await page.keyboard.press("Control+z")
    await page.locator(".verdict .response", { hasText: "it is one" }).waitFor()
  })

  it("takes JSON and curl that are pasted beside the fields", async () => {
    const { page } = await start()
    await settled(page)
    await page.evaluate(() => document.activeElement.blur())
    const paste = (text: string) =>
      page.evaluate(async (text) => {
        await (globalThis as Dom).navigator.clipboard.writeText(text)
      }, text)
    await paste(
      `curl http://x/v1/chains/execute -d '{"request":2,"handlers":[{"name":"two","when":{"equals":2},"respond":"two it is"}]}'`
    )
    await page.keyboard.press("Control+v")
    await page.locator(".verdict .response", { hasText: "two it is" }).waitFor()
    await paste('{"request":2,"handlers":[]}')
    await page.keyboard.press("Control+v")
    await page.locator('[role="alert"]', { hasText: "handlers must hold at least 1 handler" }).waitFor()
    assert.strictEqual(await page.locator(".verdict .response").innerText(), "two it is")
  })

  it("undoes and does again, by keys and buttons", async () => {
    const { page } = await start()
    const request = page.getByLabel("Request (a number)")
    assert.isTrue(await page.getByRole("button", { name: "Undo" }).isDisabled())
    await request.press("Control+a")
    await request.pressSequentially("123")
    await page.getByRole("button", { name: "Remove zero" }).click()
    await page.keyboard.press("Control+z")
    assert.strictEqual(await page.locator(".step:not(.fixed)").count(), 3)
    await page.getByRole("button", { name: "Undo" }).click()
    assert.strictEqual(await request.inputValue(), "-7")
    await page.keyboard.press("Control+Shift+z")
    await page.keyboard.press("Control+y")
    assert.strictEqual(await request.inputValue(), "123")
    assert.strictEqual(await page.locator(".step:not(.fixed)").count(), 2)
    assert.isTrue(await page.getByRole("button", { name: "Redo" }).isDisabled())
  })

  it("shares a link that opens with its result, as long as a link may be", async () => {
    const { page } = await start()
    await page.getByLabel("Request (a number)").fill("21")
    await page.getByRole("button", { name: "Share" }).click()
    await status(page).getByText("Copied a link").waitFor()
    const link = new URL(await clipboard(page))
    const other = await start({}, link.hash)
    await other.page.locator(".verdict .response", { hasText: "21 is positive" }).waitFor()
    assert.isTrue(other.requests.every(({ url }) => !url.includes("/v1/")))
    await page.getByLabel("Respond with").first().fill("x".repeat(9000))
    await page.getByRole("button", { name: "Share" }).click()
    await page.locator('[role="alert"]', { hasText: "too long for a link" }).waitFor()
    assert.isBelow(page.url().length, 8_100)
  })

  it("guides through a first minute, checking off what was done", async () => {
    const { page } = await start()
    await page.getByRole("button", { name: "Tutorial" }).click()
    const guide = page.getByRole("region", { name: "Tutorial" })
    await guide.getByText("0 of 6 done").waitFor()
    await page.getByLabel("Request (a number)").fill("5")
    await guide.getByText("1 of 6 done").waitFor()
    await page.getByRole("button", { name: "Move positive up" }).click()
    await page.getByRole("button", { name: "Move positive up" }).click()
    await guide.getByText("2 of 6 done").waitFor()
    await page.getByLabel("Number", { exact: true }).first().fill("10")
    await page.locator(".verdict.s4", { hasText: "422" }).waitFor()
    await page.getByLabel("Fallback for requests that no handler accepts").check()
    await guide.getByText("4 of 6 done").waitFor()
    for (const shown of ["5 of 6 done", "That was all."]) {
      await guide.getByRole("button", { name: "Show it" }).click()
      await guide.getByText(shown).waitFor()
    }
    await guide.getByRole("button", { name: "Close" }).click()
    assert.strictEqual(await guide.count(), 0)
  })

  it("asks the service, where there is one", async () => {
    const { page, requests } = await start()
    const ask = page.getByRole("button", { name: "Run on the service" })
    const asked = () =>
      requests.filter(({ method, url }) => method === "POST" && url.endsWith("/v1/chains/execute"))
    await settled(page)
    if (the.build === "hosted") {
      assert.strictEqual(await ask.count(), 0)
      await page.keyboard.press("Control+Enter")
      await page.waitForFunction(() => document.activeElement.id === "result-title")
      assert.lengthOf(asked(), 0)
      return
    }
    await page.getByLabel("Request (a number)").press("Control+Enter")
    await page.locator(".facts", { hasText: "at the service" }).waitFor()
    assert.match((await outcomes(page)).join("|"), /negative.*matched/is)
    assert.lengthOf(asked(), 1)
    await page.getByLabel("Request (a number)").fill("8")
    await page.locator(".facts", { hasText: "in this browser" }).waitFor()
    assert.strictEqual(await page.locator(".verdict .response").innerText(), "8 is positive")
    let answer = () => {}
    await page.route("**/v1/chains/execute", async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      await route.continue().catch(() => undefined)
    })
    await ask.click()
    await page.getByRole("button", { name: "Cancel" }).waitFor()
    await example(page, "Order counts")
    await page.unroute("**/v1/chains/execute")
    answer()
    await page.locator(".verdict .response", { hasText: "120 is large" }).waitFor()
    await painted(page)
    assert.strictEqual(await page.locator(".verdict .response").innerText(), "120 is large")
    assert.include(await page.locator(".facts").innerText(), "in this browser")
    await example(page, "No handlers (400)")
    await page.locator(".verdict.s4").waitFor()
    await ask.click()
    await page.locator(".report", { hasText: "400" }).waitFor()
    assert.match(await page.locator(".verdict").innerText(), /400\s+ValidationError/)
    await page.route("**/v1/chains/execute", (route) => route.abort())
    await ask.click()
    await page.getByRole("heading", { name: "The server cannot be reached" }).waitFor()
    assert.include((await page.locator('[role="alert"]').textContent()) ?? "", "The server cannot be reached")
  })
})
