import { Effect } from "effect"
import compose from "koa-compose"
import { Chain, ChainBuilder, Logging } from "../src/chain/index.js"
import { type Comparison, compareIsolated, report } from "./support/compare.js"

interface Link {
  readonly when: (request: number) => boolean
  readonly respond: (request: number) => string
}

/** Only the last step accepts the request. */
const links = (size: number): ReadonlyArray<Link> =>
  Array.from({ length: size }, (_, index) => ({
    when: (request) => request === index + 1,
    respond: (request) => `answer ${request}`
  }))

const chainOf = (of: ReadonlyArray<Link>) =>
  of
    .reduce((builder, link) => builder.useWhen(link.when, link.respond), ChainBuilder.make<number, string>())
    .build()

interface KoaContext {
  readonly request: number
}

const koaPlain = (of: ReadonlyArray<Link>) => {
  const run = compose<KoaContext>(
    of.map((link) => (context, next) => (link.when(context.request) ? link.respond(context.request) : next()))
  )
  return (request: number) => run({ request })
}

const koaAsync = (of: ReadonlyArray<Link>) => {
  const run = compose<KoaContext>(
    of.map((link) => async (context, next) => {
      if (link.when(context.request)) return link.respond(context.request)
      return await next()
    })
  )
  return (request: number) => run({ request })
}

const loop = (of: ReadonlyArray<Link>) => (request: number) => {
  for (const link of of) {
    if (link.when(request)) return link.respond(request)
  }
  throw new Error("nobody")
}

let sink: unknown

const awaited = (name: string, run: (request: number) => Promise<unknown>, request: number) => ({
  name,
  run: async (iterations: number) => {
    for (let i = 0; i < iterations; i++) sink = await run(request)
  }
})

const plain = (name: string, run: (request: number) => unknown, request: number) => ({
  name,
  run: (iterations: number) => {
    for (let i = 0; i < iterations; i++) sink = run(request)
  }
})

const inFiber = (
  name: string,
  run: (request: number) => Effect.Effect<unknown, unknown>,
  request: number
) => ({
  name,
  run: (iterations: number) =>
    Effect.runPromise(
      Effect.gen(function* () {
        for (let i = 0; i < iterations; i++) sink = yield* run(request)
      })
    )
})

const sizes = [1, 5, 20, 100]
const cases: Record<string, () => Comparison> = {}
for (const size of sizes) {
  cases[`fiber-${size}`] = () => ({
    title: `execute in a fiber, ${size} steps`,
    peer: "koa-compose, plain functions",
    variants: [
      awaited("koa-compose, plain functions", koaPlain(links(size)), size),
      ((chain) => inFiber("Chain.execute", (request) => Chain.execute(chain, request), size))(
        chainOf(links(size))
      )
    ]
  })
}
for (const size of sizes) {
  const chain = chainOf(links(size))
  cases[`mapped-${size}`] = () => ({
    title: `execute in a fiber through Effect.map, ${size} steps`,
    peer: "koa-compose, plain functions",
    variants: [
      awaited("koa-compose, plain functions", koaPlain(links(size)), size),
      inFiber("Chain.execute, mapped", (request) => Effect.map(Chain.execute(chain, request), (s) => s), size)
    ]
  })
}
for (const size of sizes) {
  cases[`sync-${size}`] = () => ({
    title: `executeSync, ${size} steps`,
    peer: "plain loop",
    variants: [
      plain("plain loop", loop(links(size)), size),
      ((chain) => plain("Chain.executeSync", (request) => Chain.executeSync(chain, request), size))(
        chainOf(links(size))
      )
    ]
  })
}
for (const size of sizes) {
  cases[`promise-${size}`] = () => ({
    title: `runPromise, ${size} steps`,
    peer: "koa-compose, async functions",
    variants: [
      awaited("koa-compose, async functions", koaAsync(links(size)), size),
      ((chain) =>
        awaited(
          "Effect.runPromise(Chain.execute)",
          (request) => Effect.runPromise(Chain.execute(chain, request)),
          size
        ))(chainOf(links(size)))
    ]
  })
}
/** The work of one playground request: build the chain, log its execution, name the handling step. */
const adHoc = (of: ReadonlyArray<Link>, request: number) => {
  const lines: Array<string> = []
  let builder = ChainBuilder.make<number, string>("ad-hoc").useLogging({
    level: "Information",
    write: (entry) => lines.push(Logging.format(entry))
  })
  for (const link of of) builder = builder.useWhen(link.when, link.respond, { name: "link" })
  const exit = Chain.executeNamedExit(builder.withFallback(() => "fallback").build(), request)
  return [exit, lines]
}

const adHocByHand = (of: ReadonlyArray<Link>, request: number) => {
  const lines: Array<string> = ["Information: Executing chain ad-hoc."]
  const started = performance.now()
  const steps = of.map((link) => ({ when: link.when, respond: link.respond, name: "link" }))
  let answer: { readonly response: string; readonly handledBy: string } | undefined
  for (const step of steps) {
    if (step.when(request)) {
      answer = { response: step.respond(request), handledBy: step.name }
      break
    }
  }
  lines.push(`Information: Executed chain ad-hoc in ${(performance.now() - started).toFixed(3)} ms.`)
  return [answer ?? { response: "fallback", handledBy: "fallback" }, lines]
}

for (const size of [3, 20, 1_000, 10_000]) {
  cases[`adhoc-${size}`] = () => {
    const of = links(size)
    return {
      title: `compose, log and execute as the playground does, ${size} steps`,
      peer: "by hand",
      variants: [
        plain("by hand", (request) => adHocByHand(of, request), size),
        plain("ChainBuilder", (request) => adHoc(of, request), size)
      ]
    }
  }
}
for (const size of [100, 1_000, 10_000]) {
  cases[`compose-${size}`] = () => {
    const of = links(size)
    return {
      title: `compose and execute, ${size} steps`,
      peer: "koa-compose, plain functions",
      variants: [
        awaited("koa-compose, plain functions", (request) => koaPlain(of)(request), Math.min(size, 1000)),
        plain(
          "build and executeSync",
          (request) => Chain.executeSync(chainOf(of), request),
          Math.min(size, 1000)
        )
      ]
    }
  }
}

const results = await compareIsolated(import.meta.url, cases)
report("Chains", results)
Reflect.set(globalThis, "sink", sink)
