import { Effect, Layer } from "effect"
import { Host } from "../../../src/http/host/Host.js"
import * as Judge from "./Judge.js"

/** Dies with the scope if an answer was seen that GitHub does not give. */
export const judge = Effect.acquireRelease(Effect.sync(Judge.make), ({ found }) =>
  found.length === 0
    ? Effect.void
    : Effect.die(new Error(`answers that GitHub does not give:\n${found.slice(0, 20).join("\n")}`))
)

/** The host below, every answer of which is held against GitHub's descriptions; one that differs fails the suite. */
export const layer = Layer.scoped(
  Host,
  Effect.zipWith(Host, judge, (host, { around }) => ({ ...host, app: around(host.app) }))
)
