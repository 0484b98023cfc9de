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
    assert.strictEqual(await page.locator(".verdict .status").innerText(), "200")
    assert.strictEqual(await page.locator(".verdict .response").innerText(), "5000 is huge")
    const facts = await page.locator(".facts").innerText()
    assert.match(facts, /Handled by\s+huge/i)
    assert.match(facts, /Ran\s+in this browser/i)
    const steps = await outcomes(page)
    assert.match(steps.join("|"), /logging.*passed\|negative.*skipped\|zero.*skipped\|huge.*matched/is)
    assert.match(await page.locator(".log").innerText(), /huge|ad-hoc/)
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
    await page.waitForFunction(() => document.querySelectorAll(".trace li").length === 4)
    assert.match(
      (await outcomes(page)).join("|"),
      /huge.*matched\|negative.*not reached\|zero.*not reached/is
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

  it("does the same by keyboard alone, and tells it", async () => {
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
    await example(page, "Nobody accepts (422)")
    await run(page).click()
    await page.locator(".verdict.s4").waitFor()
    assert.match(await page.locator(".verdict").innerText(), /422\s+UnhandledRequestError/)
    assert.match((await outcomes(page)).join("|"), /negative.*skipped/is)
    assert.include(await page.locator(".report").innerText(), "Add a fallback")
    await page.getByLabel("Fallback for what no handler accepts").check()
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
    assert.include(await page.locator(".report").innerText(), "Correct what the message names")
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
    await run(page).click()
    await page.locator(".verdict .response").waitFor()
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

  it("runs against the service, where there is one", async () => {
    const { page, requests } = await start()
    if (the.build === "hosted") {
      assert.strictEqual(await page.getByLabel("At the service").count(), 0)
      return
    }
    await page.getByLabel("At the service").check({ force: true })
    await run(page).click()
    await page.locator(".verdict .response").waitFor()
    assert.match(await page.locator(".facts").innerText(), /Ran\s+at the service/i)
    assert.match((await outcomes(page)).join("|"), /negative.*matched/is)
    assert.lengthOf(
      requests.filter(({ method, url }) => method === "POST" && url.endsWith("/v1/chains/execute")),
      1
    )
    await page.getByLabel("Request (a number)").fill("8")
    await page.getByText("Changed since it ran").waitFor()
    let answer = () => {}
    await page.route("**/v1/chains/execute", async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      await route.continue().catch(() => undefined)
    })
    await run(page).click()
    await page.getByRole("button", { name: "Cancel" }).waitFor()
    await example(page, "Order counts")
    await page.unroute("**/v1/chains/execute")
    answer()
    await page.getByText("Run the chain to see what each step did.").waitFor()
    await painted(page)
    assert.strictEqual(await page.locator(".verdict").count(), 0, "an answer about another chain")
    assert.isTrue(await run(page).isEnabled())
    await example(page, "No handlers (400)")
    await run(page).click()
    await page.locator(".verdict.s4").waitFor()
    assert.match(await page.locator(".verdict").innerText(), /400\s+ValidationError/)
    await page.route("**/v1/chains/execute", (route) => route.abort())
    await run(page).click()
    await page.getByRole("heading", { name: "The server cannot be reached" }).waitFor()
    assert.include((await page.locator('[role="alert"]').textContent()) ?? "", "The server cannot be reached")
  })
})
