/**
 * Wrong programs. The line before each holds how the compiler's message begins. `test/e2e/wrong-programs.test.ts` compiles
 * them.
 */
import { Chain, ChainBuilder, Policy } from "chainstore/chain"
import { type AsyncStore, openStore } from "chainstore/promise"
import { Collection, Store, type StoreService } from "chainstore/store"
import { Context, Data, Effect, pipe, Schedule, Schema } from "effect"

const Person = Schema.Struct({
  name: Schema.String,
  city: Schema.String,
  age: Schema.optional(Schema.Number)
})
const people = Collection.define("people", Person)
const builder = ChainBuilder.make<number, string>()
class Broken extends Data.TaggedError("Broken")<{}> {}
class Refused extends Data.TaggedError("Refused")<{}> {}
class Ledger extends Context.Tag("Ledger")<Ledger, { readonly open: boolean }>() {}
const failing = (_: number) => Effect.fail(new Broken())
const whileRefused = Schedule.recurWhile((error: Refused) => error._tag === "Refused")
const chain = builder.use(failing).build()
const needing = builder.use(() => Effect.map(Ledger, () => "x")).build()
declare const store: StoreService
declare const promises: AsyncStore

// Argument of type '(request: number) => number' is not assignable to parameter of type
export const answer = builder.use((request) => request + 1)
// Argument of type '(text: string) => string' is not assignable to parameter of type
export const request = builder.use((text: string) => text)
// Type 'number' is not assignable to type 'Reply<string, any, any>'.
export const object = builder.use({ handle: (request) => request })
// Type 'string' is not assignable to type 'Reply<boolean, any, any>'.
export const verdict = builder.use({ canHandle: () => "yes", process: () => "even" })
// Argument of type 'ChainBuilder<string, string, never, never, UnhandledRequestError>' is not assignable
export const fragment = builder.use(ChainBuilder.make<string, string>())
// Type 'string' is not assignable to type 'undefined'.
export const kind = builder.use(builder, { kind: "middleware" })
// Argument of type 'string' is not assignable to parameter of type 'ConditionFunction<number>'.
export const condition = builder.useWhen("even", () => "even")
// Type 'number' is not assignable to type 'Reply<string, any, any>'.
export const reply = builder.useWhen(Boolean, (request) => request)
// Type 'number' is not assignable to type 'ChainBuilder<number, string, unknown, unknown, unknown>'.
export const branch = builder.useBranch(Boolean, () => 5)
// Argument of type 'string' is not assignable to parameter of type 'number'.
export const executed = Chain.execute(builder.build(), "five")
// Argument of type 'string' is not assignable to parameter of type 'number'.
export const executedLast = chain.pipe(Chain.execute("five"))
// Argument of type 'string' is not assignable to parameter of type 'number'.
export const named = chain.pipe(Chain.executeNamed("five"))
// Argument of type 'string' is not assignable to parameter of type 'number'.
export const traced = pipe(chain, Chain.trace("five"))
// Argument of type 'string' is not assignable to parameter of type 'number'.
export const exit = chain.pipe(Chain.executeExit("five"))
// Argument of type 'Chain<number, string, never, Ledger, UnhandledRequestError>' is not assignable to parameter of type 'Chain<number, string, never, never, UnhandledRequestError>'.
export const sync = Chain.executeSync(needing, 5)
// Argument of type 'number' is not assignable to parameter of type '{ readonly "this chain requires": Ledger; }'.
export const syncLast = needing.pipe(Chain.executeSync(5))
// Property '[TypeId]' is missing in type 'ChainBuilder<number, string, never, never, UnhandledRequestError>' but required in type 'Chain<
export const unbuilt = Chain.execute(builder, 5)
// Argument of type '() => number' is not assignable to parameter of type 'Middleware<number, string,
export const middleware = Chain.withMiddleware(chain, () => 5)
// Argument of type '() => number' is not assignable to parameter of type 'Middleware<number, string,
export const middlewareLast = chain.pipe(Chain.withMiddleware(() => 5))
// Object literal may only specify known properties, but 'nme' does not exist in type 'StepOptions'.
export const middlewareOptions = Chain.withMiddleware(chain, (n, next) => next(n), { nme: "x" })
// Argument of type 'string' is not assignable to parameter of type 'Middleware<number,
export const noMiddleware = Chain.withMiddleware(chain, "patient")
// Argument of type 'string' is not assignable to parameter of type 'Middleware<number,
export const noMiddlewareLast = chain.pipe(Chain.withMiddleware("patient"))
// Property '[TypeId]' is missing in type 'ChainBuilder<number, string, never, never, UnhandledRequestError>' but required in type 'Chain<
export const unbuiltMiddleware = Chain.withMiddleware(builder, (n, next) => next(n))
// Argument of type 'number' is not assignable to parameter of type 'Context<unknown>'.
export const contextLast = needing.pipe(Chain.provide(5))
// Argument of type 'number' is not assignable to parameter of type 'Schedule<unknown, never, unknown>'.
export const policy = Policy.retry(() => "x", 3)
// Argument of type 'number' is not assignable to parameter of type 'Schedule<unknown, Broken, unknown>'.
export const policyLast = pipe(failing, Policy.retry(3))
// Argument of type 'Schedule<Refused, Refused, never>' is not assignable to parameter of type 'Schedule<Refused, NoInfer<Broken>, never>'.
export const retried = Policy.retry(failing, whileRefused)
// Argument of type 'Schedule<Refused, Refused, never>' is not assignable to parameter of type 'Schedule<Refused, Broken, never>'.
export const retriedLast = pipe(failing, Policy.retry(whileRefused))
// Argument of type '(error: Refused) => "Refused"' is not assignable to parameter of type '(error: Broken) => "Refused"'.
export const recovered = Policy.recover(failing, (error: Refused) => error._tag)
// Argument of type '(error: Refused) => "Refused"' is not assignable to parameter of type '(error: Broken) => "Refused"'.
export const recoveredLast = pipe(failing, Policy.recover((error: Refused) => error._tag)) // biome-ignore format: one line
// Argument of type 'number' is not assignable to parameter of type '(error: Broken) => unknown'.
export const unanswered = pipe(failing, Policy.recover(5))
// Property 'message2' does not exist on type 'Broken'.
export const misspelt = pipe(failing, Policy.recover((error) => error.message2)) // biome-ignore format: one line
// Argument of type '30' is not assignable to parameter of type 'DurationInput'.
export const timed = Policy.timeout(failing, 30)
// Argument of type '30' is not assignable to parameter of type 'DurationInput'.
export const timedLast = pipe(failing, Policy.timeout(30))

// Argument of type '"town"' is not assignable to parameter of type '"_created_at" | "_id" | "_rev" | "_updated_at" | "age" | "city" | "name"'.
export const field = store.collection(people).findBy("town", "London")
// Argument of type 'string' is not assignable to parameter of type 'number'.
export const value = store.collection(people).findBy("age", "old")
// Argument of type 'number' is not assignable to parameter of type 'string | CollectionDefinition<string, DocumentSchema>'.
export const name = store.collection(5)
// Object literal may only specify known properties, and 'name' does not exist in type 'Schema<any, any, unknown>'.
export const schema = store.collection("people", { name: Schema.String })
// Argument of type 'Struct<{ name: typeof String$; city: typeof String$; age: optional<typeof Number$>; }>' is not assignable to parameter of type 'undefined'.
export const second = store.collection(people, Person)
// Type 'string' is not assignable to type 'FieldCondition<number> | undefined'.
export const query = store.collection(people).query({ where: { age: "old" } })
// Type 'string' is not assignable to type 'FieldCondition<number> | undefined'.
export const selecting = store.collection(people).query({ where: { age: "old" }, select: ["name"] })
// Type '"town"' is not assignable to type '"age" | "city" | "name" | keyof DocumentMetadata'.
export const selected = store.collection(people).queryAll({ select: ["town"] })
// Object literal may only specify known properties, but 'whre' does not exist in type
export const member = store.collection(people).queryAll({ whre: { age: 5 } })
// Property 'city' is missing in type '{ name: string; }'
export const inserted = store.collection(people).insert({ name: "Ada" })
// Type 'number' is not assignable to type 'string'.
export const patch = store.collection(people).update("ada", { city: 5 })
// Property 'city' is missing in type '{ name: string; }'
export const put = store.batch({}, (batch) => batch.put(people, "ada", { name: "Ada" }))
// Type '"town"' is not assignable to type '"age" | "city" | "name" |
export const index = Collection.define("people", Person, { indexes: ["town"] })
// Object literal may only specify known properties, but 'readonly' does not exist in type 'StoreOptions<undefined>'. Did you mean to write 'readOnly'?
export const option = Store.layer({ readonly: true })
// Type 'number' is not assignable to type 'DurationInput | undefined'.
export const duration = openStore({ repo: "o/r", deadline: 30 })
// Argument of type '() => Promise<void>' is not assignable to parameter of type '(batch: Batch) => Effect<
export const body = store.batch({}, async () => {})
// Argument of type '() => Effect.Effect<void, never, never>' is not assignable to parameter of type 'Effect<
export const transaction = store.withTransaction(() => Effect.void)
// Argument of type '() => Effect.Effect<void, never, never>' is not assignable to parameter of type
export const provided = Store.withTransaction(() => Effect.void)
// Type 'string' is not assignable to type 'never'.
export const branchless = Store.withTransaction({ message: "transfer", brnch: "work" })
// Type 'string' is not assignable to type 'FieldCondition<number> | undefined'.
export const promised = promises.collection(people).query({ where: { age: "old" } })
// Argument of type 'number' is not assignable to parameter of type 'string | CollectionDefinition<
export const promisedName = promises.collection(5)
