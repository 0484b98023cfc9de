import { existsSync, mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { AxeBuilder } from "@axe-core/playwright"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"

/** The engine without the parts of a window takes half the time of the whole browser, so it is preferred. */
export const executable =
  process.env["CHROMIUM"] ??
  ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
    .map((name) => `/usr/bin/${name}`)
    .find(existsSync)

if (executable === undefined) {
  console.warn(
    "No chromium was found: the browser tests are skipped. Install Debian's chromium, or set CHROMIUM."
  )
}

/** Other fonts of a machine would change the pictures. */
const fonts = fileURLToPath(new URL("fonts.conf", import.meta.url))

export const launch = (): Promise<Browser> => launchWith([])

export const launchWith = (options: ReadonlyArray<string>): Promise<Browser> =>
  chromium.launch({
    executablePath: executable!,
    headless: true,
    env: {
      ...process.env,
      ...(existsSync("/usr/share/fonts/truetype/dejavu") ? { FONTCONFIG_FILE: fonts } : {})
    },
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // Another name for this machine, as somebody who rebinds DNS would have one.
      "--host-resolver-rules=MAP rebound.example 127.0.0.1",
      ...options
    ]
  })

/** A page that remembers everything that must not happen, and every request. */
export interface Watched {
  readonly page: Page
  readonly console: Array<string>
  readonly errors: Array<string>
  readonly violations: Array<string>
  readonly dialogs: Array<string>
  readonly requests: Array<{
    readonly method: string
    readonly url: string
    readonly headers: Record<string, string>
  }>
  readonly close: () => Promise<void>
}

export const open = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> => {
  const context = await browser.newContext({
    viewport: { width: 1360, height: 820 },
    acceptDownloads: true,
    ...options
  })
  await context.grantPermissions(["clipboard-read", "clipboard-write"])
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const watched: Watched = {
    page,
    console: [],
    errors: [],
    violations: [],
    dialogs: [],
    requests: [],
    close: () => context.close()
  }
  page.on("console", (message) => watched.console.push(`${message.type()}: ${message.text()}`))
  page.on("pageerror", (error) => watched.errors.push(String(error.stack ?? error)))
  page.on("request", (request) =>
    watched.requests.push({ method: request.method(), url: request.url(), headers: request.headers() })
  )
  page.on("dialog", (dialog) => {
    watched.dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  await page.exposeFunction("__violation", (text: string) => watched.violations.push(text))
  await page.addInitScript(() => {
    document.addEventListener(
      "securitypolicyviolation",
      (event: { violatedDirective: string; blockedURI: string }) =>
        (globalThis as unknown as { __violation: (text: string) => void }).__violation(
          `${event.violatedDirective} ${event.blockedURI}`
        )
    )
  })
  return watched
}

// The page has a DOM; the rest of the tests does not.
declare const document: any
declare const NodeFilter: any
declare const requestAnimationFrame: (then: () => void) => void

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]

/** The rules that colours can break: what another colour scheme is asked beside the first. */
const ofColours = ["color-contrast", "link-in-text-block"]

/** What axe finds wrong with the page as it is now. Our pages have no frames, so it needs no second page to report from. */
export const axe = async (page: Page, colorScheme: "dark" | "light"): Promise<ReadonlyArray<string>> => {
  await page.emulateMedia({ colorScheme })
  const builder = new AxeBuilder({ page }).setLegacyMode(true)
  const { violations } = await (colorScheme === "light"
    ? builder.withTags(tags)
    : builder.withRules(ofColours)
  ).analyze()
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`
  )
}

/** Waits until what happened so far is painted. */
export const painted = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))
  )

/** What has the focus: its id, else its name. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const at = document.activeElement
    return at.id || at.getAttribute("aria-label") || at.textContent
  })

/** What can be seen: not what is said to who hears the page alone. */
export const visible = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const seen: Array<string> = []
    while (walker.nextNode()) {
      const above = walker.currentNode.parentElement
      if (above.closest(".sr-only") === null && above.checkVisibility()) seen.push(walker.currentNode.data)
    }
    return seen.join(" ")
  })

/** The polite live region. */
export const status = (page: Page) => page.locator('[role="status"]')

/** Whether this run makes the pictures of the documentation and of the tests anew. */
export const areTaken = Boolean(process.env["CHAINSTORE_SCREENSHOTS"])

const pictures = areTaken ? fileURLToPath(new URL("../../../docs/screenshots", import.meta.url)) : undefined

const shown = [
  "sign-in-light",
  "home-light",
  "table-light",
  "table-dark",
  "document-light",
  "history-light",
  "restore-dark",
  "phone-table-light",
  "phone-document-dark",
  "playground-light",
  "triage-dark"
]

/** Keeps a picture that the documentation shows, when the run is asked to make them. */
export const picture = async (page: Page, name: string): Promise<void> => {
  if (pictures === undefined || !shown.includes(name)) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: `${pictures}/${name}.png` })
}

/** The luminance contrast of two CSS colours, as WCAG defines it; evaluated in the page, which knows all notations. */
export const contrast = (page: Page, a: string, b: string): Promise<number> =>
  page.evaluate(
    ([first, second]) => {
      const canvas = document.createElement("canvas")
      canvas.width = canvas.height = 1
      const context = canvas.getContext("2d", { willReadFrequently: true })!
      const luminance = (colour: string) => {
        context.fillStyle = colour
        context.fillRect(0, 0, 1, 1)
        const [r = 0, g = 0, b = 0] = [...context.getImageData(0, 0, 1, 1).data].map((value) => {
          const share = value / 255
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
        })
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
      }
      const [light, dark] = [luminance(first!), luminance(second!)].sort((x, y) => y - x)
      return (light! + 0.05) / (dark! + 0.05)
    },
    [a, b]
  )
