// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { Effect, Option } from "effect"
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import type { JsonObject } from "../../src/domain/json/Json.js"
import { buildsInTurn } from "../support/browser/BothBuilds.js"
import { axe, focused, status } from "../support/browser/Chromium.js"
import { productId } from "../support/browser/Seed.js"
import { choose } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const document: Dom
declare const dispatchEvent: Dom
declare const Event: Dom

/** Finds an action by letters, and runs it: the way of hands that stay on the keyboard. */
const run = async (page: Page, letters: string, first: RegExp) => {
  await page.keyboard.press("Control+k")
  await page.locator(".palette input").waitFor()
  await page.keyboard.type(letters)
  await page.locator(".palette [aria-selected=true]", { hasText: first }).waitFor()
  await page.keyboard.press("Enter")
  await page.locator(".palette").waitFor({ state: "detached" })
}

const tabTo = async (page: Page, name: RegExp) => {
  for (let i = 0; i < 80; i++) {
    if (name.test(await focused(page))) return
    await page.keyboard.press("Tab")
  }
  assert.fail(`no way to ${name} by Tab`)
}

buildsInTurn("time, branches and hands of the console", (the) => {
  const clean = async (page: Page, state: string) => {
    for (const scheme of ["light", "dark"] as const) {
      assert.deepStrictEqual(await axe(page, scheme), [], `${state}, ${scheme}`)
    }
  }

  the.inBoth(
    "a branch that has moved is told for one conditional request, and shown when somebody asks",
    async () => {
      const { page, requests } = await the.enter()
      await choose(page, "products")
      const answers: Array<number> = []
      page.on("response", (response) => {
        const asked = { method: response.request().method(), url: response.url() }
        if (the.on.isQuestion(asked)) answers.push(response.status())
      })
      const look = async () => {
        const answered = page.waitForResponse((response) =>
          the.on.isQuestion({ method: response.request().method(), url: response.url() })
        )
        await page.evaluate(() => dispatchEvent(new Event("focus")))
        await answered
      }
      const before = requests.filter(the.on.isQuestion).length
      await look()
      await look()
      assert.strictEqual(requests.filter(the.on.isQuestion).length - before, 2, "one request each")
      assert.deepStrictEqual(answers, the.build === "hosted" ? [304, 304] : [200, 200])

      const products = the.on.store.collection("products")
      await the.on.run(products.update(productId(3), { name: "seen later" }, { message: "rename one" }))
      await the.on.run(products.update(productId(3), { price: 3 }, { message: "and its price" }))
      await look()
      const newer = page.locator("#newer")
      await newer.getByText("2 newer commits").waitFor()
      assert.notInclude(await page.locator(".table").innerText(), "seen later")
      await clean(page, "newer")
      await run(page, "newer", /2 newer commits/)
      await page.locator(".table tbody td", { hasText: "seen later" }).waitFor()
      await newer.waitFor({ state: "detached" })
      await look()
      assert.strictEqual(await newer.count(), 0)
    }
  )

  it("the timeline tells what each commit changed, and reverts one after showing what that writes", async () => {
    const products = the.on.store.collection("products")
    await the.on.run(products.update(productId(7), { price: 70 }, { message: "a wrong price" }))
    const { page } = await the.enter()
    await choose(page, "products")
    await run(page, "timeline", /^Timeline/)
    await page.locator(".timeline li", { hasText: "a wrong price" }).waitFor()
    await tabTo(page, /^Changes in/)
    await page.keyboard.press("Enter")
    await page.locator(".changes .diff", { hasText: "price" }).waitFor()
    await clean(page, "timeline")
    await tabTo(page, /^revert-/)
    await page.keyboard.press("Enter")
    await page.locator("dialog[open] .changes .diff").waitFor()
    await clean(page, "revert")
    await tabTo(page, /^Revert/)
    await page.keyboard.press("Enter")
    await status(page).getByText("is reverted by").waitFor()
    const now = Option.getOrThrow(await the.on.run(products.get(productId(7))))
    assert.strictEqual(now["price"], 9.61)
    await page.locator(".commit-message", { hasText: /^revert [0-9a-f]{7}/ }).waitFor()
    await page.locator(`[id^="revert-"]`).nth(1).click()
    await page.locator("dialog[open] .banner", { hasText: "This commit cannot be reverted" }).waitFor()
    assert.isTrue(await page.getByRole("button", { name: "Revert", exact: true }).isDisabled())
    assert.strictEqual(await page.locator("#newer").count(), 0, "our own commit is no news")
  })

  it("branches are made, switched, compared and merged, no conflict undecided", async () => {
    const { page } = await the.enter()
    await choose(page, "articles")
    await run(page, "branches", /^Branches/)
    await page.locator(".branches li").first().waitFor()
    await tabTo(page, /^new-branch/)
    await page.keyboard.type("draft")
    await page.keyboard.press("Enter")
    await status(page).getByText("draft is a branch at").waitFor()
    const ours = the.on.store.collection("articles")
    const theirs = the.on.store.onBranch("draft").collection("articles")
    await the.on.run(
      Effect.all([
        ours.update("a-2", { title: "ours" }),
        theirs.update("a-2", { title: "theirs", draft: false }),
        theirs.insert({ title: "only there" }, { id: "a-there" })
      ])
    )
    await page.getByRole("button", { name: "Compare draft with main" }).press("Enter")
    await page.locator(".changes li", { hasText: "articles/a-there" }).waitFor()
    await page.locator(".changes .badge.changed").first().waitFor()
    await clean(page, "branches")
    await page.getByRole("button", { name: "Merge draft into main" }).press("Enter")
    await page.locator(".conflict").waitFor()
    const merge = page.getByRole("button", { name: "Merge", exact: true })
    assert.isTrue(await merge.isDisabled(), "a conflict is undecided")
    assert.match(await page.locator(".conflict").innerText(), /On copper|On brass|On dowel/)
    await clean(page, "merge")
    assert.match(await page.locator(".conflict").innerText(), /Both:\s+ours\s+theirs/)
    await page.locator(".conflict input").first().focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await merge.press("Enter")
    await status(page).getByText("draft is merged into main").waitFor()
    const merged = Option.getOrThrow(await the.on.run(ours.get("a-2")))
    assert.deepInclude(merged, { title: "ours\ntheirs", draft: false })

    await page.getByRole("button", { name: "Switch to draft" }).press("Enter")
    await page.waitForURL(/branch=draft/)
    await page.locator(".where", { hasText: "draft" }).waitFor()
    assert.notInclude(page.url(), the.on.token)
    await page.locator(".table tbody th").first().waitFor()
  })

  it("drafts are proposed instead of published, looked at, accepted with their conflicts decided, and closed", async () => {
    const articles = the.on.store.collection("articles")
    await the.on.run(
      Effect.all([
        articles.insert({ title: "before", n: 1 }, { id: "a-proposed" }),
        articles.insert({ title: "stays" }, { id: "a-closed" })
      ])
    )
    const { page } = await the.enter({ hash: "#table=articles" })
    await page.locator(".table tbody th").first().waitFor()
    const propose = async (id: string, title: string, why: string) => {
      await page.getByRole("button", { name: `Open ${id}` }).press("Enter")
      await page.locator(".panel .cm-line").first().waitFor()
      await page.getByRole("button", { name: "Edit", exact: true }).press("Enter")
      const editor = page.locator(".panel .cm-content")
      await page.locator(".panel .cm-content[contenteditable=true]").waitFor()
      await editor.press("Control+a")
      await page.keyboard.insertText(JSON.stringify({ title }))
      await page.locator(".json-path", { hasText: "saved as a draft" }).waitFor()
      await page.keyboard.press("Control+Enter")
      await page.locator(".reviewed").waitFor()
      await page.getByRole("textbox", { name: "Message" }).fill(`say ${title}`)
      await page.getByRole("checkbox", { name: /Propose the changes/ }).press("Space")
      await page.getByRole("textbox", { name: "Description" }).fill(why)
      // A row that is half below the head of the table is too small a target there.
      await page.locator(".table-scroll").evaluate((table: Dom) => table.scrollTo(0, 0))
      await clean(page, "propose")
      await page.getByRole("button", { name: "Propose", exact: true }).press("Enter")
      await page.locator(".review .banner", { hasText: `Proposed as say ${title}` }).waitFor()
    }
    const titleOf = async (id: string) => Option.getOrThrow(await the.on.run(articles.get(id)))["title"]
    await propose("a-proposed", "after", "Because\nof this.")
    assert.strictEqual(await titleOf("a-proposed"), "before")
    assert.strictEqual(await page.evaluate(() => document.querySelectorAll("#review").length), 0)
    await page.getByRole("button", { name: "Show the proposals" }).press("Enter")
    await page.getByText("Because").waitFor()
    await the.on.run(articles.update("a-proposed", { title: "meanwhile", n: 2 }))
    await page.getByRole("button", { name: "Changes in say after" }).press("Enter")
    await page.locator(".changes li", { hasText: "articles/a-proposed" }).waitFor()
    await clean(page, "proposals")
    await page.getByRole("button", { name: "Accept say after" }).press("Enter")
    await page.locator(".conflict").first().waitFor()
    const accept = page.getByRole("button", { name: "Accept", exact: true })
    assert.isTrue(await accept.isDisabled(), "a conflict is undecided")
    await clean(page, "accept")
    for (const choice of await page.locator(".conflict fieldset").all()) {
      await choice.getByRole("radio").nth(1).press("Space")
    }
    await accept.press("Enter")
    await status(page).getByText("say after is accepted as commit").waitFor()
    assert.strictEqual(await titleOf("a-proposed"), "after")

    await page.keyboard.press("Escape")
    await propose("a-closed", "turned down", "")
    await run(page, "proposals", /^Proposals/)
    await page.getByRole("button", { name: "Close say turned down" }).press("Enter")
    await page.getByRole("button", { name: "Close proposal" }).press("Enter")
    await status(page).getByText("say turned down is closed").waitFor()
    assert.strictEqual(await titleOf("a-closed"), "stays")
    await page.getByRole("combobox", { name: "Show" }).selectOption("closed")
    await page.locator(".branches li", { hasText: "say turned down" }).waitFor()
    await page.getByRole("combobox", { name: "Show" }).selectOption("accepted")
    await page.locator(".branches li", { hasText: "say after" }).waitFor()
  })

  // The hosted build lists pull requests, and asks no server of its own.
  const locally = it.skipIf(the.build === "hosted")

  const propose = (title: string, id: string, value: JsonObject = {}) =>
    the.on.run(
      Effect.map(
        the.on.store.propose({ title }, (draft) => draft.collection("enemy").insert(value, { id })),
        ({ proposal }) => proposal
      )
    )

  /** The panel of the proposals, listed. */
  const proposals = async (state?: "accepted") => {
    const { page } = await the.enter({ hash: "#table=products" })
    await page.locator("#proposals").click()
    if (state !== undefined) await page.getByRole("combobox", { name: "Show" }).selectOption(state)
    await page.locator(".branches li").first().waitFor()
    return page
  }

  const accept = (page: Page) => page.getByRole("button", { name: "Accept", exact: true })

  locally(
    "a proposal is accepted as the dialog shows it, also where it has moved since it was listed",
    async () => {
      const { id } = await propose("moves", "moved-1")
      const page = await proposals()
      const more = (document: string) =>
        the.on.run(
          the.on.store.proposal(id).update((draft) => draft.collection("enemy").insert({}, { id: document }))
        )
      const shown = (document: string) => page.locator(".dialog .changes li", { hasText: document }).waitFor()
      await more("moved-2")
      await page.getByRole("button", { name: "Accept moves" }).click()
      await shown("moved-2")
      await more("moved-3")
      await accept(page).click()
      await page.locator(".dialog .problem", { hasText: "changed" }).waitFor()
      await page.getByRole("button", { name: "Try again" }).click()
      await shown("moved-3")
      await accept(page).click()
      await status(page).getByText("moves is accepted").waitFor()
      assert.strictEqual((await the.on.run(the.on.store.proposal(id).get())).state, "accepted")
    }
  )

  locally("an acceptance that nobody waits for is listed as what became of it", async () => {
    await propose("unknown", "unknown-1")
    const page = await proposals()
    let answered: () => void = () => undefined
    const done = new Promise<void>((resolve) => {
      answered = resolve
    })
    await page.route("**/api/proposal-accept", async (route) => {
      await route.fetch()
      answered()
      await new Promise((resolve) => setTimeout(resolve, 2000))
      await route.abort().catch(() => undefined)
    })
    await page.getByRole("button", { name: "Accept unknown" }).click()
    await page.locator(".dialog .changes li").first().waitFor()
    await accept(page).click()
    await done
    await page.getByRole("button", { name: "Cancel" }).click()
    await status(page).getByText("shows the proposal's state").waitFor()
    await page.getByRole("button", { name: "Accept unknown" }).waitFor({ state: "detached" })
  })

  locally("two proposals of one title are told apart, in the palette, too", async () => {
    await propose("twins", "twin-1")
    await propose("twins", "twin-2")
    const page = await proposals()
    const buttons = page.getByRole("button", { name: "Accept twins" })
    await buttons.nth(1).waitFor()
    const names = await buttons.evaluateAll((all: ReadonlyArray<Dom>) =>
      all.map((each) => each.getAttribute("aria-label"))
    )
    assert.notStrictEqual(names[0], names[1])
    await page.keyboard.press("Control+k")
    await page.locator(".palette input").waitFor()
    await page.keyboard.type("Accept twins")
    await page.getByRole("option", { name: names[0] }).waitFor()
    assert.strictEqual(await page.getByRole("option", { name: "Accept twins" }).count(), 2)
    await page.keyboard.press("Escape")
    await page.locator("#branches").click()
    const summary = page.locator("summary", { hasText: "branches of proposals" })
    await summary.waitFor()
    const ofProposals = page.locator(".branches bdi", { hasText: "chainstore-proposal/" })
    assert.isFalse(await ofProposals.first().isVisible(), "they are folded")
    await summary.press("Enter")
    await ofProposals.first().waitFor()
    await clean(page, "branches of proposals")
  })

  locally(
    "how many proposals there are is said whenever another state is shown, after a write, too",
    async () => {
      await propose("said", "said-1")
      const page = await proposals()
      await page.getByRole("button", { name: "Close said" }).click()
      await page.getByRole("button", { name: "Close proposal" }).click()
      await status(page).getByText("said is closed").waitFor()
      await page.getByRole("combobox", { name: "Show" }).selectOption("closed")
      await status(page)
        .getByText(/proposals? closed/)
        .waitFor()
    }
  )

  locally("an accepted proposal is listed with the documents that it changed", async () => {
    const { id } = await propose("accepted one", "accepted-1")
    await the.on.run(the.on.store.proposal(id).accept())
    await the.on.run(the.on.store.collection("enemy").insert({}, { id: "later" }))
    const page = await proposals("accepted")
    await page.getByRole("button", { name: "Changes in accepted one" }).click()
    await page.locator(".change-list .changes li, .change-list .quiet-text").first().waitFor()
    const listed = await page.locator(".change-list").innerText()
    assert.include(listed, "enemy/accepted-1")
    assert.notInclude(listed, "later")
  })

  it("J and K go from row to row and from document to document, and no key acts in a field", async () => {
    const { page } = await the.enter()
    await choose(page, "products")
    await page.locator("#results-title").focus()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.waitForFunction((id) => document.activeElement.id === id, `open-${productId(2)}`)
    await page.keyboard.press("k")
    await page.keyboard.press("Enter")
    await page.locator(".panel h2", { hasText: productId(1) }).waitFor()
    await page.keyboard.press("j")
    await page.locator(".panel h2", { hasText: productId(2) }).waitFor()
    await page.keyboard.press("k")
    await page.locator(".panel h2", { hasText: productId(1) }).waitFor()
    // Also where the open row is scrolled out of view, and by the buttons of the panel.
    await page.locator(".table-scroll").evaluate((table: Dom) => table.scrollTo(0, table.scrollHeight))
    await page.locator(`#open-${productId(1)}`).waitFor({ state: "detached" })
    await page.keyboard.press("j")
    await page.locator(".panel h2", { hasText: productId(2) }).waitFor()
    await page.locator(`#open-${productId(2)}`).waitFor()
    await page.getByRole("button", { name: "Next document" }).press("Enter")
    await page.locator(".panel h2", { hasText: productId(3) }).waitFor()
    for (const n of [2, 1]) {
      await page.getByRole("button", { name: "Previous document" }).click()
      await page.locator(".panel h2", { hasText: productId(n) }).waitFor()
    }
    await page.getByRole("button", { name: "Previous document" }).click()
    await status(page).getByText("There is no previous row").waitFor()
    await clean(page, "document")
    await page.keyboard.press("Escape")
    await page.getByLabel("Field of filter 1").focus()
    await page.keyboard.type("jk")
    assert.strictEqual(await page.getByLabel("Field of filter 1").inputValue(), "jk")
    await page.locator("#results-title").focus()
    await page.keyboard.press("Control+k")
    await page.locator(".palette input").waitFor()
    await clean(page, "palette")
    await page.keyboard.press("Escape")
    // What is in menus is found, too.
    await run(page, "height comp", /^Row height: compact/)
    await page.locator("table.compact").waitFor()
    assert.strictEqual(await focused(page), "columns")
    const saved = page.waitForEvent("download")
    await run(page, "save csv", /^Save as CSV/)
    assert.strictEqual((await saved).suggestedFilename(), "products.csv")
    await page.locator("#results-title").focus()
    await page.keyboard.press("Control+k")
    await page.locator(".palette input").waitFor()
    await page.keyboard.type("artcl")
    await page.keyboard.press("Enter")
    await page.locator("#results-title", { hasText: "articles" }).waitFor()
  })
})
