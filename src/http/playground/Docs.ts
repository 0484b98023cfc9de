import { HttpRouter, OpenApi } from "@effect/platform"
import { Effect } from "effect"
import * as Mount from "../server/Mount.js"
import * as StaticFile from "../server/StaticFile.js"
import { PlaygroundApi } from "./Api.js"
import { icon } from "./docs/Icon.js"
import * as Page from "./docs/Page.js"
import { script } from "./docs/Script.js"
import { style } from "./docs/Style.js"

/**
 * The OpenAPI 3.1 description of the playground, derived from its API.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openApi = OpenApi.fromApi(PlaygroundApi)

const file = (name: string, text: string, headers?: Readonly<Record<string, string>>) =>
  StaticFile.respond(StaticFile.ofText(name, text), headers)

/**
 * Serves `/v1/openapi.json`, and the interactive page `/docs` with links to other pages of the service.
 *
 * @since 0.1.0
 * @category serving
 */
export const mountBeside = (links: ReadonlyArray<Page.Link>): Effect.Effect<Mount.Mount> =>
  Effect.suspend(() => {
    const page = file("docs.html", Page.html(links))
    return Mount.router(
      { name: "docs", paths: ["/v1/openapi.json", "/docs"] },
      HttpRouter.empty.pipe(
        HttpRouter.get(
          "/v1/openapi.json",
          file("openapi.json", `${JSON.stringify(openApi, null, 2)}\n`, {
            "access-control-allow-origin": "*",
            "cross-origin-resource-policy": "cross-origin"
          })
        ),
        HttpRouter.get("/docs", page),
        HttpRouter.get("/docs/", page),
        HttpRouter.get("/docs/icon.svg", file("icon.svg", icon)),
        HttpRouter.get("/docs/page.js", file("page.js", script)),
        HttpRouter.get("/docs/page.css", file("page.css", style))
      )
    )
  })

/**
 * Serves `/v1/openapi.json` and `/docs` without links to other pages.
 *
 * @since 0.1.0
 * @category serving
 */
export const mount: Effect.Effect<Mount.Mount> = mountBeside([])
