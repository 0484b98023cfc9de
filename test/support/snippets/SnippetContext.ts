/** The code around a snippet that makes it a program: definitions from the text or from an earlier snippet of the page. */
export interface SnippetContext {
  readonly imports?: string
  readonly before?: string
  readonly after?: string
  /** The snippet uses a `store`; one that begins a line with `yield*` has it without this. */
  readonly store?: boolean
}

const ticket = `
interface Ticket { readonly id: number; readonly kind: string; readonly priority?: string }
const ticket: Ticket = { id: 1, kind: "refund" }
const lines: Array<string> = []`

const person = `
const Person = Schema.Struct({ name: Schema.String, role: Schema.String })`

/** Runs each test of a snippet immediately. */
const running = `
const tests: Array<unknown> = []
const it = (_name: string, run: () => unknown) => void tests.push(run())`

const onGitHub = {
  imports: `import { redirectGitHub } from "../../support/snippets/RedirectGitHub.js"\n`,
  before: "const back = await redirectGitHub()",
  after: "await back()"
}

const accounts = `
class Accounts extends Context.Tag("Accounts")<Accounts, {
  readonly withdraw: (id: string, amount: number) => Effect.Effect<void>
  readonly deposit: (id: string, amount: number) => Effect.Effect<void>
}>() {}`

const stock = `
yield* store.collection("stock").insert({ price: 4 }, { id: "tea" })
yield* store.collection("stock").insert({ price: 2 }, { id: "milk" })
yield* store.createBranch("autumn")
yield* store.createBranch("v1")`

const provided = "await Effect.runPromise(Effect.provide(program, Layer.provide(Store.layer(), remote)))"

export const snippetContexts: Readonly<Record<string, SnippetContext>> = {
  "README.md 3": { before: ticket },
  "docs/branches.md 1": {
    before: `yield* store.collection("products").insert({ price: 4 }, { id: "tea" })`
  },
  "docs/branches.md 2": {
    store: true,
    before: `yield* store.collection("products").insert({ price: 4 }, { id: "tea" })
yield* store.createBranch("autumn")`
  },
  "docs/chain.md 1": { before: ticket },
  "docs/chain.md 2": {
    before: `
class Busy extends Data.TaggedError("Busy") {}
const chain = ChainBuilder.make<number, string>().use(() => Effect.fail(new Busy())).build()`,
    after: `if ((await Effect.runPromise(Chain.execute(patient, 1))) !== "later") throw new Error("not later")`,
    imports: `import { Data } from "effect"\n`
  },
  "docs/chain.md 3": {
    before: `
const isForeign = (amount: number) => amount < 0
const convert = (amount: number) => Effect.succeed(amount * 2)
ChainBuilder.make<number, number>()`
  },
  "docs/chain.md 4": {
    before: `${ticket}
class MailError extends Data.TaggedError("MailError") {}
class Mailbox extends Context.Tag("Mailbox")<Mailbox, string>() {}
const context = Context.make(Mailbox, "inbox")
const chain = ChainBuilder.make<Ticket, string>().use((one) => one.id > 0 ? Effect.as(Mailbox, "sent") : Effect.fail(new MailError())).build()`,
    imports: `import { Data } from "effect"\n`
  },
  "docs/chain.md 5": {
    before: `const builder = ChainBuilder.make<number, string>().useWhen((n) => n > 0, (n) => \`\${n}\`)`
  },
  "docs/errors.md 1": {
    store: true,
    before: `yield* store.collection("stock").insert({ count: 3 }, { id: "tea" })`,
    after: `yield* Effect.all([take("tea"), take("tea")], { concurrency: 2 })`
  },
  "docs/errors.md 2": { after: `await Effect.runPromise(patient(Effect.void))` },
  "docs/errors.md 3": { store: true, after: "yield* read" },
  "docs/git-hosts.md 2": { after: `if (!Layer.isLayer(bySsh)) throw new Error("no layer")` },
  "docs/github.md 1": onGitHub,
  "docs/host.md 1": {
    before: `const clock = Effect.succeed(0)`,
    imports: `import * as RateLimits from "../../../src/http/host/access/RateLimits.js"\n`
  },
  "docs/host.md 2": {
    imports: `import * as HostServers from "../../support/host/HostServer.js"
import { describe, it } from "@effect/vitest"\n`,
    before: `
const HostServer = Object.assign(HostServers.HostServer, { layer: HostServers.layer })
const layer = <A, E>(all: Layer.Layer<A, E>) => (_name: string, tests: (it: { readonly effect: (name: string, run: () => Effect.Effect<void, E, A>) => void }) => void) =>
  tests({ effect: (_test, run) => void running.push(Effect.runPromise(Effect.provide(run(), all))) })
const running: Array<Promise<void>> = []`,
    after: "await Promise.all(running)"
  },
  "docs/indexes.md 2": { store: true, before: `const people = store.collection("people")` },
  "docs/indexes.md 3": { store: true, before: `const people = store.collection("people")` },
  "docs/local.md 1": { after: provided },
  "docs/merging.md 1": {
    before: `const products = store.collection("products")
yield* products.insert({ name: "Pen", price: 1 }, { id: "pen" })`
  },
  "docs/merging.md 2": {
    before: `const Line = Schema.Struct({ sku: Schema.String })
const patch = { stock: 3 }
const base = 1
yield* store.collection("products").insert({ name: "Pen", stock: 2, tags: [], lines: [] }, { id: "pen" })`
  },
  "docs/proposals.md 1": {
    before: `const products = store.collection("products")
yield* products.insert({ name: "Tea", price: 4 }, { id: "tea" })
yield* products.insert({ name: "Milk", price: 2 }, { id: "milk" })`
  },
  "docs/observability.md 1": {
    before: `const program = Effect.void\nconst tracing = Layer.empty`
  },
  "docs/operations.md 2": { before: accounts },
  "docs/operations.md 3": {
    imports: `import { StoreArbitrary } from "chainstore/testing"\n`,
    before: `
const fields = { indexes: { c: ["a"] }, manifests: { c: ["b"] } }
const repository = new Memory.MemoryRepository()
const [program] = FastCheck.sample(StoreArbitrary.program({ writers: 2, steps: 3, faults: false }), { numRuns: 1, seed: 1 })
if (program === undefined) throw new Error("none was made")`,
    after: `if (problems.length > 0) throw new Error(problems.join())`
  },
  "docs/operations.md 4": {
    before: `const directory = "host"\nconst token = "0123456789abcdef0123456789abcdef"`
  },
  "docs/coming-from.md 1": onGitHub,
  "docs/coming-from.md 2": {
    after: `
const program = Effect.gen(function* () {
  yield* (yield* Store).collection(people).insert({ name: "Ada", city: "London" }, { id: "ada" })
  yield* move("ada", "Paris")
})
await Effect.runPromise(program.pipe(
  Effect.provide(Layer.provide(live, Memory.layer())),
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["BRANCH", "main"]])))
))`
  },
  "docs/promise.md 1": onGitHub,
  "docs/queries.md 1": {
    before: `const places = store.collection("places")
const same = { orderBy: [{ field: "price", order: "desc" }, "name"] } as const`
  },
  "docs/service.md 2": {
    imports: `import * as ConsoleMounts from "../../../src/http/console/ConsoleMounts.js"
import * as HostMounts from "../../../src/http/host/HostMounts.js"
import * as Reference from "../../../src/http/reference/ReferenceMount.js"
import type { Mount } from "chainstore/http"\n`,
    before: `
const settings = { publicUrl: undefined }
const mounts: ReadonlyArray<Mount.Mount> = []
const groups = Effect.gen(function* () { return {`,
    after: "} })"
  },
  "docs/store.md 2": {
    after: "await Effect.runPromise(names.pipe(Effect.provide(layer), Effect.provide(Memory.layer())))"
  },
  "docs/store.md 3": { before: person },
  "docs/store.md 4": {
    before: `${person}
const people = Collection.define("people", Person)`
  },
  "docs/store.md 5": { before: person },
  "docs/testing.md 1": {
    before: `${running}
interface Ticket { readonly id: number; readonly kind: string; readonly priority: string }
const triage = ChainBuilder.make<Ticket, string>().useWhen(({ kind }) => kind === "refund", ({ id }) => \`refund \${id}\`)
const kind = FastCheck.constantFrom("refund", "other")
const priority = FastCheck.constantFrom("urgent", "normal")`,
    after: "await Promise.all(tests)"
  },
  "docs/two-stores.md 1": { after: `await Effect.runPromise(Effect.provide(retire("none"), both))` },
  "docs/writing-a-remote.md 1": {
    after: `
const error = await Effect.runPromise(
  Effect.provide(Effect.flatMap(Store, (store) => Effect.flip(store.collection("a").insert({}))), guarded)
)
if (error._tag !== "AuthError") throw error`
  },
  "docs/writing-a-remote.md 2": { before: running, after: "await Promise.all(tests)" },
  "docs/testing.md 2": { before: running, after: "await Promise.all(tests)" },
  "src/chain/Chain.ts": {
    before: `const chain = ChainBuilder.make<string, string>().withFallback((text) => text).build()`
  },
  "src/chain/Chain.ts 3": {
    before: `
class Busy extends Data.TaggedError("Busy") {}
const chain = ChainBuilder.make<number, string>().use(() => Effect.fail(new Busy())).build()`,
    imports: `import { Data } from "effect"\n`
  },
  "src/chain/ChainBuilder.ts": {
    before: ticket,
    after: `if (reply !== "refund issued for ticket 7.") throw new Error(reply)`
  },
  "src/chain/Policy.ts": {
    before: `${ticket}
class Busy extends Data.TaggedError("Busy") {}
const ask = (one: Ticket): Effect.Effect<string, Busy> => one.id > 0 ? Effect.succeed("yes") : Effect.fail(new Busy())`,
    imports: `import { Data } from "effect"\n`
  },
  "src/codec/Document.ts": {
    before: person,
    imports: `import * as Codec from "chainstore/codec"\n`
  },
  "src/domain/errors/StoreError.ts": {
    store: true,
    before: `const people = store.collection("people")`,
    after: "yield* taken"
  },
  "src/store/Batch.ts": { before: stock },
  "src/store/Cache.ts": { imports: `import type { CacheEntry } from "chainstore/store"\n` },
  "src/store/Collection.ts": {
    before: `
const Person = Schema.Struct({ name: Schema.String, city: Schema.optional(Schema.String), age: Schema.optional(Schema.Number), visits: Schema.optionalWith(Schema.Number, { default: () => 0 }) })
const people = store.collection("people", Person)
yield* people.insert({ name: "Ada", city: "London" }, { id: "ada" })`
  },
  "src/store/CollectionDefinition.ts": {
    before: `
const Person = Schema.Struct({ name: Schema.String, city: Schema.String })`
  },
  "src/store/Proposals.ts": { before: stock },
  "src/store/StoreService.ts": { store: true, before: stock },
  "src/store/Store.ts 2": {
    before: `${accounts}
const accounts = Accounts.of({ withdraw: () => Effect.void, deposit: () => Effect.void })`
  },
  "src/store/Transaction.ts": { before: stock },
  "src/store/Writer.ts": { before: `const measured = Stream.make({ at: "noon", value: 1 })` },
  "src/store/promise/OpenStore.ts": onGitHub,
  "src/store/transfer/FromDbapi.ts": {
    before: `
const client = { query: <A>(cursor: A) => cursor }
class Cursor { constructor(readonly text: string) {}; read = async () => [] as ReadonlyArray<unknown> }`
  },
  "src/store/transfer/FromMongo.ts": {
    before: `
const found = Object.assign((async function* () {})(), { close: async () => {}, project: () => found, limit: () => found })
const client = { db: (_name: string) => ({ collection: (_of: string) => ({ find: () => found }) }) }`
  },
  "src/store/transfer/FromSql.ts": { before: `const database = { query: async () => ({ rows: [] }) }` }
}
