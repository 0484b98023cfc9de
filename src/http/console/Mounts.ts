import { Effect } from "effect"
import * as Mount from "../server/Mount.js"
import * as Handlers from "./Handlers.js"
import * as Pages from "./Pages.js"

/** The console as mounts of our server: its API, and the pages at `/` and `/playground`. */
export const mounts = (options: Handlers.ConsoleOptions = {}) =>
  Effect.gen(function* () {
    const api = yield* Handlers.router(options)
    const pages = yield* Pages.router
    return yield* Effect.all([
      Mount.router(
        {
          name: "console-api",
          paths: Array.from(api.routes, ({ path }) => path),
          body: { maxBytes: 65_536 },
          // A scan of a large collection over a remote takes its time; the page can cancel it.
          timeout: "5 minutes"
        },
        api
      ),
      Mount.router({ name: "console", paths: Pages.paths }, pages)
    ])
  })
