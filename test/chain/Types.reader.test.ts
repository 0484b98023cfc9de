import { it } from "@effect/vitest"
import { Chain } from "chainstore/chain"
import { Context, pipe } from "effect"

class Ledger extends Context.Tag("test/Ledger")<Ledger, { readonly open: boolean }>() {}

/** What `JSON.parse` gives, for one. */
declare const anything: any
declare const needy: Chain.Chain<string, string, never, Ledger, never>

// `npm run check` refuses this file: the chain's service is not at hand, whatever the request is.
it("refuses a chain that requires a service where its request is of any type, the chain first or last", () => {
  const refusals = () => {
    // @ts-expect-error services are not at hand
    Chain.executeSync(needy, anything)
    // @ts-expect-error services are not at hand
    Chain.executeSync(anything)(needy)
    // @ts-expect-error services are not at hand
    pipe(needy, Chain.executeSync(anything))
    // @ts-expect-error services are not at hand
    pipe(needy, Chain.executeExit(anything))
    // @ts-expect-error services are not at hand
    pipe(needy, Chain.executeNamedExit(anything))
  }
  void refusals
})
