import { Effect, ManagedRuntime } from "effect"
import type { Browser, Page } from "playwright-core"
import type { StoreService } from "../../../src/store/StoreService.js"
import { launch, open, type Watched } from "./Chromium.js"
import { ConsoleService, layer, repo } from "./ConsoleService.js"
import { layout, seed, seedLarge } from "./Seed.js"
import { hosted } from "./Static.js"
import { type Stub, stub } from "./Stub.js"

export type Build = "hosted" | "local"

/** Everything that one build is tested on: a browser, servers over sockets, and a way to look behind them. */
export interface Stage {
  readonly build: Build
  readonly browser: Browser
  /** Where the console is. */
  readonly url: string
  readonly playground: string
  readonly token: string
  /** The stand-alone host's token, for its repository of the same name. */
  readonly hostToken: string
  /** Name of the API that the repository is signed in to by default. */
  readonly api: string
  readonly stub: Stub
  readonly store: StoreService
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** The bare repository, for stock Git. */
  readonly repository: string
  /** Whether a request asks for data, of the host or of the local server. */
  readonly isData: (url: string) => boolean
  readonly close: () => Promise<void>
}

const unreachable = "http://127.0.0.1:9"

export const stage = async (build: Build): Promise<Stage> => {
  const browser = await launch()
  const host = ManagedRuntime.make(layer({ hostAlone: true }))
  const behind = await host.runPromise(ConsoleService)
  const limited = await stub(`${behind.url}/api/v3`)
  const filled = (service: typeof behind) =>
    host.runPromise(Effect.zipRight(seed(service.store), seedLarge(service.store)))
  const common = { build, browser, hostToken: behind.token, stub: limited, run: host.runPromise }
  if (build === "hosted") {
    await filled(behind)
    const site = await hosted([
      { name: "Host", apiUrl: `${behind.url}/api/v3`, rawUrl: `${behind.url}/raw` },
      { name: "Limited", apiUrl: limited.url, rawUrl: `${behind.url}/raw` },
      { name: "Offline", apiUrl: unreachable }
    ])
    return {
      ...common,
      url: site.url,
      playground: `${site.url}playground/`,
      token: behind.token,
      api: "Host",
      store: behind.store,
      repository: behind.repository,
      isData: (url) => url.startsWith(behind.url) || url.startsWith(limited.url),
      close: async () => {
        await browser.close()
        await site.close()
        await limited.close()
        await host.dispose()
      }
    }
  }
  const service = ManagedRuntime.make(
    layer({
      environment: {
        CHAINSTORE_API_URL: `Host=${behind.url}/api/v3, Limited=${limited.url}, Offline=${unreachable}`,
        CHAINSTORE_RAW_URL: `Host=${behind.url}/raw, Limited=${behind.url}/raw`
      }
    })
  )
  const own = await service.runPromise(ConsoleService)
  await filled(own)
  await host.runPromise(seed(behind.store))
  return {
    ...common,
    url: `${own.url}/`,
    playground: `${own.url}/playground`,
    token: own.token,
    api: "embedded",
    store: own.store,
    repository: own.repository,
    isData: (url) => url.startsWith(`${own.url}/api/`),
    close: async () => {
      await browser.close()
      await limited.close()
      await service.dispose()
      await host.dispose()
    }
  }
}

export interface Entry {
  readonly api?: string
  readonly repo?: string
  readonly token?: string | undefined
  readonly branch?: string
  readonly hash?: string
}

/** Fills in the sign-in form and sends it. */
export const submit = async (stage: Stage, page: Page, entry: Entry = {}): Promise<void> => {
  await page.goto(stage.url + (entry.hash ?? ""))
  await page.getByLabel("Server").selectOption(entry.api ?? stage.api)
  await page.getByLabel("Repository").fill(entry.repo ?? repo)
  await page.getByLabel("Token").fill("token" in entry ? (entry.token ?? "") : stage.token)
  if (entry.branch !== undefined) await page.getByLabel("Branch").fill(entry.branch)
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
}

/** A signed-in page. */
export const signedIn = async (
  stage: Stage,
  entry: Entry = {},
  options: Parameters<typeof open>[1] = {}
): Promise<Watched> => {
  const watched = await open(stage.browser, options)
  await submit(stage, watched.page, entry)
  await watched.page.locator(".bench").waitFor()
  return watched
}

/** Chooses a collection and waits for its table. */
export const choose = async (page: Page, collection: string): Promise<void> => {
  await page
    .getByRole("navigation", { name: "Collections" })
    .getByRole("button", { name: collection })
    .click()
  await page.locator(`#results-title:has-text("${collection}")`).waitFor()
  await page.locator(".table tbody th").first().waitFor()
}

export { layout, repo }
