import { HttpRouter, HttpServerResponse, OpenApi } from "@effect/platform"
import type { Effect } from "effect"
import * as Mount from "../server/Mount.js"
import { PlaygroundApi } from "./Api.js"
import { icon } from "./docs/Icon.js"
import * as Page from "./docs/Page.js"
import { script } from "./docs/Script.js"
import { style } from "./docs/Style.js"

/**
 * The OpenAPI 3.1 description of the playground, generated from what serves it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openApi = OpenApi.fromApi(PlaygroundApi)

const asset = (body: string, contentType: string, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(body, { contentType, headers: { "cache-control": "no-cache", ...headers } })

// Everything comes from this origin: no third party, no inline script, no inline style.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

const page = (links: ReadonlyArray<Page.Link>) =>
  asset(Page.html(links), "text/html; charset=utf-8", { "content-security-policy": policy })

/**
 * `/v1/openapi.json`, and `/docs`: a page that shows it, sends requests from it, and links to other pages of the service.
 *
 * @since 0.1.0
 * @category serving
 */
export const mountBeside = (links: ReadonlyArray<Page.Link>): Effect.Effect<Mount.Mount> =>
  Mount.router(
    { name: "docs", paths: ["/v1/openapi.json", "/docs"] },
    HttpRouter.empty.pipe(
      HttpRouter.get(
        "/v1/openapi.json",
        asset(`${JSON.stringify(openApi, null, 2)}\n`, "application/json", {
          "access-control-allow-origin": "*"
        })
      ),
      HttpRouter.get("/docs", page(links)),
      HttpRouter.get("/docs/", page(links)),
      HttpRouter.get("/docs/icon.svg", asset(icon, "image/svg+xml")),
      HttpRouter.get("/docs/page.js", asset(script, "text/javascript; charset=utf-8")),
      HttpRouter.get("/docs/page.css", asset(style, "text/css; charset=utf-8"))
    )
  )

/**
 * The same of a service that has no other pages.
 *
 * @since 0.1.0
 * @category serving
 */
export const mount: Effect.Effect<Mount.Mount> = mountBeside([])
