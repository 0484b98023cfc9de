import { Effect, Layer } from "effect"
import { dataDirectory } from "../cli/Connection.js"
import { HostTokens } from "../cli/TokenCommand.js"
import { NodeContext } from "../vendor/PlatformNode.js"

/** Loaded on demand, so that the other commands start faster. */
const tokens = Effect.gen(function* () {
  const { make } = yield* Effect.promise(() => import("../http/host/access/IssuedTokens.js"))
  return yield* make(yield* dataDirectory)
}).pipe(Effect.provide(NodeContext.layer))

/** The issued tokens of the data directory. */
export const layer = Layer.succeed(HostTokens, {
  list: Effect.flatMap(tokens, ({ list }) => list),
  issue: (login, grants) => Effect.flatMap(tokens, ({ issue }) => issue(login, grants)),
  revoke: (login) => Effect.flatMap(tokens, ({ revoke }) => revoke(login))
})
