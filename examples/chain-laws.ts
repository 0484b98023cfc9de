/**
 * The laws of chains, checked on a chain of your own.
 *
 * Output:
 * firstMatchWins holds
 * order holds
 * fallbackPrecedence holds
 * branchFallThrough holds
 * mergeIsInlining holds
 * count holds
 * immutability holds
 * unhandled holds
 * middlewareOrder holds
 * laziness holds
 * agreement holds
 * interruptionReleases holds
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

for (const [name, law] of Object.entries(ChainLaws.all)) {
  await ChainLaws.check(law, parity, FastCheck.integer(), { numRuns: 200 })
  console.log(`${name} holds`)
}
