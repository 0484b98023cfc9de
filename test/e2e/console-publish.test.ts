// biome-ignore-all lint/performance/useDomNodeTextContent: innerText is what a person sees
import { Effect, Option } from "effect"
import type { Page, Route } from "playwright-core"
import { assert, it } from "vitest"
import type { JsonObject } from "../../src/domain/json/Json.js"
import { bothBuilds } from "../support/browser/BothBuilds.js"
import { editor, replace } from "../support/browser/Editor.js"
import { signIn } from "../support/browser/Stage.js"

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const localStorage: Dom
declare const location: Dom

bothBuilds("publishing from the console", (the) => {
  const put = (id: string, value: JsonObject) =>
    the.on.run(the.on.store.batch({}, (batch) => batch.put("shared", id, value)))

  const stored = (id: string): Promise<JsonObject | undefined> =>
    the.on.run(
      Effect.map(the.on.store.collection("shared").get(id, { fresh: true }), (found) => {
        if (Option.isNone(found)) return undefined
        const { _created_at, _id, _updated_at, ...rest } = found.value
        return rest
      })
    )

  const drafts = (page: Page): Promise<number> =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("chainstore.draft")).length)

  const enter = async (): Promise<Page> => {
    const { page } = await the.enter({ hash: "#table=shared" })
    await page.locator(".table tbody th").first().waitFor()
    return page
  }

  const open = async (page: Page, id: string) => {
    await page.evaluate((hash) => {
      location.hash = hash
    }, `#table=shared&document=${id}&panel=edit`)
    await page.locator(".panel h2", { hasText: id }).waitFor()
    await editor(page).waitFor()
  }

  const keep = async (page: Page, id: string, value: JsonObject) => {
    await open(page, id)
    await replace(page, JSON.stringify(value))
    await page.locator(".json-path", { hasText: "saved as a draft" }).waitFor()
  }

  const remove = async (page: Page, id: string) => {
    await open(page, id)
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByRole("heading", { name: "Marked for deletion" }).waitFor()
  }

  const review = async (page: Page) => {
    await page.getByRole("button", { name: "Review and publish" }).click()
    await page.locator(".reviewed").first().waitFor()
  }

  const publish = async (page: Page) => {
    await page.locator("#publish:enabled").click()
    await page.locator(".review .banner").waitFor()
  }

  it("of two browsers that write one document, in five pairs of cases, nobody overwrites the other unasked", async () => {
    const base = { title: "base", text: "base" }
    for (const id of ["fields", "field", "deleted", "edited"]) await put(id, base)
    const [first, second] = [await enter(), await enter()]
    await keep(first, "fields", { ...base, title: "first" })
    await keep(first, "field", { ...base, title: "first" })
    await keep(first, "edited", { ...base, title: "first" })
    await keep(first, "created", { title: "first" })
    await remove(first, "deleted")
    await keep(second, "fields", { ...base, text: "second" })
    await keep(second, "field", { ...base, title: "second" })
    await keep(second, "deleted", { ...base, title: "second" })
    await keep(second, "created", { title: "second" })
    await remove(second, "edited")
    // Both have seen a review without conflicts before either publishes.
    await review(first)
    await review(second)
    await second.locator("#publish:enabled").waitFor()
    await publish(first)
    await second.locator("#publish").click()
    await second.locator(".conflict").nth(3).waitFor()
    const shown = await second.locator(".reviewed").allInnerTexts()
    const of = (id: string) => shown.find((text) => text.startsWith(`shared/${id}`)) ?? ""
    assert.match(of("fields"), /merged/)
    assert.match(of("field"), /The same fields were changed[\s\S]*base\s+first\s+second/)
    assert.match(of("deleted"), /deleted after you started editing/)
    assert.match(of("edited"), /changed after you marked it for deletion/)
    assert.match(of("created"), /created in the meantime/)
    assert.isTrue(await second.locator("#publish").isDisabled())
    assert.deepStrictEqual(await stored("field"), { _rev: 2, ...base, title: "first" })
    assert.strictEqual(await drafts(second), 5)
    const decide = async (id: string, name: string) => {
      const card = second.getByRole("article", { name: `shared/${id}` })
      await card.getByRole("button", { name, exact: true }).click()
      await card.locator(".conflict").waitFor({ state: "detached" })
    }
    await decide("field", "Apply selection")
    await decide("deleted", "Take mine")
    await decide("edited", "Take theirs")
    await decide("created", "Take mine")
    await publish(second)
    assert.deepStrictEqual(await stored("fields"), { _rev: 3, title: "first", text: "second" })
    assert.deepStrictEqual(await stored("field"), { _rev: 3, ...base, title: "second" })
    assert.deepStrictEqual(await stored("deleted"), { _rev: 1, ...base, title: "second" })
    assert.deepStrictEqual(await stored("edited"), { _rev: 2, ...base, title: "first" })
    assert.deepStrictEqual(await stored("created"), { _rev: 2, title: "second" })
    assert.strictEqual(await drafts(second), 0)
  })

  it("where the branch refuses the commit, the same drafts are proposed instead", async () => {
    const { rules } = the.on.stub
    const own = the.build === "local"
    const { page } = await the.enter({
      api: "Limited",
      token: own ? the.on.hostToken : the.on.token,
      hash: "#table=products"
    })
    await page.locator(".table tbody th").first().waitFor()
    await page.locator("#new").click()
    await page.getByRole("textbox", { name: "Id", exact: true }).fill("refused")
    await page.keyboard.press("Enter")
    await editor(page).waitFor()
    await replace(page, JSON.stringify({ name: "refused" }))
    await page.locator(".json-path", { hasText: "saved as a draft" }).waitFor()
    await review(page)
    rules.protectedBranch = "main"
    try {
      await page.locator("#publish:enabled").click()
      await page.locator('.review .problem[data-kind="denied"]').waitFor()
      assert.strictEqual(await drafts(page), 1)
      const propose = page.getByRole("button", { name: "Propose instead" })
      await propose.press("Enter")
      await page
        .getByRole("textbox", { name: "Description" })
        .and(page.locator(":focus"))
        .fill("Please look.")
      assert.strictEqual(await page.locator(".review .problem").count(), 0)
      await page.getByRole("button", { name: "Propose", exact: true }).click()
      await page.locator(".review .banner", { hasText: "Proposed as" }).waitFor()
      assert.strictEqual(await drafts(page), 0)
      await page.getByRole("button", { name: "Show the proposals" }).click()
      await page.getByText("Please look.").waitFor()
    } finally {
      rules.protectedBranch = undefined
    }
  })

  const faults: Readonly<Record<string, (route: Route) => Promise<unknown>>> = {
    "offline from a request on": (route) => route.abort("internetdisconnected"),
    "a token that expires": (route) =>
      route.fulfill({
        status: 401,
        headers: { "access-control-allow-origin": "*" },
        json:
          the.build === "local"
            ? { error: "AuthError", message: "The session has ended." }
            : { message: "Bad credentials" }
      }),
    "a rate limit that is used up": (route) =>
      route.fulfill({
        status: 403,
        headers: {
          "access-control-allow-origin": "*",
          "access-control-expose-headers": "*",
          "x-ratelimit-remaining": "0",
          "x-ratelimit-limit": "5000",
          "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 3000)
        },
        json:
          the.build === "local"
            ? { error: "RateLimitError", message: "The rate limit is used up." }
            : { message: "API rate limit exceeded for user ID 1." }
      })
  }

  for (const [fault, answer] of Object.entries(faults))
    it(`in the middle of a publish, ${fault}: nothing is lost, and nothing is published twice`, async () => {
      await put("first", {})
      const page = await enter()
      // Each round fails later, until a publish has no such request any more.
      const step = fault.startsWith("offline") ? 1 : 5
      for (let from = 1, failed = true; failed; from += step) {
        const id = `${fault.replaceAll(" ", "-")}-${from}`
        await put(id, { title: "base" })
        await keep(page, id, { title: "once" })
        await review(page)
        await page.locator("#publish:enabled").waitFor()
        let asked = 0
        await page.route(
          (url) => the.on.isData(url.href),
          (route) =>
            the.on.isQuestion({ method: route.request().method(), url: route.request().url() }) &&
            ++asked >= from
              ? answer(route)
              : route.fallback()
        )
        await page.locator("#publish").click()
        await page.locator(".review .problem, .review .banner, #token").first().waitFor()
        failed = (await page.locator(".review .banner").count()) === 0
        await page.unrouteAll()
        assert.isAtMost(from, 20)
        if (!failed) {
          assert.isAbove(from, 1, "no request of the publish failed")
        } else {
          assert.strictEqual(await drafts(page), 1, `request ${from}`)
          assert.deepStrictEqual(await stored(id), { _rev: 1, title: "base" }, `request ${from}`)
          await page.reload()
          await page.locator("#token, .reviewed").first().waitFor()
          if (await page.locator("#token").isVisible()) await signIn(the.on, page)
          await publish(page)
        }
        assert.strictEqual(await drafts(page), 0, `request ${from}`)
        assert.deepStrictEqual(await stored(id), { _rev: 2, title: "once" }, `request ${from}`)
        if (the.build === "local") break
      }
    })
})
