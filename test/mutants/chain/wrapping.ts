import { mutant } from "../bundled.js"

const wrap = "internal/WrapMiddleware.ts"
const chain = "Chain.ts"
const firstStep = "The first step of the result is the middleware."
const inside =
  "If the result is merged into another chain by `use`, the steps after it also run inside the middleware."
const named = "Pass `{ name, description, handle }` instead of the function to name the middleware."
const options =
  "If the chain is the first argument, the last argument can be the options `{ name, description }`."
const unanswered = "it lacks `UnhandledRequestError` if the middleware handles that error"
const warned = "the steps that no request can reach because a merged fragment before them has a fallback"
const stack = "Chains of any length are safe: 100,000 steps, pure or effectful, overflow no stack."
const start =
  "let surrounding: Registered = { ...withoutFallback(root), previous: root, step, count: 1, size: 1 }"
const end = "return { ...surrounding, fallback: registered.fallback, ends: registered.ends }"
const counts = "count: one.count + 1, size: one.size + 1 }"
const name = 'name: options.name || middleware.name || "middleware",'
const ofObject = "const { description = middleware.description, name = middleware.name } = options"

/** Faults of middleware around a built chain, and of chains that are copied. */
export const wrapping = [
  mutant(
    "middleware around a chain is its last step",
    firstStep,
    [wrap, start, "let surrounding: Registered = root"],
    [wrap, counts, "count: one.count, size: one.size }"],
    [
      wrap,
      end,
      "return { ...withoutFallback(registered), previous: surrounding, step, count: registered.count + 1, size: registered.size + 1, fallback: registered.fallback, ends: registered.ends }"
    ]
  ),
  mutant("middleware around a chain drops the fallback", firstStep, [
    wrap,
    end,
    "return { ...surrounding, fallback: undefined, ends: false }"
  ]),
  mutant("middleware around a chain replaces the first step", firstStep, [
    wrap,
    "for (const one of builders.reverse())",
    "for (const one of builders.reverse().slice(1))"
  ]),
  mutant("a chain in a middleware ends nothing", warned, [wrap, "ends: registered.ends", "ends: false"]),
  mutant(
    "middleware around a chain does not count",
    firstStep,
    [wrap, "step, count: 1, size: 1 }", "step, count: 0, size: 1 }"],
    [wrap, counts, "count: one.count, size: one.size + 1 }"]
  ),
  mutant("middleware around a chain is a handler", firstStep, [
    wrap,
    'kind: "middleware"',
    'kind: "handler"'
  ]),
  mutant("the name of a middleware's function is not read", named, [
    wrap,
    name,
    'name: options.name || "middleware",'
  ]),
  mutant("a name given to withMiddleware is not read", options, [
    wrap,
    name,
    'name: middleware.name || options.name || "middleware",'
  ]),
  mutant("a description given to withMiddleware is dropped", options, [
    wrap,
    "description: options.description",
    "description: undefined"
  ]),
  mutant("an object around a chain loses itself", named, [
    chain,
    "(request, next) => middleware.handle(request, next)",
    "middleware.handle"
  ]),
  mutant("the name of an object around a chain is not read", named, [
    chain,
    ofObject,
    "const { description = middleware.description, name } = options"
  ]),
  mutant("the description of an object around a chain is not read", named, [
    chain,
    ofObject,
    "const { description, name = middleware.name } = options"
  ]),
  mutant("an object around a chain overrides the options", options, [
    chain,
    ofObject,
    "const { description = options.description, name = options.name } = middleware"
  ]),
  mutant("middleware around a chain does not see unhandled requests", unanswered, [
    chain,
    'if (typeof middleware === "function") return new Compiled(wrapMiddleware(registered, middleware, options))',
    'if (typeof middleware === "function") { const before = middleware; const named: any = { [before.name]: (request: any, next: any) => Effect.catchTag(before(request, (changed: any) => Effect.catchTag(next(changed), "UnhandledRequestError" as never, (error: any) => Effect.die(error))) as any, "never" as never, Effect.fail) }[before.name]; return new Compiled(wrapMiddleware(registered, named, options)) }'
  ]),
  mutant(
    "steps after a merged chain run outside its middleware",
    inside,
    [
      "ChainBuilder.ts",
      'import type * as Effect from "effect/Effect"',
      'import * as Effect from "effect/Effect"'
    ],
    [
      "ChainBuilder.ts",
      "import { type Chain, Compiled, isChain }",
      "import { type Chain, Compiled, execute, isChain }"
    ],
    [
      "ChainBuilder.ts",
      "if (isChain(what)) return this.merge(",
      'if (isChain(what) && (what as any).registered.fallback === undefined && (what as any).registered.count === 2) return this.use((request: any, next: any) => Effect.catchTag(execute(what as any, request) as any, "UnhandledRequestError" as never, () => next(request)) as any, options)\n    if (isChain(what)) return this.merge('
    ]
  ),
  mutant("middleware around a chain takes a frame for each step", stack, [
    wrap,
    "  let root = registered\n  for (; root.step !== undefined; root = root.previous!) builders.push(root)",
    "  const walk = (at: Registered): Registered => { if (at.step === undefined) return at; builders.push(at); const end = walk(at.previous!); return end }\n  const root = walk(registered)"
  ]),
  mutant("provide takes a frame for each step", stack, [
    "internal/ProvideContext.ts",
    "  let root = registered\n  for (; root.step !== undefined; root = root.previous!) builders.push(root)",
    "  const walk = (at: Registered): Registered => { if (at.step === undefined) return at; builders.push(at); const end = walk(at.previous!); return end }\n  const root = walk(registered)"
  ]),
  mutant("a description takes a frame for each step", stack, [
    "internal/Compile.ts",
    "  let at: Registered | undefined = registered\n  for (let index = registered.count - 1; index >= 0; index--) {\n    steps[index] = at!.step!\n    at = at!.previous\n  }",
    "  const walk = (at: Registered, index: number): number => { if (index < 0) return 0; steps[index] = at.step!; const visited = walk(at.previous!, index - 1); return visited + 1 }\n  walk(registered, registered.count - 1)"
  ]),
  mutant("a middleware hides that a fragment in its chain has a fallback", warned, [
    "internal/WrapMiddleware.ts",
    "ends: registered.ends",
    "ends: registered.fallback !== undefined"
  ]),
  mutant(
    "middleware object's description lost",
    "Pass `{ name, description, handle }` instead of the function to name the middleware.",
    ["Chain.ts", '{ name: name ?? "middleware", description }', '{ name: name ?? "middleware" }']
  )
]
