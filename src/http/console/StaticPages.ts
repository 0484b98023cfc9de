import { existsSync, readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { HttpRouter, type HttpServerRequest } from "@effect/platform"
import { Context, Effect } from "effect"
import { load, notBuilt, respond, type StaticFile } from "../server/StaticFile.js"

/** The directory of the built console, relative to the bundled mains, to this compiled module, or to a checkout. */
export const defaultDirectory = (): string => {
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const compiled = [here("../console"), here("../../console")]
  return compiled.find((directory) => existsSync(`${directory}/assets`)) ?? here("../../../dist/console")
}

/** The directory of the pages, which are loaded once when the service starts. */
export class PagesDirectory extends Context.Reference<PagesDirectory>()(
  "chainstore/http/console/PagesDirectory",
  { defaultValue: defaultDirectory }
) {}

/** The paths of the pages. */
export const paths: ReadonlyArray<string | RegExp> = [
  /^\/$/,
  /^\/playground\/?$/,
  /^\/icon\.svg$/,
  /^\/assets\//
]

/** Serves the console at `/`, the chain playground at `/playground`, and their assets from memory. */
export const router = Effect.map(PagesDirectory, (directory) => {
  const assets = `${directory}/assets`
  if (!existsSync(assets)) {
    const page = notBuilt("The console is not built: run <code>npm run build</code> and start again.")
    return HttpRouter.empty.pipe(HttpRouter.get("/", page), HttpRouter.get("/playground", page))
  }
  let routes: HttpRouter.HttpRouter<never, HttpServerRequest.HttpServerRequest> = HttpRouter.empty
  const add = (path: HttpRouter.PathInput, page: StaticFile) => {
    routes = HttpRouter.get(routes, path, respond(page))
  }
  add("/", load(`${directory}/local/index.html`, false))
  const playground = load(`${directory}/playground/index.html`, false, (html) =>
    html.replace("<html ", "<html data-service ")
  )
  add("/playground", playground)
  add("/playground/", playground)
  add("/icon.svg", load(`${directory}/icon.svg`, false))
  for (const name of readdirSync(assets)) add(`/assets/${name}`, load(`${assets}/${name}`, true))
  return routes
})
