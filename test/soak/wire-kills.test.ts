import { it } from "@effect/vitest"
import { Effect } from "effect"
import { killByWire } from "../support/git/KillScenario.js"

it.scopedLive("forty kills of writers and of the server between any two steps of a push lose nothing", () =>
  Effect.tap(killByWire(40), (acknowledged) => Effect.log(`${acknowledged} acknowledged writes, none lost`))
)
