import { ManagedRuntime } from "effect"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { axe, executable, launch, open } from "../support/browser/Chromium.js"
import { ConsoleService, layer } from "../support/browser/ConsoleService.js"

// What runs in the page sees a DOM; this file does not.
declare const document: any

const runtime = ManagedRuntime.make(layer())
let url: string

beforeAll(async () => {
  url = (await runtime.runPromise(ConsoleService)).url
})
afterAll(() => runtime.dispose())

const matches = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, one = ""]) => one)

describe("the API reference", () => {
  it("has every page, place and file that its pages lead to, of this service alone", async () => {
    const pages = new Map<string, string>()
    const assets = new Set<string>()
    const visit = async (path: string): Promise<void> => {
      if (pages.has(path)) return
      const reply = await fetch(url + path)
      const text = await reply.text()
      assert.strictEqual(reply.status, 200, `${path}: run \`npm run docs\`\n${text.slice(0, 200)}`)
      assert.notInclude(reply.headers.get("content-security-policy") ?? "unsafe", "unsafe")
      pages.set(path, text)
      for (const href of matches(text, /<a href="([^"#]+)[^"]*"/g)) {
        const target = new URL(href, url + path)
        assert.strictEqual(target.origin, url, `${path} -> ${href}`)
        await visit(target.pathname)
      }
      for (const asset of matches(text, /<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g))
        assets.add(new URL(asset, url + path).pathname)
    }
    await visit("/docs/api/")
    assert.isAbove(pages.size, 40)
    for (const asset of assets) assert.strictEqual((await fetch(url + asset)).status, 200, asset)

    const idsOf = new Map([...pages].map(([path, text]) => [path, matches(text, / id="([^"]+)"/g)]))
    const search: ReadonlyArray<readonly [name: string, module: string, href: string]> = JSON.parse(
      await (await fetch(`${url}/docs/api/search.json`)).text()
    )
    const links = [...pages].flatMap(([path, text]) =>
      matches(text, /<a href="([^"]+)"/g).map((href) => [path, href] as const)
    )
    assert.isAbove(links.length, 4_000)
    const lost = [...links, ...search.map(([, , href]) => ["/docs/api/", href] as const)].filter(
      ([path, href]) => {
        const { hash, pathname } = new URL(href, url + path)
        const ids = idsOf.get(pathname)
        return ids === undefined || (hash !== "" && !ids.includes(decodeURIComponent(hash.slice(1))))
      }
    )
    assert.deepStrictEqual(lost, [])
    for (const [path, ids] of idsOf) assert.lengthOf(ids, new Set(ids).size, path)
    const names = search.map(([name]) => name)
    for (const name of [
      "Chain.execute",
      "ChainBuilder.make",
      "Collection.define",
      "openLocal",
      "ChainLaws.check"
    ])
      assert.include(names, name)
  })

  it("is asked for again only when it has changed", async () => {
    const first = await fetch(`${url}/docs/api`)
    assert.deepStrictEqual([first.status, first.url], [200, `${url}/docs/api/`])
    const etag = first.headers.get("etag") ?? ""
    const again = await fetch(first.url, { headers: { "if-none-match": etag } })
    assert.strictEqual(again.status, 304)
    assert.strictEqual((await fetch(`${url}/docs/api/missing.html`)).status, 404)
  })
})

describe.skipIf(executable === undefined)("the API reference in a browser", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  it("is reached from /docs, and finds what is typed, by keyboard", async () => {
    const { close, errors, page, violations } = await open(browser)
    await page.goto(`${url}/docs`)
    await page.getByRole("link", { name: "Reference of the libraries" }).click()
    for (const [typed, name, text] of [
      ["collection.define", "define", "Defines a collection: its name, schema, indexes and manifest."],
      ["ChainBuilder.make", "make", "A builder without steps"]
    ] as const) {
      await page.getByLabel("Search").focus()
      await page.keyboard.press("ControlOrMeta+a")
      await page.keyboard.type(typed)
      await page.getByRole("search").getByRole("link").first().waitFor()
      await page.keyboard.press("Tab")
      await page.keyboard.press("Enter")
      await page.waitForURL(new RegExp(`#${name}$`))
      assert.include((await page.locator(":target ~ p").first().textContent()) ?? "", text)
    }
    await page.getByLabel("Search").fill("nothing is called this")
    await page.getByText("0 found").waitFor()
    assert.deepStrictEqual({ errors, violations }, { errors: [], violations: [] })
    await close()
  })

  it("axe finds nothing, light or dark; a phone does not scroll sideways", async () => {
    const { close, page } = await open(browser)
    for (const path of ["", "chainstore/chain/namespaces/Policy.html", "chainstore/local/index.html"]) {
      await page.goto(`${url}/docs/api/${path}`)
      await page.locator("summary").click()
      await page.getByLabel("Search").fill("retry")
      await page.getByRole("status").filter({ hasText: /found/ }).waitFor()
      for (const colours of ["light", "dark"] as const)
        assert.deepStrictEqual(await axe(page, colours), [], `${path}, ${colours}`)
      await page.setViewportSize({ width: 320, height: 800 })
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      assert.isAtMost(width, 320, path)
      await page.setViewportSize({ width: 1360, height: 820 })
    }
    await close()
  })
})
