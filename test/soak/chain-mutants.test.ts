import { it } from "@effect/vitest"
import { ChainArbitrary, ChainLaws } from "chainstore/testing"
import { everyFaultIsCaught } from "../mutants/catching.js"
import { judge, mutants } from "../mutants/chain/index.js"

/** The faults that no law catches, with the reason. */
const explained: Readonly<Record<string, string>> = {}

everyFaultIsCaught(mutants, judge, explained)

it.each(Object.entries(ChainLaws.all))("10,000 runs raise no false alarm: %s", (_, law) =>
  ChainLaws.check(law, ChainArbitrary.builder, ChainArbitrary.request, {
    numRuns: 10_000,
    endOnFailure: true
  })
)
