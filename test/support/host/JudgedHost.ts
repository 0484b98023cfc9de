import { Effect, Layer } from "effect"
import { Host } from "../../../src/http/host/Host.js"
import * as Judge from "./Judge.js"

/** Fails when the scope closes if a reply differed from GitHub's. */
export const judge = Effect.acquireRelease(Effect.sync(Judge.make), ({ found }) =>
  found.length === 0
    ? Effect.void
    : Effect.die(new Error(`answers that GitHub does not give:\n${found.slice(0, 20).join("\n")}`))
)

/** A host whose replies are all checked against GitHub's descriptions. A difference fails the suite. */
export const layer = Layer.scoped(
  Host,
  Effect.zipWith(Host, judge, (host, { around }) => ({ ...host, app: around(host.app) }))
)
