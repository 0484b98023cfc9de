// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import { buildsInTurn } from "../support/browser/BothBuilds.js"
import { focused, painted, status } from "../support/browser/Chromium.js"
import { product, productId } from "../support/browser/Seed.js"
import { choose, type Stage, signIn } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const window: Dom
declare const location: Dom
declare const innerWidth: number

const git = (stage: Stage, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", stage.repository, ...args], { encoding: "utf8" }).trim()

/** A commit by hand: one file with any text. */
const write = (stage: Stage, path: string, text: string): string => {
  const index = join(stage.repository, "by-hand")
  const run = (args: ReadonlyArray<string>, input = "") =>
    execFileSync(
      "git",
      ["-C", stage.repository, "-c", "user.name=Hand", "-c", "user.email=hand@example.com", ...args],
      {
        encoding: "utf8",
        input,
        env: { ...process.env, GIT_INDEX_FILE: index }
      }
    ).trim()
  run(["read-tree", "main"])
  const blob = run(["hash-object", "-w", "--stdin"], text)
  run(["update-index", "--add", "--cacheinfo", `100644,${blob},${path}`])
  const commit = run(["commit-tree", run(["write-tree"]), "-p", "main", "-m", "by hand"])
  run(["update-ref", "refs/heads/main", commit])
  return commit
}

buildsInTurn("documents in the console", (the) => {
  const line = (page: Page, hasText: string | RegExp) => page.locator(".cm-line", { hasText })

  it("20: the viewer folds, searches and copies; a megabyte opens within a second", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.locator(`#open-${productId(1)}`).click()
    const viewer = page.getByRole("textbox", { name: `JSON of products/${productId(1)}` })
    await viewer.waitFor()
    assert.strictEqual(await viewer.getAttribute("aria-readonly"), "true")
    assert.strictEqual(await page.locator('[aria-live="polite"]').count(), 1)
    await line(page, '"size"').click()
    await page.keyboard.press("Enter")
    assert.strictEqual(await line(page, '"width"').count(), 0)
    assert.match(await line(page, '"size"').innerText(), /^\s*"size": {\s*2 fields\s*},$/)
    await status(page)
      .getByText(/^Folded lines/)
      .waitFor()
    await page.keyboard.press("Space")
    assert.strictEqual(await line(page, '"width"').count(), 1)
    await page.keyboard.press("ArrowDown")
    assert.strictEqual(await page.locator(".json-path").innerText(), "size.height")
    const clip = () => page.evaluate("navigator.clipboard.readText()")
    await page.getByRole("button", { name: "Copy path" }).click()
    assert.strictEqual(await clip(), "size.height")
    await page.getByRole("button", { name: "Copy value" }).click()
    assert.strictEqual(await clip(), "7")
    await line(page, /^\s*"[a-z]+"$/).click()
    assert.strictEqual(await page.locator(".json-path").innerText(), "tags[1]")
    await page.getByRole("button", { name: "Copy value" }).click()
    assert.strictEqual(await clip(), (product(1)["tags"] as ReadonlyArray<string>)[1])
    await line(page, '"tags"').click()
    await page.getByRole("button", { name: "Copy value" }).click()
    assert.deepStrictEqual(JSON.parse(String(await clip())), product(1)["tags"])

    await page.getByRole("button", { name: "Fold all", exact: true }).click()
    assert.strictEqual(await page.locator(".cm-foldPlaceholder").count(), 2)
    await page.locator(".cm-foldPlaceholder").first().click()
    assert.strictEqual(await page.locator(".cm-foldPlaceholder").count(), 1)
    await page.getByRole("button", { name: "Fold all", exact: true }).click()
    await page.getByPlaceholder("Search keys and values").fill("WIDTH")
    await page.keyboard.press("Enter")
    await status(page).getByText("Match 1 of 1: size.width").waitFor()
    assert.strictEqual(await page.locator(".cm-searchMatch-selected").innerText(), "width")
    await page.getByPlaceholder("Search keys and values").fill("_at")
    const at = () => page.locator(".search .count").innerText()
    assert.strictEqual(await at(), "2")
    await page.getByRole("button", { name: "Next match" }).click()
    await status(page).getByText("Match 1 of 2: _created_at").waitFor()
    await page.getByRole("button", { name: "Next match" }).click()
    assert.strictEqual(await at(), "2/2")
    await page.getByRole("button", { name: "Next match" }).click()
    assert.strictEqual(await at(), "1/2")
    await page.getByRole("button", { name: "Previous match" }).click()
    await status(page).getByText("Match 2 of 2: _updated_at").waitFor()
    await page.getByPlaceholder("Search keys and values").fill("no such thing")
    await page.keyboard.press("Enter")
    await status(page).getByText("matches “no such thing”").waitFor()
    await page.getByRole("button", { name: "Unfold all", exact: true }).click()
    assert.strictEqual(await page.locator(".cm-foldPlaceholder").count(), 0)
    await page.getByRole("button", { name: "Close the document" }).click()

    await choose(page, "big")
    const response = page.waitForResponse((answer) => the.on.isData(answer.url()) && answer.ok())
    await page.locator("#open-megabyte").click()
    await response
    const started = Date.now()
    await page.locator(".panel .cm-line").first().waitFor()
    assert.isBelow(Date.now() - started, 1000)
    const inSight = async () => {
      const box = (await page.locator(".json-text").boundingBox())!
      const match = (await page.locator(".cm-searchMatch-selected").boundingBox())!
      assert.closeTo(match.y, box.y + box.height / 2, box.height / 2 - 24)
    }
    await page.getByPlaceholder("Search keys and values").fill("_created_at")
    await page.keyboard.press("Enter")
    await status(page).getByText("Match 1 of 1: _created_at").waitFor()
    await painted(page)
    await inSight()
    await page.getByRole("button", { name: "Fold all", exact: true }).click()
    await line(page, /6000 items/).waitFor()
    await page.getByPlaceholder("Search keys and values").fill("plane 5995")
    await page.keyboard.press("Enter")
    await status(page).getByText("Match 1 of 1: rows[5994].name").waitFor()
    assert.strictEqual(await page.locator(".cm-searchMatch-selected").innerText(), "plane 5995")
    await painted(page)
    await inSight()
  })

  it("keys act in the viewer as they do around it, nothing is typed, and Tab leads through", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.locator(`#open-${productId(1)}`).click()
    const viewer = page.getByRole("textbox", { name: /^JSON of/ })
    await viewer.waitFor()
    const text = await viewer.innerText()
    const inViewer = () => page.waitForFunction(() => document.activeElement.className === "json-text")
    await page.getByRole("button", { name: "Unfold all", exact: true }).focus()
    await page.keyboard.press("Tab")
    await inViewer()
    await page.keyboard.press("Tab")
    assert.strictEqual(await focused(page), "Copy value")
    await page.keyboard.press("Shift+Tab")
    await inViewer()
    await page.keyboard.press("?")
    await page.locator("dialog[open]").waitFor()
    await page.keyboard.press("Escape")
    await inViewer()
    for (const key of ["x", "Delete", "Backspace", "Control+x", "Control+v", "Control+z"]) {
      await page.keyboard.press(key)
    }
    assert.strictEqual(await viewer.innerText(), text)
    await page.keyboard.press("Control+End")
    await page.keyboard.press("ArrowUp")
    assert.match(await page.locator(".json-path").innerText(), /^tags/)
    await page.keyboard.press("Control+f")
    assert.strictEqual(
      await page.evaluate(() => document.activeElement.placeholder),
      "Search keys and values"
    )
    await page.keyboard.press("Shift+Tab")
    await viewer.focus()
    await page.keyboard.press("/")
    await page.waitForFunction(() => document.activeElement.dataset.first === "true")
    await viewer.focus()
    await page.keyboard.press("Escape")
    await page.waitForFunction((id) => document.activeElement.id === id, `open-${productId(1)}`)
    assert.strictEqual(await page.locator(".panel").count(), 0)
  })

  it("a viewer that could not be fetched says so, and is fetched again", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    const viewer = /\/assets\/JsonView-[^/]*\.js$/
    await page.route(viewer, (route) => route.abort())
    await page.locator(`#open-${productId(1)}`).click()
    await page.locator(".panel .problem", { hasText: "could not be loaded" }).waitFor()
    const reload = page.getByRole("button", { name: "Reload the page" })
    assert.strictEqual(await reload.count(), 0)
    await page.unroute(viewer)
    await page.getByRole("button", { name: "Try again" }).click()
    await page.locator(".cm-line").first().waitFor()
    assert.strictEqual(await page.locator(".panel .problem").count(), 0)
  })

  it("a viewer that cannot be fetched again either offers to reload the page, which opens the document", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    const viewer = /\/assets\/JsonView-[^/]*\.js$/
    await page.route(viewer, (route) => route.abort())
    await page.locator(`#open-${productId(1)}`).click()
    await page.getByRole("button", { name: "Try again" }).click()
    const reload = page.getByRole("button", { name: "Reload the page" })
    await reload.waitFor()
    await page.unroute(viewer)
    await reload.click()
    if (the.build === "hosted") await signIn(the.on, page)
    await page.locator(".cm-line").first().waitFor()
    assert.strictEqual(await page.locator(".panel .problem").count(), 0)
  })

  it("21: history, field by field, and a restore that is one forward commit, asked first", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.locator(`#open-${productId(2)}`).click()
    await page.getByRole("button", { name: "History" }).click()
    await page.locator(".timeline li").nth(2).waitFor()
    const entries = await page.locator(".timeline li").allInnerTexts()
    assert.include(entries[0]!, "raise it again")
    assert.include(entries[1]!, "lower a price")
    assert.match(entries[1]!, /(now|second|minute|hour|ago)/)
    assert.include(entries[1]!, git(the.on, "log", "-1", "--format=%an", "main"))
    await page
      .getByRole("button", { name: /^Changes in/ })
      .nth(1)
      .click()
    const diff = page.getByRole("region", { name: /^Fields changed by/ })
    await diff.waitFor()
    assert.match(await diff.innerText(), /note\s+added\s+nothing\s+on sale/)
    assert.match(await diff.innerText(), /price\s+changed\s+2\.75\s+9\.99/)
    const head = git(the.on, "rev-parse", "main")
    await page
      .getByRole("button", { name: /^Restore version/ })
      .nth(0)
      .click()
    const dialog = page.locator("dialog[open]")
    await dialog.locator(".diff").waitFor()
    assert.match(await dialog.innerText(), /price\s+changed\s+12\.5\s+9\.99/)
    await dialog.getByRole("button", { name: "Cancel" }).click()
    assert.strictEqual(git(the.on, "rev-parse", "main"), head, "nothing was written yet")
    await page.waitForFunction(() => document.activeElement.textContent === "Restore…")
    await page
      .getByRole("button", { name: /^Restore version/ })
      .nth(0)
      .click()
    await dialog.getByRole("button", { name: "Restore" }).click()
    await page.locator(".timeline li").nth(3).waitFor()
    await status(page)
      .getByText(/restored|history/)
      .waitFor()
    assert.strictEqual(git(the.on, "rev-parse", "main^"), head, "one forward commit")
    const message = git(the.on, "log", "-1", "--format=%s", "main")
    assert.match(message, new RegExp(`^restore products/${productId(2)} from [0-9a-f]{7}$`))
    assert.include(await page.locator(".timeline li").first().innerText(), message)
    const stored = JSON.parse(git(the.on, "show", `main:data/products/${productId(2)}.json`))
    assert.strictEqual(stored.price, 9.99)
    assert.strictEqual(stored._rev, 4)
    await page
      .getByRole("button", { name: /^View version/ })
      .nth(3)
      .click()
    await page.locator(".panel .banner").waitFor()
    await line(page, '"_rev": 1,').waitFor()
    assert.match(page.url(), /&version=[0-9a-f]{40}/)
    const revision = () => page.locator("tr.opened #cell-1-1").innerText()
    assert.strictEqual(await page.locator(".results .banner").count(), 0, "the table stays where it is")
    assert.strictEqual(await revision(), "4")
    await page.evaluate(() => {
      location.hash += "&at=main"
    })
    await page.locator(".results .banner").waitFor()
    await page.getByRole("button", { name: "Same version as the table" }).click()
    await line(page, '"_rev": 4,').waitFor()
    await page.goBack()
    await line(page, '"_rev": 1,').waitFor()
    await page.getByRole("button", { name: "Show both now" }).click()
    await page.locator(".banner").first().waitFor({ state: "detached" })
    await line(page, '"_rev": 4,').waitFor()
    await page.goBack()
    await line(page, '"_rev": 1,').waitFor()
    await page.locator(`#open-${productId(3)}`).click()
    await line(page, productId(3)).waitFor()
    assert.notInclude(page.url(), "version=", "an earlier version is of one document")
  })

  it("what is said of one document is not said of another, and one that broke is brought back", async () => {
    const id = productId(7)
    const path = `data/products/${id}.json`
    const committed = write(the.on, path, "{oops")
    const { page } = await the.enter({ hash: `#table=products&document=${productId(3)}&panel=history` })
    await page
      .getByRole("button", { name: /^Changes in/ })
      .last()
      .click()
    await page.locator(".diff").waitFor()
    await page.evaluate((hash: string) => {
      location.hash = hash
    }, `#table=products&document=${id}&panel=history`)
    await page.getByText(committed.slice(0, 7), { exact: true }).waitFor()
    assert.strictEqual(await page.locator(".diff").count(), 0, "of the other document")
    await page
      .getByRole("button", { name: /^Changes in/ })
      .last()
      .click()
    assert.match(await page.locator(".diff").innerText(), new RegExp(`_id\\s+added\\s+nothing\\s+${id}`))
    await page
      .getByRole("button", { name: /^Changes in/ })
      .first()
      .click()
    await page.getByText("Since this commit the file is not a valid document.").waitFor()
    await page.getByRole("button", { name: "Document", exact: true }).click()
    await page.getByRole("heading", { name: "The file is not a valid document" }).waitFor()
    await page.getByRole("button", { name: "History" }).click()

    const restore = page.getByRole("button", { name: /^Restore version/ }).first()
    const dialog = page.locator("dialog[open]")
    const isData = ({ href }: URL) => the.on.isQuestion({ method: "POST", url: href })
    let away = false
    await page.route(isData, (route) => (away ? undefined : route.continue()))
    const leaveWhileRestoring = async (leave: () => Promise<unknown>) => {
      await restore.click()
      await dialog.getByText("The current file is not a valid document.").waitFor()
      away = true
      await dialog.getByRole("button", { name: "Restore" }).click()
      await dialog.getByRole("button", { name: "Restoring…" }).waitFor()
      await leave()
      away = false
      await status(page).getByText("Stopped waiting for the restore").waitFor()
      assert.strictEqual(git(the.on, "rev-parse", "main"), committed)
    }
    await leaveWhileRestoring(() => page.goBack())
    await page.goForward()
    await status(page).getByText(`in the history of ${id}`).waitFor()
    await leaveWhileRestoring(() => page.keyboard.press("Escape"))
    await restore.click()
    await dialog.getByRole("button", { name: "Restore" }).click()
    await page.locator(".timeline li").nth(2).waitFor()
    await status(page).getByText("is restored").waitFor()
    const { _rev, _updated_at, ...stored } = JSON.parse(git(the.on, "show", `main:${path}`))
    assert.deepInclude(stored, product(7))
  })

  it("28: hostile contents are text", async () => {
    const { page } = await the.enter()
    await page.getByLabel("Whole documents").check()
    await page.locator("#query-table").selectOption("hostile")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.locator(".table tbody th").first().waitFor()
    const turned = async () => /[\u202A-\u202E\u2066-\u2069]/.test(await page.locator("body").innerText())
    assert.isFalse(await turned(), "the table")
    await page.locator("td", { hasText: "evil" }).hover()
    await page.locator("#cell-full").waitFor()
    assert.isFalse(await turned(), "the whole text of a cell")
    for (const id of ["script", "bidi", "long", "proto", "formula", "style"]) {
      await page.locator(`#open-${id}`).click()
      await page.locator(".panel .cm-line").first().waitFor()
      await page.getByRole("button", { name: "History" }).click()
      await page.locator(".timeline li").first().waitFor()
      await page
        .getByRole("button", { name: /^Changes in/ })
        .first()
        .click()
      await page.locator(".diff").waitFor()
      assert.isFalse(await turned(), `the changes of ${id}`)
      await page.getByRole("button", { name: "Close the document" }).click()
    }
    await page.locator("#open-script").click()
    await line(page, "<script>").waitFor()
    await page.getByRole("button", { name: "Close the document" }).click()
    await page.locator("#open-proto").click()
    await line(page, '"polluted"').click()
    assert.strictEqual(await page.locator(".json-path").innerText(), "__proto__.polluted")
    await page.getByRole("button", { name: "Copy value" }).click()
    assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), "true")
    await page.getByRole("button", { name: "Close the document" }).click()
    await page.locator("#open-bidi").click()
    await line(page, "mark").waitFor()
    const marks = await line(page, /evil|key/)
      .locator(".cm-specialChar")
      .count()
    assert.strictEqual(marks, 5, "what would turn the text around is drawn as a mark")
    assert.notMatch(
      await page.getByRole("textbox", { name: /^JSON of/ }).innerText(),
      /[\u202A-\u202E\u2066-\u2069]/
    )
    await page.locator("#columns").click()
    assert.isFalse(await turned(), "the names of columns")
    await page.keyboard.press("Escape")
    assert.strictEqual(await page.evaluate(() => window.__hostile), undefined)
    assert.strictEqual(await page.evaluate("({}).polluted"), undefined)
    assert.strictEqual(
      await page.locator(".bench script, .bench iframe, .bench img[src], .bench style").count(),
      0
    )
    assert.isAtMost(
      (await page.evaluate(() => document.documentElement.scrollWidth)) as number,
      await page.evaluate(() => innerWidth)
    )
  })
})
