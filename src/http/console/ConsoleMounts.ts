import { Effect } from "effect"
import * as Mount from "../server/Mount.js"
import * as Edits from "./edits/Api.js"
import * as Handlers from "./Handlers.js"
import * as StaticPages from "./StaticPages.js"

/** The console as mounts of the server: its API, and the pages at `/` and `/playground`. */
export const mounts = (options: Handlers.ConsoleOptions = {}) =>
  Effect.gen(function* () {
    const api = yield* Handlers.router(options)
    const pages = yield* StaticPages.router
    const paths = Array.from(api.routes, ({ path }) => path)
    const withDocuments: ReadonlyArray<string> = [Edits.review.path, Edits.publish.path, Edits.propose.path]
    // Scanning a large collection over a remote takes long. The page can cancel it.
    const timeout = "5 minutes"
    return yield* Effect.all([
      Mount.router(
        {
          name: "console-api",
          paths: paths.filter((path) => !withDocuments.includes(path)),
          body: { maxBytes: 64 * 1024 },
          timeout
        },
        api
      ),
      Mount.router(
        { name: "console-edits", paths: withDocuments, body: { maxBytes: Edits.maxBytes }, timeout },
        api
      ),
      Mount.router({ name: "console", paths: StaticPages.paths }, pages)
    ])
  })
