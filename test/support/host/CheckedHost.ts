import { Effect, Layer } from "effect"
import { Host } from "../../../src/http/host/Host.js"
import * as Conformance from "./Conformance.js"

/** Fails when the scope closes if a reply differed from GitHub's. */
export const checker = Effect.acquireRelease(Effect.sync(Conformance.make), ({ found }) =>
  found.length === 0
    ? Effect.void
    : Effect.die(new Error(`answers that GitHub does not give:\n${found.slice(0, 20).join("\n")}`))
)

/** A host whose replies are all checked against GitHub's descriptions. A difference fails the suite. */
export const layer = Layer.scoped(
  Host,
  Effect.zipWith(Host, checker, (host, { around }) => ({ ...host, app: around(host.app) }))
)
