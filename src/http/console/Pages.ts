import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Context, Effect } from "effect"

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

const security = {
  "content-security-policy": policy,
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()"
}

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  woff2: "font/woff2"
}

interface Page {
  readonly bytes: Uint8Array
  readonly zipped: Uint8Array
  readonly etag: string
  readonly type: string
  readonly lasting: boolean
}

const load = (file: string, lasting: boolean, change?: (text: string) => string): Page => {
  const read = readFileSync(file)
  const bytes = change === undefined ? read : Buffer.from(change(read.toString("utf8")))
  return {
    bytes,
    zipped: gzipSync(bytes, { level: 9 }),
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    type: types[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream",
    lasting
  }
}

/** Where the build puts the console, as seen from the bundled mains, from this module once compiled, and from a checkout. */
export const defaultDirectory = (): string => {
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const compiled = [here("../console"), here("../../console")]
  return compiled.find((directory) => existsSync(`${directory}/assets`)) ?? here("../../../dist/console")
}

/** The directory that the pages are read from, once, when the service starts. */
export class PagesDirectory extends Context.Reference<PagesDirectory>()(
  "chainstore/http/console/PagesDirectory",
  { defaultValue: defaultDirectory }
) {}

const unbuilt =
  '<!doctype html><html lang="en"><title>Chainstore</title><p>The console is not built: run <code>npm run build</code> and start again.'

const respond = (page: Page) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const headers = {
      ...security,
      etag: page.etag,
      vary: "accept-encoding",
      "cache-control": page.lasting ? "public, max-age=31536000, immutable" : "no-cache"
    }
    if (request.headers["if-none-match"] === page.etag) {
      return HttpServerResponse.empty({ status: 304, headers })
    }
    return /\bgzip\b/.test(request.headers["accept-encoding"] ?? "")
      ? HttpServerResponse.uint8Array(page.zipped, {
          contentType: page.type,
          headers: { ...headers, "content-encoding": "gzip" }
        })
      : HttpServerResponse.uint8Array(page.bytes, { contentType: page.type, headers })
  })

/** The paths that `router` answers. */
export const paths: ReadonlyArray<string | RegExp> = [
  /^\/$/,
  /^\/playground\/?$/,
  /^\/icon\.svg$/,
  /^\/assets\//
]

/** The console at `/`, the chain playground at `/playground`, and what they load; read once, into memory. */
export const router = Effect.map(PagesDirectory, (directory) => {
  const assets = `${directory}/assets`
  if (!existsSync(assets)) {
    const page = HttpServerResponse.text(unbuilt, {
      status: 503,
      contentType: "text/html; charset=utf-8",
      headers: security
    })
    return HttpRouter.empty.pipe(HttpRouter.get("/", page), HttpRouter.get("/playground", page))
  }
  let routes: HttpRouter.HttpRouter<never, HttpServerRequest.HttpServerRequest> = HttpRouter.empty
  const add = (path: HttpRouter.PathInput, page: Page) => {
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
