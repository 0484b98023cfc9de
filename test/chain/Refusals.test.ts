// @effect-diagnostics floatingEffect:off
import { it } from "@effect/vitest"
import { Chain, ChainBuilder, Logging } from "chainstore/chain"
import { Context, Data, Effect } from "effect"
import { expectTypeOf } from "vitest"

class Broken extends Data.TaggedError("Broken")<{}> {}
class Ledger extends Context.Tag("test/Ledger")<Ledger, { readonly open: boolean }>() {}

type Refund = { readonly kind: "refund"; readonly amount: number }
type Ticket = Refund | { readonly kind: "question"; readonly text: string }

const isRefund = (ticket: Ticket): ticket is Refund => ticket.kind === "refund"
const make = () => ChainBuilder.make<Ticket, string>()

it("refuses in every combinator what does not fit, the chain first or last", () => {
  const open = make().useWhen(isRefund, () => new Broken()).build() // biome-ignore format: one line
  const needy = make().use(() => Effect.map(Ledger, () => "x")).build() // biome-ignore format: one line
  const refusals = () => {
    // @ts-expect-error no ticket
    Chain.execute(open, "refund")
    // @ts-expect-error no ticket
    open.pipe(Chain.execute({ kind: "refund" }))
    // @ts-expect-error no ticket
    Chain.execute("refund")(open)
    // @ts-expect-error a builder is no chain
    Chain.execute(make(), { kind: "refund", amount: 1 }) // biome-ignore format: one line
    // @ts-expect-error no ticket
    Chain.executeNamed(open, 1)
    // @ts-expect-error no ticket
    open.pipe(Chain.executeNamed(1))
    // @ts-expect-error no ticket
    Chain.executeExit(open, 1)
    // @ts-expect-error services are not at hand
    open.pipe(Chain.executeExit(1))
    // @ts-expect-error services are not at hand
    Chain.executeExit(needy, { kind: "refund", amount: 1 }) // biome-ignore format: one line
    // @ts-expect-error services are not at hand
    Chain.executeNamedExit(needy, { kind: "refund", amount: 1 }) // biome-ignore format: one line
    // @ts-expect-error services are not at hand
    needy.pipe(Chain.executeSync({ kind: "refund", amount: 1 })) // biome-ignore format: one line
    // @ts-expect-error no ticket
    Chain.trace(open, {})
    // @ts-expect-error no ticket
    open.pipe(Chain.trace({}))
    // @ts-expect-error no context
    Chain.provide(needy, { open: true })
    // @ts-expect-error a builder is no chain
    Chain.provide(make(), Context.empty()) // biome-ignore format: one line
    // @ts-expect-error a builder is no chain
    Chain.describe(make()) // biome-ignore format: one line
    // @ts-expect-error a builder is no chain
    Chain.warnings(make()) // biome-ignore format: one line
    // @ts-expect-error a builder is no chain
    Chain.count(make()) // biome-ignore format: one line
    // @ts-expect-error the service is no chain
    Chain.service(Ledger)
    // @ts-expect-error the service is no chain
    Chain.layer(Ledger, open)
    // @ts-expect-error the service is no chain
    Chain.layer(Ledger)
    // @ts-expect-error a level that there is not
    make().useLogging({ level: "Loud" })
    // @ts-expect-error what is written is an entry
    make().useLogging({ write: (line: string) => line })
    // @ts-expect-error what logs is an Effect
    make().useLogging({ log: () => "line" })
    // @ts-expect-error an option that there is not
    make().useTracing({ name: "span" })
    // @ts-expect-error an option that there is not
    make().use(() => "x", { title: "x" })
    // @ts-expect-error a number is no response
    make().withFallback(() => 1)
    // @ts-expect-error a branch gives a builder
    make().useBranch(isRefund, () => "x") // biome-ignore format: one line
    // @ts-expect-error of other responses
    make().useBranch(isRefund, () => ChainBuilder.make<Refund, number>()) // biome-ignore format: one line
    // @ts-expect-error a name is a text
    ChainBuilder.make<Ticket, string>(1)
    // @ts-expect-error an entry, not its text
    Logging.format("line")
    // @ts-expect-error an entry, not its text
    Logging.toLogger("line")
  }
  expectTypeOf(refusals).toEqualTypeOf<() => void>()
})
