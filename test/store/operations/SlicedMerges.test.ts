import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { storePair } from "./StorePair.js"

/** How often a timer ran while an effect did. */
const ticksBeside = (effect: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    yield* effect
    clearInterval(timer)
    return ticks
  })

/** Zeros and ones in an order that looks like none: lists of them are merged in the time of a square. */
const bits = (length: number, seed: number) => {
  let state = seed
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return (state >> 16) & 1
  })
}

const length = 4_000
const list = (seed: number, first: number, last: number) => [first, ...bits(length, seed), last]

describe("a merge of long lists lets others at the event loop", () => {
  const prepared = Effect.gen(function* () {
    const it = yield* storePair({ merge: { notes: { list: "sequence" } } })
    yield* it.store.collection("notes").insert({ list: list(1, 5, 6), title: "t" }, { id: "x" })
    return it
  })
  const mine = { list: list(2, 7, 6), title: "mine" }
  const theirs = { list: list(3, 5, 8), title: "t" }

  it.live("where branches are merged", () =>
    Effect.gen(function* () {
      const { store } = yield* prepared
      yield* store.createBranch("draft")
      yield* store.collection("notes").update("x", mine)
      yield* store.onBranch("draft").collection("notes").update("x", theirs)
      assert.isAbove(yield* ticksBeside(Effect.either(store.merge("draft", { dryRun: true }))), 10)
    })
  )

  it.live("where a proposal is looked at before it is accepted", () =>
    Effect.gen(function* () {
      const { store } = yield* prepared
      const { proposal } = yield* store.propose({ title: "x" }, (draft) =>
        draft.collection("notes").update("x", theirs)
      )
      yield* store.collection("notes").update("x", mine)
      assert.isAbove(yield* ticksBeside(Effect.either(store.proposal(proposal.id).preview())), 10)
    })
  )
})
