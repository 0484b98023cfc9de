// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { assert, it, onTestFinished } from "vitest"
import type { JsonObject } from "../../src/domain/json/Json.js"
import { buildsInTurn } from "../support/browser/BothBuilds.js"
import { axe, focused, painted, visible } from "../support/browser/Chromium.js"
import { edit, editor, replace } from "../support/browser/Editor.js"
import { signIn, submit } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const localStorage: Dom
declare const Storage: Dom
declare const DOMException: Dom
declare const document: Dom
declare const dispatchEvent: Dom
declare const Event: Dom
declare const window: Dom
declare const location: Dom

buildsInTurn("drafts of the console", (the) => {
  const type = async (page: Page, text: string) => {
    await replace(page, text)
    await page.waitForTimeout(600)
  }

  const put = (id: string, value: JsonObject) =>
    the.on.run(the.on.store.batch({}, (batch) => batch.put("enemy", id, value)))

  /** Stores documents until the test is over, so that the table's first page stays that of all tests. */
  const putAll = async (ids: ReadonlyArray<string>, { batch } = the.on.store) => {
    await the.on.run(
      batch({}, (changes) =>
        Effect.forEach(ids, (id) => changes.put("enemy", id, { n: -1 }), { discard: true })
      )
    )
    onTestFinished(async () => {
      await the.on.run(
        batch({}, (changes) => Effect.forEach(ids, (id) => changes.delete("enemy", id), { discard: true }))
      )
    })
  }

  const enter = async (...ids: ReadonlyArray<string>) => {
    for (const id of ids) await put(id, { title: id })
    const watched = await the.enter({ hash: "#table=enemy" })
    await watched.page.locator(".table tbody th").first().waitFor()
    return watched
  }

  const fill = (page: Page) =>
    page.evaluate(() => {
      window.roomy ??= Storage.prototype.setItem
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError")
      }
    })

  const empty = (page: Page) =>
    page.evaluate(() => {
      Storage.prototype.setItem = window.roomy
    })

  const question = (page: Page) => page.getByRole("dialog", { name: "Discard unsaved changes?" })
  const stay = (page: Page) => page.getByRole("button", { name: "Stay" })
  const words = (page: Page) => page.locator(".json-path").innerText()

  /** Begins drafts and tells what the key of the last one is. */
  const draft = async (page: Page, id: string, text: string) => {
    await edit(page, id)
    await type(page, text)
    await page.locator(".json-path", { hasText: "draft" }).waitFor()
    await page.keyboard.press("Escape")
    await page.locator(".editing").waitFor({ state: "detached" })
  }

  // The hosted build asks no server of its own, and its edits have no bound.
  const locally = it.skipIf(the.build === "hosted")

  /** Types a text, which becomes a draft. */
  const keep = async (page: Page, text: string) => {
    await replace(page, text)
    await page.locator(".json-path", { hasText: "saved as a draft" }).waitFor()
  }

  const closeEditor = async (page: Page) => {
    await page.keyboard.press("Escape")
    await page.locator(".editing").waitFor({ state: "detached" })
  }

  const review = async (page: Page) => {
    await page.locator("#review").click()
    await page.locator(".reviewed").first().waitFor()
  }

  /** Changes a document's file as somebody without the store would. */
  const byHand = (id: string, change: (text: string) => string) => {
    const path = `data/enemy/${id}.json`
    const git = (args: ReadonlyArray<string>, input = "") =>
      execFileSync(
        "git",
        ["-C", the.on.repository, "-c", "user.name=Hand", "-c", "user.email=hand@example.com", ...args],
        {
          encoding: "utf8",
          input,
          env: { ...process.env, GIT_INDEX_FILE: join(the.on.repository, "by-hand") }
        }
      ).trim()
    const before = git(["show", `main:${path}`])
    const after = change(before)
    if (after === before) return before
    git(["read-tree", "main"])
    const blob = git(["hash-object", "-w", "--stdin"], `${after}\n`)
    git(["update-index", "--add", "--cacheinfo", `100644,${blob},${path}`])
    git([
      "update-ref",
      "refs/heads/main",
      git(["commit-tree", git(["write-tree"]), "-p", "main", "-m", "by hand"])
    ])
    return after
  }

  const load = async (page: Page, name: string, text: string) => {
    await page.locator("#import").click()
    await page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(text) })
    await page.getByRole("combobox", { name: "Id field" }).waitFor()
  }

  the.inBoth("with a full storage, no way out of the editor loses what was typed unasked", async () => {
    const { page } = await enter("full-1", "full-2")
    await edit(page, "full-1")
    await fill(page)
    await type(page, '{"title": "precious"}')
    assert.notMatch(await words(page), /No changes|saved as a draft/)
    const address = page.url()
    const steps = await page.evaluate(() => window.history.length)
    const remains = async (way: string) => {
      await question(page).waitFor({ timeout: 5000 })
      await stay(page).click()
      await question(page).waitFor({ state: "detached" })
      assert.include(await editor(page).innerText(), "precious", way)
      await page.waitForFunction((before) => location.href === before, address)
    }
    const ways: Readonly<Record<string, () => Promise<unknown>>> = {
      close: () => page.getByRole("button", { name: "Close the editor" }).click(),
      review: () => page.getByRole("button", { name: "Review and publish" }).click(),
      duplicate: () => page.getByRole("button", { name: "Duplicate" }).click(),
      "another document": () => page.locator("#open-full-2").click(),
      "another collection": () =>
        page
          .getByRole("navigation", { name: "Collections" })
          .getByRole("button", { name: "products" })
          .click(),
      timeline: () => page.locator("#timeline").click(),
      "Escape beside it": async () => {
        await page.locator("#open-full-2").focus()
        await page.keyboard.press("Escape")
      },
      "sign-out": () => page.getByRole("button", { name: "Sign out" }).click(),
      "an address by hand": () =>
        page.evaluate(() => {
          location.hash = location.hash.replace("panel=edit", "panel=timeline")
        }),
      "a way forward": () => page.evaluate(() => window.history.forward()),
      back: () => page.evaluate(() => window.history.back()),
      "back twice": () => page.evaluate(() => window.history.go(-2))
    }
    const ended = async () => {
      const json = { error: "AuthError", message: "The session has ended." }
      await page.route(
        (url) => the.on.isData(url.href),
        (route) => route.fulfill({ status: 401, json })
      )
      await page.getByRole("button", { name: "Refresh" }).click()
      await question(page).waitFor()
      await page.unrouteAll()
    }
    const all = the.build === "local" ? { ...ways, "an ended session": ended } : ways
    for (const [way, take] of Object.entries(all)) {
      await take()
      await remains(way)
    }
    assert.strictEqual(
      await page.evaluate(() => window.history.length),
      steps + 1,
      "the address by hand alone"
    )
    const closed = await page.evaluate(() => {
      const event = new Event("beforeunload", { cancelable: true })
      dispatchEvent(event)
      return event.defaultPrevented
    })
    assert.isTrue(closed, "closing the tab")

    await page.goBack()
    await page.getByRole("button", { name: "Leave the editor" }).click()
    await page.locator("#edit").waitFor()
    assert.notInclude(page.url(), "panel=edit")
    await page.goForward()
    await editor(page).waitFor()
    assert.strictEqual(page.url(), address)
    assert.notInclude(await editor(page).innerText(), "precious")

    await type(page, '{"title": "precious"}')
    await page.getByRole("button", { name: "Close the editor" }).click()
    await page.getByRole("button", { name: "Leave the editor" }).click()
    await page.locator(".editing").waitFor({ state: "detached" })
    await page.waitForFunction(() => document.activeElement.id === "open-full-1")
  })

  it("with a full storage, the question is asked for everybody, and the focus goes back to the text", async () => {
    const { page } = await enter("full-5")
    await edit(page, "full-5")
    await type(page, '{"title": "first"}')
    await page.locator(".json-path", { hasText: "saved as a draft" }).waitFor()
    await fill(page)
    await type(page, '{"title": "precious"}')
    assert.notMatch(await words(page), /saved as a draft/, "an earlier text was")
    assert.deepStrictEqual(await axe(page, "light"), [])
    assert.deepStrictEqual(await axe(page, "dark"), [])
    await page.keyboard.press("Control+Enter")
    await question(page).waitFor()
    assert.deepStrictEqual(await axe(page, "light"), [])
    assert.deepStrictEqual(await axe(page, "dark"), [])
    const reached = new Set<string>()
    for (let i = 0; i < 5; i++) {
      // From the last button the focus goes to the browser itself, where the body stands for it.
      const behind = await page.evaluate(
        () => document.activeElement !== document.body && document.activeElement.closest("dialog") === null
      )
      assert.isFalse(behind, "the focus is behind the question")
      reached.add(await focused(page))
      await page.keyboard.press("Tab")
    }
    assert.includeMembers([...reached], ["Stay", "Leave the editor"])
    await page.setViewportSize({ width: 320, height: 640 })
    await page.emulateMedia({ forcedColors: "active" })
    await painted(page)
    const shown = await question(page).evaluate((dialog: Dom) => ({
      sideways:
        document.documentElement.scrollWidth -
        document.documentElement.clientWidth +
        dialog.scrollWidth -
        dialog.clientWidth,
      frames: [dialog, ...dialog.querySelectorAll("button")].map(
        (one) => window.getComputedStyle(one).borderTopStyle
      ),
      heights: [...dialog.querySelectorAll("button")].map((one) => one.getBoundingClientRect().height >= 24)
    }))
    assert.deepStrictEqual(shown, {
      sideways: 0,
      frames: ["solid", "solid", "solid"],
      heights: [true, true]
    })
    await page.emulateMedia({ forcedColors: "none" })
    await page.setViewportSize({ width: 1360, height: 820 })
    await page.keyboard.press("Escape")
    await question(page).waitFor({ state: "detached" })
    await page.keyboard.press("Control+End")
    await page.keyboard.insertText(" typed on")
    assert.include(await editor(page).innerText(), "precious")
    assert.include(await editor(page).innerText(), "typed on")

    await empty(page)
    await page.getByRole("button", { name: "Close the editor" }).click()
    await page.locator(".editing").waitFor({ state: "detached" })
    assert.strictEqual(await page.locator("dialog[open]").count(), 0, "asked although there is room")
    const kept = await page.evaluate(() =>
      Object.keys(localStorage)
        .filter((key) => key.startsWith("chainstore.draft"))
        .map((key) => localStorage.getItem(key))
    )
    assert.include(kept.join(), "typed on")
  })

  it("with a full storage, a new draft is not announced as begun, and that there is no room is told in sight", async () => {
    const { page } = await enter("full-3")
    await fill(page)
    await page.getByRole("button", { name: "New", exact: true }).click()
    await page.getByRole("textbox", { name: "Id", exact: true }).fill("never-kept")
    await page.getByRole("button", { name: "Create draft" }).click()
    await page.locator("[role=alert]", { hasText: "storage is full" }).waitFor()
    const said = await page.locator("[aria-live]").allInnerTexts()
    assert.notMatch(said.join(" "), /Draft of never-kept created/)
    assert.match(await visible(page), /storage is full/)
  })

  it("with a full storage, a decision of a conflict that is not kept is told", async () => {
    const { page } = await enter("full-4")
    await draft(page, "full-4", '{"title": "mine"}')
    await put("full-4", { title: "theirs" })
    await page.locator("#review").click()
    await page.locator(".conflict").waitFor()
    await fill(page)
    await page.getByRole("button", { name: /Apply selection/ }).click()
    await page.waitForTimeout(700)
    const said = await page.locator("[aria-live=assertive], [role=alert]").allInnerTexts()
    assert.notStrictEqual(said.join("").trim(), "", "nothing happened and nothing was said")
  })

  it("a duplicate under the id of a draft tells in sight that it is taken", async () => {
    const { page } = await enter("dup-1", "dup-2")
    await draft(page, "dup-2", '{"title": "another"}')
    await edit(page, "dup-1")
    await type(page, '{"title": "to be copied"}')
    await page.getByRole("button", { name: "Duplicate" }).click()
    await page.getByRole("textbox", { name: "Id", exact: true }).fill("dup-2")
    await page.getByRole("button", { name: "Duplicate as a draft" }).click()
    await page.locator("[role=alert]", { hasText: "already" }).waitFor()
    assert.match(await visible(page), /A draft of dup-2 already exists/)
  })

  // The hosted build asks no server of its own.
  it.skipIf(the.build === "hosted")(
    "who stays in the editor after the session has ended is not asked again each minute",
    async () => {
      await put("ended-1", { title: "ended" })
      const { page } = await the.visit()
      await page.clock.install()
      await submit(the.on, page, { hash: "#table=enemy" })
      await page.locator(".table tbody th").first().waitFor()
      await edit(page, "ended-1")
      await fill(page)
      await replace(page, '{"title": "precious"}')
      await page.locator(".banner", { hasText: "storage is full" }).waitFor()
      const json = { error: "AuthError", message: "The session has ended." }
      await page.route(
        (url) => the.on.isData(url.href),
        (route) => route.fulfill({ status: 401, json })
      )
      await page.getByRole("button", { name: "Refresh" }).click()
      await question(page).waitFor()
      await stay(page).click()
      await question(page).waitFor({ state: "detached" })
      const asked = page.waitForResponse((response) => response.url().includes("/api/newer"))
      await page.clock.fastForward(61_000)
      await asked
      await page.waitForTimeout(500)
      assert.strictEqual(await question(page).count(), 0, "asked again, although nobody went anywhere")
    }
  )

  it("a draft whose new review failed is listed, and cannot be published by the old one", async () => {
    const { page } = await enter("stale-1")
    await draft(page, "stale-1", '{"title": "reviewed"}')
    await page.locator("#review").click()
    await page.locator(".reviewed", { hasText: "reviewed" }).waitFor()
    await page.locator("#publish:not([disabled])").waitFor()
    await page.route(
      (url) => the.on.isData(url.href),
      (route) => route.abort()
    )
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find((one) => one.startsWith("chainstore.draft"))!
      const value = JSON.parse(localStorage.getItem(key))
      localStorage.setItem(key, JSON.stringify({ ...value, text: '{"title": "never seen"}', stamp: "other" }))
      const added = { ...value, id: "stale-2", base: null, text: "{}", stamp: "added" }
      localStorage.setItem(key.replace("stale-1", "stale-2"), JSON.stringify(added))
      dispatchEvent(new Event("storage"))
    })
    await page
      .locator(".review .problem")
      .first()
      .waitFor({ timeout: 20_000 })
      .catch(() => undefined)
    await page.unrouteAll()
    assert.notInclude(await page.locator(".review").innerText(), "never seen")
    assert.isTrue(await page.locator("#publish").isDisabled(), "what nobody has seen can be published")
    for (const id of ["stale-1", "stale-2"]) {
      const ways = await page.getByRole("button", { name: `Discard the draft of enemy/${id}` }).count()
      assert.strictEqual(ways, 1, `the draft of ${id} is listed`)
    }
  })

  the.inBoth("more drafts than are published together can be discarded or edited one by one", async () => {
    const { page } = await enter("big-1")
    await draft(page, "big-1", '{"title": "mine"}')
    await page.evaluate((much: boolean) => {
      const key = Object.keys(localStorage).find((one) => one.startsWith("chainstore.draft"))!
      const value = JSON.parse(localStorage.getItem(key))
      const add = (id: string, text: string) =>
        localStorage.setItem(
          key.replace("big-1", id),
          JSON.stringify({ ...value, id, base: null, text, stamp: id })
        )
      if (much) for (let i = 0; i < 501; i++) add(`many-${i}`, "{}")
      else for (let i = 0; i < 4; i++) add(`big-new-${i}`, JSON.stringify({ text: "x".repeat(100_000) }))
      dispatchEvent(new Event("storage"))
    }, the.build === "hosted")
    await page.locator("#review").click()
    await page.locator(".review .problem, .reviewed").first().waitFor()
    await page.waitForTimeout(500)
    const ways = await page.getByRole("button", { name: /^(Edit|Discard the draft of) / }).count()
    assert.isAbove(ways, 0, "no draft is listed, so none can be taken out")
  })

  it("Ctrl+K opens the palette right after the sign-in", async () => {
    const { page } = await enter("pal-2")
    await page.keyboard.press("Control+k")
    await page.waitForTimeout(1500)
    const at = await page.evaluate(() => document.activeElement.outerHTML.slice(0, 120))
    assert.strictEqual(await page.locator(".palette").count(), 1, `the focus is at ${at}`)
  })

  it("“Keep the document” brings back the draft that “Delete” replaced, also in an editor that was closed meanwhile", async () => {
    const { page } = await enter("del-1")
    await edit(page, "del-1")
    await keep(page, '{"title": "precious"}')
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByRole("heading", { name: "Marked for deletion" }).waitFor()
    await closeEditor(page)
    await page.locator("#open-del-1").click()
    await page.locator("#edit").click()
    await page.getByRole("button", { name: "Keep the document" }).click()
    await editor(page).waitFor()
    assert.include(await editor(page).innerText(), "precious")
  })

  it("why something is proposed stays when somebody looks at publishing it instead", async () => {
    const { page } = await enter("why-1")
    await edit(page, "why-1")
    await keep(page, '{"title": "why"}')
    await review(page)
    const proposed = page.getByRole("checkbox", { name: /Propose the changes/ })
    await proposed.check()
    await page.getByRole("textbox", { name: "Description" }).fill("A reason of many words.")
    await proposed.uncheck()
    await proposed.check()
    assert.strictEqual(
      await page.getByRole("textbox", { name: "Description" }).inputValue(),
      "A reason of many words."
    )
  })

  it("message and reason stay when somebody looks at the proposals first, as the review tells them to", async () => {
    const { page } = await enter("why-2")
    await edit(page, "why-2")
    await keep(page, '{"title": "why"}')
    await review(page)
    await page.getByRole("textbox", { name: "Message" }).fill("what was typed")
    await page.getByRole("checkbox", { name: /Propose the changes/ }).check()
    await page.getByRole("textbox", { name: "Description" }).fill("A reason of many words.")
    await page.locator("#proposals").click()
    await page.getByRole("combobox", { name: "Show" }).waitFor()
    await review(page)
    assert.strictEqual(await page.getByRole("textbox", { name: "Message" }).inputValue(), "what was typed")
  })

  it("rows that an import leaves out because of other drafts are told in sight, in the review, too", async () => {
    const { page } = await enter("left-1")
    await edit(page, "left-1")
    await keep(page, '{"title": "mine"}')
    await closeEditor(page)
    await load(page, "x.csv", "id,title\nleft-1,theirs\nleft-2,new\n")
    await page.getByText("2 documents, 1 of which already have drafts and are skipped.").waitFor()
    await page.getByRole("button", { name: "Create 1 draft" }).click()
    await page.locator(".reviewed").nth(1).waitFor()
    await page.waitForTimeout(1000)
    assert.match(await visible(page), /skipped|storage is full|1 row/)
  })

  it("rows that an import leaves out because the browser is full are told in sight, in the review, too", async () => {
    const { page } = await enter("left-3")
    await load(page, "x.csv", "id,title\nfits-1,new\nfits-not-2,new\n")
    await page.evaluate(() => {
      const setItem = Storage.prototype.setItem
      Storage.prototype.setItem = function (this: Dom, key: string, value: string) {
        if (key.includes("fits-not")) throw new DOMException("full", "QuotaExceededError")
        setItem.call(this, key, value)
      }
    })
    await page.getByRole("button", { name: "Create 2 drafts" }).click()
    await page.locator(".reviewed").first().waitFor()
    await page.waitForTimeout(1000)
    assert.match(await visible(page), /skipped|storage is full|1 of 2/)
  })

  locally("an import begins no more drafts than can be reviewed and published together", async () => {
    const { page } = await enter("much-1")
    const rows = Array.from({ length: 300 }, (_, n) =>
      JSON.stringify({ id: `m-${n}`, text: "x".repeat(1000) })
    )
    await load(page, "x.ndjson", rows.join("\n"))
    const begin = page.getByRole("button", { name: "Create 300 drafts" })
    if (await begin.isEnabled()) {
      await begin.click()
      await page.locator(".review .problem, .reviewed").first().waitFor({ timeout: 60_000 })
      await page.waitForTimeout(1000)
      assert.strictEqual(
        await page
          .locator(".review .problem")
          .allInnerTexts()
          .then((all) => all.join()),
        "",
        "300 drafts were begun that can neither be reviewed nor be discarded together"
      )
    }
  })

  locally("a row whose document has a draft counts as this draft, which may be larger", async () => {
    const { page } = await enter("much-2")
    await load(page, "x.json", JSON.stringify([{ id: "large-1", text: "x".repeat(200_000) }]))
    await page.getByRole("button", { name: "Create 1 draft" }).click()
    await page.locator(".reviewed").first().waitFor()
    await page.keyboard.press("Escape")
    const rows = [
      { id: "large-1", text: "small" },
      ...[1, 2].map((n) => ({ id: `large-2-${n}`, text: "x".repeat(40_000) }))
    ]
    await load(page, "y.json", JSON.stringify(rows))
    await page
      .getByText(/The drafts have 2\d\d KiB .*and at most 240 KiB can be published together/)
      .waitFor()
    assert.isTrue(await page.getByRole("button", { name: "Create 2 drafts" }).isDisabled())
  })

  it("an imported number is the one of the file: -0.0 stays what the command line would store", async () => {
    const { page } = await enter("zero-1")
    await load(page, "x.json", '[{"id": "zero-2", "n": -0.0, "price": 1.10}]')
    await page.getByRole("button", { name: "Create 1 draft" }).click()
    await page.locator(".reviewed").first().waitFor()
    const kept = await page.evaluate(() =>
      Object.keys(localStorage)
        .filter((key) => key.includes("zero-2"))
        .map((key) => localStorage.getItem(key))
        .join()
    )
    assert.match(JSON.parse(kept).text, /"n": -0/)
  })

  locally(
    "who leaves the review while it proposes is asked, and told in the next review that the proposal may be there",
    async () => {
      const { page } = await enter("gone-1")
      await edit(page, "gone-1")
      await keep(page, '{"title": "gone"}')
      await review(page)
      await page.getByRole("checkbox", { name: /Propose the changes/ }).check()
      let answered: () => void = () => undefined
      const done = new Promise<void>((resolve) => {
        answered = resolve
      })
      await page.route("**/api/propose", async (route) => {
        await route.fetch()
        answered()
        await new Promise((resolve) => setTimeout(resolve, 2000))
        await route.abort().catch(() => undefined)
      })
      await page.getByRole("button", { name: "Propose", exact: true }).click()
      await done
      await page.getByRole("button", { name: "Close the review" }).click()
      const question = page.getByRole("dialog", { name: "Leave while the proposal is being created?" })
      await question.waitFor()
      assert.include(await question.innerText(), "may still be created")
      assert.deepStrictEqual(await axe(page, "light"), [])
      await page.getByRole("button", { name: "Leave", exact: true }).click()
      await page.locator(".review").waitFor({ state: "detached" })
      await review(page)
      assert.include(await page.locator(".review .banner").innerText(), "may have been proposed already")
    }
  )

  the.inBoth(
    "drafts are found again by who writes the data root with a slash at its end, or the repository in other letters",
    async () => {
      const { page } = await enter("root-1")
      await edit(page, "root-1")
      await keep(page, '{"title": "precious"}')
      await closeEditor(page)
      await page.locator("#review").waitFor()
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.getByRole("button", { name: "Keep and sign out" }).click()
      await page.getByLabel("Data root").fill("data/")
      // The local build opens a directory by its name, whose letters count.
      await signIn(the.on, page, the.build === "hosted" ? { repo: "Test/Shop" } : {})
      await page.locator(".bench").waitFor()
      await page.waitForTimeout(500)
      assert.strictEqual(await page.locator("#review").count(), 1, "the draft is nowhere")
    }
  )

  it("what another tab keeps of its settings is no reason to review all drafts anew", async () => {
    const { page, requests } = await enter("again-1")
    await edit(page, "again-1")
    await keep(page, '{"title": "reviewed"}')
    await review(page)
    await page.locator("#publish:not([disabled])").waitFor()
    const other = await page.context().newPage()
    await other.goto(the.on.url)
    await other.waitForTimeout(1500)
    const before = requests.filter(the.on.isQuestion).length
    await other.evaluate(() => localStorage.setItem("chainstore.editor", "json"))
    await page.waitForTimeout(2000)
    const asked = requests.filter(the.on.isQuestion).slice(before)
    await other.close()
    assert.deepStrictEqual(
      asked.map(({ url }) => url),
      []
    )
  })

  it("an import of many rows tells its cost, keeps its drafts when a tenth of the limit is left, and goes on", async () => {
    const names = Array.from({ length: 200 }, (_, n) => `many-${n}`)
    await putAll(names, the.on.hostStore)
    const { page } = await the.enter({
      api: "Limited",
      token: the.on.hostToken,
      hash: "#table=enemy"
    })
    // The table reads documents, too.
    await page.locator(".table tbody th").first().waitFor()
    const { budget, counted: asked } = the.on.stub
    budget.remaining = 4000
    await load(page, "many.ndjson", names.map((_id, n) => JSON.stringify({ _id, n })).join("\n"))
    await page
      .getByText("Reading 200 documents takes up to 206 requests. 4,000 of 5,000 requests are left.")
      .waitFor()
    budget.remaining = 580
    await page.getByRole("button", { name: "Create 200 drafts" }).click()
    await page.getByRole("heading", { name: "a tenth of the rate limit is reserved" }).waitFor()
    await page.getByText("100 drafts created before that.").waitFor()
    budget.remaining = 4000
    const before = asked()
    await page.getByRole("button", { name: "Create 100 drafts" }).click()
    await page.locator(".reviewed").nth(199).waitFor({ timeout: 60_000 })
    // Each document was asked for once, by the import: the review asks for the head alone.
    assert.isAtMost(asked() - before, 120)
    await page.getByText("100 rows skipped: their documents already have drafts.").waitFor()
    budget.remaining = 400
    await page.getByRole("button", { name: "Review again" }).click()
    await page.getByRole("heading", { name: "a tenth of the rate limit is reserved" }).waitFor()
    await page.getByRole("button", { name: "Review anyway" }).click()
    await page
      .getByRole("heading", { name: "a tenth of the rate limit is reserved" })
      .waitFor({ state: "detached", timeout: 60_000 })
  })

  it("an import that is closed says how many drafts it made", async () => {
    const names = Array.from({ length: 60 }, (_, n) => `closed-${n}`)
    await putAll(names)
    const { page } = await the.enter({ hash: "#table=products" })
    const isHeld = (text: string | null) => text?.includes("closed-55") === true
    await page.route(/./, (route) => {
      const request = route.request()
      return isHeld(request.url()) || isHeld(request.postData()) ? undefined : route.continue()
    })
    await load(page, "closed.ndjson", names.map((_id) => JSON.stringify({ _id })).join("\n"))
    await page.getByLabel("Collection", { exact: true }).last().fill("enemy")
    await page.getByRole("button", { name: "Create 60 drafts" }).click()
    await page.locator("progress[value='50']").waitFor()
    await page.getByRole("button", { name: "Close the import" }).click()
    await page.getByText("Cancelled. 50 drafts created.").waitFor()
  })

  it("what is chosen for a field of a conflict is not taken for another field when the review is looked at again", async () => {
    await put("choice-1", { a: 1, b: 1, c: 1 })
    const { page } = await enter()
    await edit(page, "choice-1")
    await keep(page, '{"a": 2, "b": 2, "c": 2}')
    await closeEditor(page)
    await put("choice-1", { a: 1, b: 3, c: 3 })
    await page.locator("#review").click()
    const row = (field: string) =>
      page
        .locator(".conflict tbody tr")
        .filter({ has: page.getByRole("rowheader", { name: field, exact: true }) })
    await row("b").getByRole("radio").first().check()
    await put("choice-1", { a: 3, b: 3, c: 3 })
    await page.getByRole("button", { name: "Review again" }).click()
    await row("a").waitFor()
    assert.isFalse(await row("a").getByRole("radio").first().isChecked(), "theirs was chosen of b, not of a")
  })

  it("both sides of a conflict of texts or lists are taken, and no digit is", async () => {
    await put("both-1", { title: "base", tags: ["x"], prices: [1.5], n: 1, kept: 0 })
    const { page } = await enter()
    await edit(page, "both-1")
    await keep(page, '{"title": "mine", "tags": ["x", "m"], "prices": [2.5], "n": 2, "kept": 1e0}')
    await closeEditor(page)
    await put("both-1", { title: "theirs", tags: ["x", "t"], prices: [3.5], n: 3, kept: 0 })
    await page.locator("#review").click()
    const row = (field: string) =>
      page
        .locator(".conflict tbody tr")
        .filter({ has: page.getByRole("rowheader", { name: field, exact: true }) })
    await row("title").waitFor()
    for (const [field, sides] of [
      ["title", 3],
      ["tags", 3],
      ["prices", 2],
      ["n", 2]
    ] as const)
      assert.strictEqual(await row(field).getByRole("radio").count(), sides, field)
    for (const field of ["title", "tags"]) await row(field).getByRole("radio").nth(2).check()
    await row("n").getByRole("radio").first().check()
    assert.deepStrictEqual(await axe(page, "light"), [])
    await page.getByRole("button", { name: "Apply selection" }).click()
    await page.locator(".conflict").waitFor({ state: "detached" })
    await page.locator("#publish:not([disabled])").click()
    await page.locator(".banner", { hasText: "Published as commit" }).waitFor()
    const stored = await the.on.run(the.on.store.collection("enemy").get("both-1"))
    const { kept, n, prices, tags, title } = stored._tag === "Some" ? stored.value : ({} as JsonObject)
    assert.deepStrictEqual(
      { kept, n, prices, tags, title },
      { kept: 1, n: 3, prices: [2.5], tags: ["x", "t", "m"], title: "theirs\nmine" }
    )
  })

  it("what is typed after a conflict was decided is not replaced by the decision", async () => {
    await put("later-1", { title: "base", n: 1 })
    await put("later-2", { title: "base", n: 1 })
    const { page } = await enter()
    for (const id of ["later-1", "later-2"]) {
      await edit(page, id)
      await keep(page, '{"title": "mine", "n": 1}')
      await closeEditor(page)
      await put(id, { title: "theirs", n: 1 })
    }
    await review(page)
    for (const left of [1, 0]) {
      await page.locator(".conflict").nth(left).waitFor()
      const first = page.locator(".conflict").first()
      await first.locator("tr", { hasText: "title" }).getByRole("radio").first().check()
      await first.getByRole("button", { name: "Apply selection" }).click()
      await page.locator(".conflict").nth(left).waitFor({ state: "detached" })
    }
    await page.getByRole("button", { name: "Edit enemy/later-1" }).click()
    await editor(page).waitFor()
    await keep(page, '{"title": "later", "n": 1}')
    await closeEditor(page)
    await page.getByRole("checkbox", { name: /later-2/ }).check()
    await page.getByRole("button", { name: "Change or delete" }).click()
    await page.getByRole("combobox", { name: "Field" }).fill("title")
    await page.getByRole("textbox", { name: "Value", exact: true }).fill("later")
    await page.getByRole("button", { name: "Create 1 draft" }).click()
    await page.locator(".conflict").nth(1).waitFor()
    for (const at of [0, 1])
      assert.match(
        await page.locator(".conflict tr", { hasText: "title" }).nth(at).innerText(),
        /base\s+theirs\s+later/
      )
  })

  it("a draft whose conflict is edited keeps the digits that were typed and that are stored", async () => {
    await put("digits-1", { title: "first", price: 7 })
    byHand("digits-1", (text) => text.replace(/"price":\s*7/, '"price": 7.10'))
    const { page } = await enter()
    await edit(page, "digits-1")
    assert.include(await editor(page).innerText(), '"price": 7.10')
    await keep(page, '{"title": "mine", "price": 7.10, "typed": 1.50}')
    await closeEditor(page)
    byHand("digits-1", (text) => text.replace('"first"', '"theirs", "big": 12345678901234567890'))
    await page.locator("#review").click()
    await page.locator(".conflict").getByRole("button", { name: "Edit", exact: true }).click()
    await editor(page).waitFor()
    const shown = await editor(page).innerText()
    assert.notInclude(shown, "12345678901234567000", "a stored number is rounded")
    assert.include(shown, '"price": 7.10')
    assert.include(shown, '"typed": 1.50')
  })
})
