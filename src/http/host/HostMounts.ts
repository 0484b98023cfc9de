import { Duration, Effect } from "effect"
import type { Mount } from "../server/Mount.js"
import { Host } from "./Host.js"
import * as BodyStream from "./request/BodyStream.js"

/** How long a large upload may take. */
const uploadMillis = 600_000

/**
 * The host as mounts of the server: the API and raw files; Git smart HTTP with its larger body limit; and, if REST is
 * served at `/`, all other paths.
 */
export const mounts = (options: { readonly atRoot: boolean }) =>
  Effect.gen(function* () {
    const host = yield* Host
    const git = host.paths.filter((path) => typeof path !== "string")
    const api = host.paths.filter((path) => typeof path === "string")
    // Handlers read large bodies as streams and small ones as a whole.
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
