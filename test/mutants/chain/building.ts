import { mutant } from "../bundled.js"

const builder = "ChainBuilder.ts"
const immutable =
  "A builder is immutable: every method returns a new builder. Every builder can be built, extended and merged any number of times."
const branchGoesOn =
  "a request that they refuse goes to the step after the branch, unless the branch has a fallback"
const fragmentGoesOn =
  "a request that they refuse goes to the step after the fragment, unless the fragment has a fallback: then the fragment ends the chain"
const counts =
  "the number of registered steps: middleware, branches and merged fragments count one each, a fallback none"
const described = "`{ name, count, handlers: [{ name, kind, description }] }`, the fallback last"
const options = "`options` are `{ name, description }` for descriptions, traces and `handledBy`"
const unnamed = "A step without a name is named after its function or its position (`handler-3`)."
const ofTheObject = "An object's own `name` and `description` are the defaults of its options."
const printed = "A counterexample shows the description of the chain, as printing a builder or a chain does."
const lastStep = "handles the requests that no step accepts; the last fallback set counts"
const warned = "the steps that no request can reach because a merged fragment before them has a fallback"

/** Faults of building, describing and warning. */
export const building = [
  mutant("use changes the builder", immutable, [
    builder,
    `    return new ChainBuilder(
      this.name,
      this,
      step,`,
    `    const before = new ChainBuilder(this.name, this.previous, this.step, this.fallback, this.count, this.size, this.ends)
    return Object.assign(this, { previous: before, step, count: this.count + 1, size: this.size + places, ends: this.ends || ends })
    return new ChainBuilder(
      this.name,
      this,
      step,`
  ]),
  mutant("withFallback changes the builder", immutable, [
    builder,
    "return new ChainBuilder(this.name, this.previous, this.step, step, this.count, this.size, true)",
    "return Object.assign(this, { fallback: step, ends: true }) as never"
  ]),
  mutant("build lets nobody extend the builder", immutable, [
    builder,
    "return new Compiled(this)",
    "return new Compiled(Object.assign(this, { append: () => this }))"
  ]),
  mutant(
    "the first fallback counts",
    "handles the requests that no step accepts; the last fallback set counts",
    [
      builder,
      "return new ChainBuilder(this.name, this.previous, this.step, step,",
      "return new ChainBuilder(this.name, this.previous, this.step, this.fallback ?? step,"
    ]
  ),
  mutant(
    "a step after the fallback drops it",
    "handles the requests that no step accepts; the last fallback set counts",
    [builder, "      step,\n      this.fallback,", "      step,\n      undefined,"]
  ),
  mutant("a merged fragment loses its fallback", fragmentGoesOn, [
    builder,
    "const name = options?.name || inner.name\n",
    "const name = options?.name || inner.name\n    inner = { ...inner, fallback: undefined, ends: false }\n"
  ]),
  mutant("a merged chain loses its last step", "merges the steps of a builder or a built chain", [
    builder,
    "return this.merge((what as Compiled<any, any, any, any, any>).registered, options)",
    "return this.merge((what as any).registered.previous ?? (what as any).registered, options)"
  ]),
  mutant(
    "a merged builder is replaced by a step that refuses",
    "merges the steps of a builder or a built chain",
    [
      builder,
      "if (what instanceof ChainBuilder) return this.merge(what, options)",
      "if (what instanceof ChainBuilder) return this.merge(ChainBuilder.make(what.name), options)"
    ]
  ),
  mutant("a branch loses its fallback", branchGoesOn, [
    builder,
    "return this.enter(condition, inner, places, name",
    "return this.enter(condition, { ...inner, fallback: undefined } as never, 1 + inner.size, name"
  ]),
  mutant(
    "a branch that refuses its request runs its last step",
    "`configure(branch)` adds steps for those requests",
    [builder, "      skip: places,", "      skip: Math.max(1, places - 1),"]
  ),
  mutant("a branch is entered without being asked", "`configure(branch)` adds steps for those requests", [
    builder,
    "return this.enter(condition, inner, places",
    "return this.enter(() => true, inner, places"
  ]),
  mutant("a branch that was refused goes to the end of the chain", branchGoesOn, [
    "internal/Interpreter.ts",
    "else index += step.skip",
    "else index = program.length - 1"
  ]),
  mutant("a selective handler is never asked", "`{ canHandle(request), process(request) }`", [
    builder,
    "(request) => what.canHandle(request),",
    "undefined,"
  ]),
  mutant("a selective handler loses its object", "`{ canHandle(request), process(request) }`", [
    builder,
    "(request) => what.process(request),",
    "what.process,"
  ]),
  mutant("canHandle loses its object", "`{ canHandle(request), process(request) }`", [
    builder,
    "(request) => what.canHandle(request),",
    "what.canHandle,"
  ]),
  mutant("a handler object loses itself", "`{ handle(request, next) }`", [
    builder,
    "(request, next) => what.handle(request, next),",
    "what.handle,"
  ]),
  mutant("a function's name is not read", unnamed, [
    builder,
    "options?.name ?? what.name,\n        options?.kind",
    'options?.name ?? "",\n        options?.kind'
  ]),
  mutant("places are counted from zero", unnamed, [
    builder,
    "`${kind}-${this.count + 1}` : name",
    "`${kind}-${this.count}` : name"
  ]),
  mutant("a name given to useWhen is not read", options, [
    builder,
    'options?.name ?? handler.name, "handler", options',
    'handler.name, "handler", options'
  ]),
  mutant("a name given to a merge is not read", options, [
    builder,
    "const name = options?.name || inner.name",
    "const name = inner.name"
  ]),
  mutant("a name given to a branch is not read", options, [
    builder,
    "const name = options?.name || `branch-",
    "const name = `branch-"
  ]),
  mutant("a name given to a fallback is not read", options, [
    builder,
    'const name = options?.name || "fallback"',
    'const name = "fallback"'
  ]),
  mutant("descriptions of handlers are dropped", options, [
    builder,
    "leaf(op, when, run, shown, kind, options?.description, undefined)",
    "leaf(op, when, run, shown, kind, undefined, undefined)"
  ]),
  mutant("descriptions of branches are dropped", options, [
    builder,
    "places, name, options?.description, false)",
    "places, name, undefined, false)"
  ]),
  mutant("a description of a fallback is dropped", options, [
    builder,
    'fallback, name, "fallback", options?.description,',
    'fallback, name, "fallback", undefined,'
  ]),
  mutant("middleware is described as a handler", '`kind: "middleware"`', [
    builder,
    '        options?.kind ?? "handler",\n        options\n',
    '        "handler",\n        options\n'
  ]),
  mutant("a builder without a name has none", '`ChainBuilder.make<Req, Res>(name = "chain")`', [
    builder,
    'static make<Req, Res>(name = "chain")',
    'static make<Req, Res>(name = "")'
  ]),
  mutant("inner steps count", counts, [
    "Chain.ts",
    "toCompiled(chain).registered.count",
    "toCompiled(chain).registered.size"
  ]),
  mutant("a fallback counts", counts, [
    "Chain.ts",
    "toCompiled(chain).registered.count",
    "toCompiled(chain).registered.count + (toCompiled(chain).registered.fallback === undefined ? 0 : 1)"
  ]),
  mutant("a fallback counts in the description", described, [
    "ChainDescription.ts",
    "    count: registered.count,",
    "    count: steps.length,"
  ]),
  mutant("the fallback is described first", described, [
    "ChainDescription.ts",
    "const steps = [...stepsOf(registered), ...(registered.fallback === undefined ? [] : [registered.fallback])]",
    "const steps = [...(registered.fallback === undefined ? [] : [registered.fallback]), ...stepsOf(registered)]"
  ]),
  mutant("the fallback is not described", described, [
    "ChainDescription.ts",
    "const steps = [...stepsOf(registered), ...(registered.fallback === undefined ? [] : [registered.fallback])]",
    "const steps = stepsOf(registered)"
  ]),
  mutant("steps are described in reverse", described, [
    "ChainDescription.ts",
    "const steps = [...stepsOf(registered),",
    "const steps = [...[...stepsOf(registered)].reverse(),"
  ]),
  mutant("a fragment in a fragment ends nothing", warned, [
    "ChainDescription.ts",
    "step.when === undefined && step.inner.ends",
    "step.when === undefined && step.inner.fallback !== undefined"
  ]),
  mutant("a branch with a fallback gives warnings", warned, [
    "ChainDescription.ts",
    "if (step.when === undefined && step.inner.ends)",
    "if (step.inner.ends)"
  ]),
  mutant("a warning loses its path", warned, [
    "ChainDescription.ts",
    "const here = [...path, step.name]",
    "const here = [step.name]"
  ]),
  mutant("warnings do not look into branches", warned, [
    "ChainDescription.ts",
    "open.push([step.inner, here])",
    "if (step.when === undefined) open.push([step.inner, here])"
  ]),
  mutant("a fallback that cannot be reached gives no warning", warned, [
    "ChainDescription.ts",
    "for (const step of [...stepsOf(at[0]), ...(fallback === undefined ? [] : [fallback])])",
    "for (const step of fallback === undefined ? stepsOf(at[0]) : stepsOf(at[0]))"
  ]),
  mutant("a selective object's name is not read", ofTheObject, [
    builder,
    'const { description, name = what.name ?? "" } = options ?? {}',
    'const { description, name = "" } = options ?? {}'
  ]),
  mutant("a selective object's description is not read", ofTheObject, [
    builder,
    "{ description: description ?? what.description }",
    "{ description }"
  ]),
  mutant("an object's name is not read", ofTheObject, [
    builder,
    'options?.name ?? what.name ?? ""',
    'options?.name ?? ""'
  ]),
  mutant("an object's name overrides the given one", ofTheObject, [
    builder,
    'options?.name ?? what.name ?? ""',
    'what.name ?? options?.name ?? ""'
  ]),
  mutant("an object's description is not read", ofTheObject, [
    builder,
    "{ description: options?.description ?? what.description }",
    "{ description: options?.description }"
  ]),
  mutant("an object's description overrides the given one", ofTheObject, [
    builder,
    "{ description: options?.description ?? what.description }",
    "{ description: what.description ?? options?.description }"
  ]),
  mutant("a selective object's description overrides the given one", ofTheObject, [
    builder,
    "{ description: description ?? what.description }",
    "{ description: what.description ?? description }"
  ]),
  mutant("the kind given to an object is not read", '`kind: "middleware"`', [
    builder,
    'options?.kind ?? "handler",\n          { description',
    '"handler",\n          { description'
  ]),
  mutant("a branch begins with the steps before it", "`configure(branch)` adds steps for those requests", [
    builder,
    "const inner = configure(ChainBuilder.make<any, Res>(name))",
    "const inner = configure(this as never)"
  ]),
  mutant("a builder prints as an object", printed, [
    builder,
    'return Inspectable.format({ _id: "ChainBuilder", ...describe(this) })',
    'return "[object Object]"'
  ]),
  mutant("a chain prints nothing of its steps", printed, [
    "Chain.ts",
    'return { _id: "Chain", ...describePlan(this.registered) }',
    'return { _id: "Chain", name: this.registered.name }'
  ]),
  mutant("useTracing returns the builder as it is", immutable, [
    builder,
    '    if (options.spanName === "")',
    '    if (this.count >= 0) return this\n    if (options.spanName === "")'
  ]),
  mutant("a fragment after a fragment with a fallback does not count", counts, [
    builder,
    "      this.fallback,\n      this.count + 1,",
    '      this.fallback,\n      this.ends && step.kind === "branch" ? this.count : this.count + 1,'
  ]),
  mutant("a fallback answers with its Effect", lastStep, [
    builder,
    "const step = leaf(Op.Answer, undefined, fallback,",
    'const step = leaf(Op.Answer, undefined, (request: any) => { const reply: any = fallback(request); return typeof reply === "object" && reply !== null && "_op" in reply && reply._op === "Commit" ? { reply } : reply },'
  ]),
  mutant("the name of an earlier fallback stays", "the last fallback set counts", [
    builder,
    'const name = options?.name || "fallback"',
    'const name = options?.name || this.fallback?.name || "fallback"'
  ]),
  mutant("a warning names the last fragment that ends the chain", warned, [
    "ChainDescription.ts",
    "      if (endedBy !== undefined) {\n",
    "      const before = endedBy\n      if (step.inner?.ends === true && step.when === undefined && before !== undefined) endedBy = step.name\n      if (endedBy !== undefined) {\n"
  ]),
  mutant(
    "a builder prints without its fallback",
    "A counterexample shows the description of the chain, as printing a builder or a chain does.",
    [
      builder,
      '{ _id: "ChainBuilder", ...describe(this) }',
      '{ _id: "ChainBuilder", ...describe({ name: this.name, previous: this.previous, step: this.step, fallback: undefined, count: this.count, size: this.size, ends: this.ends }) }'
    ]
  ),
  mutant("the description given to a merge is not read", options, [
    builder,
    "places, name, options?.description, inner.ends)",
    "places, name, undefined, inner.ends)"
  ]),
  mutant("branches are counted from zero", unnamed, [
    builder,
    "`branch-${this.count + 1}`",
    "`branch-${this.count}`"
  ]),
  mutant("a builder is a chain", "Whether a value is a built chain. A `ChainBuilder` is not one.", [
    "Chain.ts",
    'typeof u === "object" && u !== null && TypeId in u',
    'typeof u === "object" && u !== null && (TypeId in u || "withFallback" in u)'
  ]),
  mutant(
    "position in slots",
    "A step without a name is named after its function or its position (`handler-3`).",
    ["ChainBuilder.ts", "`${kind}-${this.count + 1}`", "`${kind}-${this.size + 1}`"]
  ),
  mutant("end of chain forgotten after one more step", warned, [
    "ChainBuilder.ts",
    "this.ends || ends",
    "ends"
  ]),
  mutant("a branch with a fallback counts as an end", warned, [
    "ChainBuilder.ts",
    "return this.enter(condition, inner, places, name, options?.description, false)",
    "return this.enter(condition, inner, places, name, options?.description, inner.ends)"
  ])
]
