import { assert, it, vi } from "@effect/vitest"
import { ChainLaws } from "chainstore/testing"

const printed = async (run: () => Promise<unknown>) => {
  const lines: Array<unknown> = []
  const spy = vi.spyOn(console, "log").mockImplementation((line) => void lines.push(line))
  try {
    await run()
  } finally {
    spy.mockRestore()
  }
  return lines
}

it("examples/chain-triage.ts", async () => {
  assert.deepStrictEqual(await printed(() => import("../../examples/chain-triage.js")), [
    { response: "refund issued for ticket 41", handledBy: "refund" },
    "UnhandledRequestError",
    "ticket 43 escalated to a human agent",
    "logging (middleware), refund (handler), escalation (branch), fallback (fallback)",
    "Information: Executing chain ticket-triage."
  ])
})

it("examples/chain-service.ts", async () => {
  assert.deepStrictEqual(await printed(() => import("../../examples/chain-service.js")), [
    "10.00 EUR, 9.00 EUR, unknown: Unavailable, nothing to pay"
  ])
})

it("examples/chain-laws.ts", async () => {
  assert.deepStrictEqual(
    await printed(() => import("../../examples/chain-laws.js")),
    Object.keys(ChainLaws.all).map((name) => `${name} holds`)
  )
})
