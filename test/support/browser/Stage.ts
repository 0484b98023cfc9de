import { Effect, identity, Logger, ManagedRuntime } from "effect"
import type { Browser, Page } from "playwright-core"
import type { StoreService } from "../../../src/store/StoreService.js"
import { at } from "../SetClock.js"
import { builtConsole, placeholders } from "./Build.js"
import { launch, open, type Watched } from "./Chromium.js"
import { ConsoleService, layer, repo } from "./ConsoleService.js"
import { seed, seedBroad, seedLarge } from "./Seed.js"
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
  /** The store of the stand-alone host's repository; in the hosted build the same as `store`. */
  readonly hostStore: StoreService
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** Every line that the servers have logged. */
  readonly logged: ReadonlyArray<string>
  /** The bare repository, for stock Git. */
  readonly repository: string
  /** Whether a request asks for data, of the host or of the local server. */
  readonly isData: (url: string) => boolean
  /** Whether a request asks for what a view shows: neither a preflight nor the rate limit. */
  readonly isQuestion: (request: { readonly method: string; readonly url: string }) => boolean
  readonly close: () => Promise<void>
}

export interface StageOptions {
  /** Also 10,000 documents. */
  readonly large?: boolean
  /** The time of the documents and their commits. Default: now. */
  readonly at?: Date
}

export const stage = async (build: Build, options: StageOptions = {}): Promise<Stage> => {
  const pages = await builtConsole()
  const browser = await launch()
  const logged: Array<string> = []
  const log = Logger.replace(
    Logger.defaultLogger,
    Logger.map(Logger.logfmtLogger, (line) => void logged.push(line))
  )
  const host = ManagedRuntime.make(layer({ hostAlone: true, log }))
  const behind = await host.runPromise(ConsoleService)
  const limited = await stub(`${behind.url}/api/v3`)
  const fill = (service: typeof behind) =>
    host.runPromise(
      Effect.gen(function* () {
        yield* seed(service.store)
        yield* seedBroad(service.store)
        if (options.large === true) yield* seedLarge(service.store)
      }).pipe(options.at === undefined ? identity : at(options.at))
    )
  const questionOf = (isData: (url: string) => boolean) => ({
    isData,
    isQuestion: ({ method, url }: { readonly method: string; readonly url: string }) =>
      isData(url) && method !== "OPTIONS" && !/\/rate(_limit)?$/.test(url)
  })
  const common = {
    logged,
    build,
    browser,
    hostToken: behind.token,
    hostStore: behind.store,
    stub: limited,
    run: host.runPromise
  }
  await fill(behind)
  if (build === "hosted") {
    const site = await hosted(
      pages,
      new Map([
        [placeholders.host, behind.url],
        [placeholders.limited, limited.url]
      ])
    )
    return {
      ...common,
      url: site.url,
      playground: `${site.url}playground/`,
      token: behind.token,
      api: "Host",
      store: behind.store,
      repository: behind.repository,
      ...questionOf((url) => url.startsWith(behind.url) || url.startsWith(limited.url)),
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
      log,
      pages,
      environment: {
        CHAINSTORE_API_URL: `Host=${behind.url}/api/v3, Limited=${limited.url}, Offline=${placeholders.offline}`,
        CHAINSTORE_RAW_URL: `Host=${behind.url}/raw, Limited=${behind.url}/raw`
      }
    })
  )
  const own = await service.runPromise(ConsoleService)
  await fill(own)
  return {
    ...common,
    url: `${own.url}/`,
    playground: `${own.url}/playground`,
    token: own.token,
    api: "embedded",
    store: own.store,
    repository: own.repository,
    ...questionOf((url) => url.startsWith(`${own.url}/api/`)),
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

/** Opens the console, fills in the sign-in form and sends it. */
export const submit = async (stage: Stage, page: Page, entry: Entry = {}): Promise<void> => {
  await page.goto(stage.url + (entry.hash ?? ""))
  await signIn(stage, page, entry)
}

/** Fills in the sign-in form that the page shows, and sends it. */
export const signIn = async (stage: Stage, page: Page, entry: Entry = {}): Promise<void> => {
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

export { repo }

/** Shows the changes of the first commit of a list, and waits for them. */
export const showFirstChanges = async (page: Page): Promise<void> => {
  await page
    .getByRole("button", { name: /^Changes in/ })
    .first()
    .click()
  await page.locator(".diff").waitFor()
}
