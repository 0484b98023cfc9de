/**
 * The laws of chains, checked on a chain of your own.
 *
 * Output:
 * parity keeps 40 laws
 * ChainLaws.laziness does not hold.
 * Promise: an execution is lazy and repeatable
 *   "nothing runs before the Effect runs, and a retry runs the steps again" (docs/chain.md#executing)
 */
import { ChainBuilder } from "chainstore/chain"
import { ChainLaws } from "chainstore/testing"
import { Effect, FastCheck } from "effect"

// Any chain whose answers depend on the request alone can be held against the laws.
const parity = ChainBuilder.make<number, string>("parity")
  .useWhen(
    (n) => n % 2 === 0,
    (n) => `${n} is even`
  )
  .useBranch(
    (n) => Effect.succeed(n < 0),
    (branch) => branch.use((n, next) => next(-n))
  )
  .useWhen(
    (n) => n > 0,
    (n) => `${n} is odd`
  )

await ChainLaws.checkAll(parity, FastCheck.integer(), { seed: 1 })
console.log(`parity keeps ${Object.keys(ChainLaws.all).length} laws`)

// A handler with a memory answers the second run of an execution differently.
let runs = 0
const counting = ChainBuilder.make<number, number>("counting").use(() => runs++, { name: "counter" })

await ChainLaws.check(ChainLaws.laziness, counting, FastCheck.integer(), { seed: 1 }).catch(
  (error: Error) => {
    const [law, promise, sentence] = error.message.split("\n")
    console.log(law)
    console.log(promise)
    console.log(sentence)
  }
)
