import { createHash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { areTaken, painted } from "./Chromium.js"
import { type Comparison, comparePictures, toWebp } from "./ComparePictures.js"

// What runs in the page sees a DOM; this file does not.
declare const document: any
declare const NodeFilter: any

const references = fileURLToPath(new URL("../../e2e/screenshots", import.meta.url))
const rendererFile = join(references, "renderer.txt")

const sizes = [
  [1440, 900],
  [1024, 768],
  [768, 1024],
  [390, 844]
] as const

/** The browser context of every picture: what the machine and the time of day would change is fixed. */
export const pictured: BrowserContextOptions = {
  viewport: { width: 1440, height: 900 },
  // A quarter of the bytes, and still every line, column and word.
  deviceScaleFactor: 0.5,
  reducedMotion: "reduce",
  locale: "en-US",
  timezoneId: "UTC"
}

/**
 * Replaces what differs in each run: short ids of commits, ULIDs, durations, what is left of a rate limit, and the number
 * of executions of which a mean is shown.
 */
const withoutVarying = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    // The playground has numbers of seven digits, and shows no commits.
    const isConsole = document.querySelector(".bench") !== null
    const steady = (text: string) => {
      const withoutIds = text.replace(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, "01JBZZZZZZZZZZZZZZZZZZZZZZ")
      return (isConsole ? withoutIds.replace(/\b[0-9a-f]{7}\b/g, "1234567") : withoutIds)
        .replace(/(under )?\b[\d.,]+ (µs|ms)/g, "12 µs")
        .replace(/[\d,]+ of 5,000 requests/, "4,000 of 5,000 requests")
    }
    for (const left of document.querySelectorAll("[data-remaining]"))
      left.textContent = "4,000 / 5,000 · resets 10:00 AM"
    while (texts.nextNode()) {
      const text = texts.currentNode
      const isCount = text.previousSibling?.data?.endsWith("mean of ") === true
      const data = isCount ? "1,234" : steady(text.data)
      if (data !== text.data) text.data = data
    }
  })

/** The page as it looks, encoded by the page `encoder`. */
export const screenshot = async (page: Page, encoder: Page): Promise<Buffer> => {
  await withoutVarying(page)
  return toWebp(encoder, await page.screenshot({ animations: "disabled" }))
}

/** Draws letters, lines and controls: two renderers that draw this alike draw pages alike. */
const sample = `<style>:root { font: 15px "Inter Variable", sans-serif }</style>
<p>Documents 0123456789 <b>bold</b> <i>italic</i></p><pre>{"mono": [1, 2]} 0Oo</pre>
<input value="text"><select><option>choice</select><input type="checkbox" checked><meter value=".4"></meter>
<svg width="60" height="40"><circle cx="20" cy="20" r="15.3" fill="none" stroke="teal"/></svg>
<div style="border-radius: 7px; border: 1px solid; box-shadow: 0 2px 9px #0004; width: 99px">round</div>`

/** What draws the pictures: the browser's version and what it makes of a sample. */
export const rendererOf = async (browser: Browser, fontPage: string): Promise<string> => {
  const context = await browser.newContext({ ...pictured, viewport: { width: 400, height: 400 } })
  const page = await context.newPage()
  await page.goto(fontPage)
  await page.locator("form").waitFor()
  await page.evaluate((html) => {
    document.body.innerHTML = html
  }, sample)
  await page.evaluate(() => document.fonts.ready)
  const drawn = await page.screenshot({ animations: "disabled" })
  await context.close()
  const hash = createHash("sha256").update(drawn).digest("hex").slice(0, 12)
  return `Chromium ${browser.version()} ${hash}`
}

export interface Screenshots {
  /** Takes the view in every width and theme, and compares it with its reference pictures. Returns the differences. */
  readonly compare: (page: Page, view: string) => Promise<ReadonlyArray<string>>
}

/** The comparison with the pictures of `test/e2e/screenshots`, by a page of `browser`. */
export const screenshots = async (browser: Browser, fontPage: string): Promise<Screenshots> => {
  const renderer = await rendererOf(browser, fontPage)
  const known = existsSync(rendererFile) ? readFileSync(rendererFile, "utf8").trim() : ""
  const comparison: Comparison = renderer === known ? "fine" : "coarse"
  const page = await browser.newPage()
  // The pictures of a run are those of one renderer.
  if (areTaken && renderer !== known) {
    rmSync(references, { recursive: true, force: true })
    mkdirSync(references, { recursive: true })
    writeFileSync(rendererFile, `${renderer}\n`)
  }
  let folder: string | undefined
  const evidence = (name: string, content: Buffer) => {
    folder ??= mkdtempSync(join(tmpdir(), "chainstore-screenshots-"))
    writeFileSync(join(folder, name), content)
  }

  const compareOne = async (viewed: Page, name: string): Promise<string | undefined> => {
    const file = join(references, `${name}.webp`)
    const reference = existsSync(file) ? readFileSync(file) : undefined
    let actual = await screenshot(viewed, page)
    let found = reference && (await comparePictures(page, reference, actual, comparison))
    // A view may still settle after another width: what differs for long differs.
    for (let tries = 0; found !== undefined && !areTaken && tries < 6; tries++) {
      await viewed.waitForTimeout(30 * 2 ** tries)
      actual = await screenshot(viewed, page)
      found = await comparePictures(page, reference!, actual, comparison)
    }
    if (reference !== undefined && found === undefined) return undefined
    if (areTaken) {
      // Two pictures that are alike: the view has settled.
      for (let last: Buffer | undefined; last === undefined || !last.equals(actual); ) {
        last = actual
        await viewed.waitForTimeout(150)
        actual = await screenshot(viewed, page)
      }
      writeFileSync(file, actual)
      return undefined
    }
    evidence(`${name}.actual.webp`, actual)
    if (found === undefined) return `${name} has no reference picture; it is ${folder}/${name}.actual.webp`
    evidence(`${name}.expected.webp`, reference!)
    evidence(`${name}.difference.png`, found.picture)
    return `${name} differs in ${found.different} ${comparison} cells within ${found.box.join(", ")}: ${folder}/${name}.{expected,actual,difference}.*`
  }

  return {
    compare: async (viewed, view) => {
      const differences: Array<string> = []
      for (const [width, height] of sizes) {
        await viewed.setViewportSize({ width, height })
        // Nothing is pointed at.
        await viewed.mouse.move(0, 0)
        for (const theme of ["light", "dark"] as const) {
          await viewed.emulateMedia({ colorScheme: theme })
          await painted(viewed)
          const difference = await compareOne(viewed, `${view}-${width}-${theme}`)
          if (difference !== undefined) differences.push(difference)
        }
      }
      return differences
    }
  }
}
