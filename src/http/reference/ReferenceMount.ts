import { existsSync, readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import * as Mount from "../server/Mount.js"
import { load, notBuilt, respond, type StaticFile } from "../server/StaticFile.js"

/** The directory of the built API reference, relative to the bundled mains, to this compiled module, or to a checkout. */
const directory = (): string => {
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const compiled = [here("../reference"), here("../../reference")]
  return (
    compiled.find((candidate) => existsSync(`${candidate}/search.json`)) ?? here("../../../dist/reference")
  )
}

/** Serves a file that is loaded at its first request. */
const whenAsked = (file: string) => {
  let loaded: StaticFile | undefined
  return Effect.suspend(() => {
    loaded ??= load(file, false)
    return respond(loaded)
  })
}

const router = (from: string): HttpRouter.HttpRouter<never, HttpServerRequest.HttpServerRequest> => {
  const toIndex = HttpRouter.get("/docs/api", HttpServerResponse.redirect("/docs/api/", { status: 308 }))
  if (!existsSync(from)) {
    const page = notBuilt("The API reference is not built: run <code>npm run docs</code> and start again.")
    return HttpRouter.empty.pipe(toIndex, HttpRouter.get("/docs/api/", page))
  }
  return readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .reduce<HttpRouter.HttpRouter<never, HttpServerRequest.HttpServerRequest>>(
      (routes, file) => HttpRouter.get(routes, `/docs/api${file.slice(from.length)}`, whenAsked(file)),
      HttpRouter.empty.pipe(toIndex, HttpRouter.get("/docs/api/", whenAsked(`${from}/index.html`)))
    )
}

/** Serves the API reference at `/docs/api/`. It must precede other mounts of `/docs`. */
export const mount: Effect.Effect<Mount.Mount> = Effect.suspend(() =>
  Mount.router({ name: "reference", paths: ["/docs/api"] }, router(directory()))
)
