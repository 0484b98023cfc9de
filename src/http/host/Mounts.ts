import { Duration, Effect } from "effect"
import * as Mount from "../server/Mount.js"
import { Host } from "./Host.js"
import * as Body from "./request/Body.js"

/** How long a large body may take to arrive. */
const arrival = 600_000

/**
 * The host as mounts of our server: the API and raw files, Git's own protocol with room for large pushes, and, where
 * REST is served at `/`, everything that no mount before it answers.
 */
export const mounts = (options: { readonly atRoot: boolean }) =>
  Effect.gen(function* () {
    const host = yield* Host
    const git = host.paths.filter((path) => typeof path !== "string")
    const api = host.paths.filter((path) => typeof path === "string")
    // Handlers read large bodies as they arrive, and the small ones as a whole.
    const body = {
      maxBytes: host.maxBodyBytes,
      timeoutMillis: Duration.toMillis(host.bodyTime),
      bytesPerSecond: Body.slowest
    }
    const timeout = Duration.millis(arrival + 120_000)
    return yield* Effect.all([
      Mount.make(
        {
          name: "git",
          paths: git,
          body: { maxBytes: host.maxPushBytes, timeoutMillis: arrival },
          timeout: Duration.infinity
        },
        host.app
      ),
      Mount.make({ name: "github", paths: api, body, timeout }, host.app),
      ...(options.atRoot ? [Mount.make({ name: "github-root", paths: ["/"], body, timeout }, host.app)] : [])
    ])
  })
