import { it } from "@effect/vitest"
import { Effect } from "effect"
import { killRepeatedly } from "../git/disk/support/kills.js"

it.scopedLive("fifty kills of a writing process lose nothing that was acknowledged", () =>
  Effect.tap(killRepeatedly(50), (acknowledged) =>
    Effect.log(`${acknowledged} acknowledged writes, none lost`)
  )
)
