import { Duration, Effect } from "effect"
import type { Mount } from "../server/Mount.js"
import { Host } from "./Host.js"
import * as BodyStream from "./request/BodyStream.js"

/** How long a large body may take to arrive. */
const uploadMillis = 600_000

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
      bytesPerSecond: BodyStream.minBytesPerSecond
    }
    const timeout = Duration.millis(uploadMillis + 120_000)
    const { app } = host
    const mounted: ReadonlyArray<Mount> = [
      {
        name: "git",
        paths: git,
        body: { maxBytes: host.maxPushBytes, timeoutMillis: uploadMillis },
        timeout: Duration.infinity,
        app
      },
      { name: "github", paths: api, body, timeout, app },
      ...(options.atRoot ? [{ name: "github-root", paths: ["/"], body, timeout, app }] : [])
    ]
    return mounted
  })
