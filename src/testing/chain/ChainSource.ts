import type { AnswerSpec, ChainSpec, ConditionSpec, PolicySpec, StepSpec } from "./ChainSpec.js"

const question = ({ asks, value }: ConditionSpec): string => {
  switch (asks) {
    case "equals":
      return `n === ${value}`
    case "lessThan":
      return `n < ${value}`
    case "greaterThan":
      return `n > ${value}`
    case "even":
      return "n % 2 === 0"
    case "always":
      return "true"
    case "never":
      return "false"
  }
}

const failing = 'new SpecFailure("condition")'

const condition = (spec: ConditionSpec): string => {
  const asked = question(spec)
  switch (spec.as) {
    case "pure":
      return `(n) => ${asked}`
    case "effect":
      return `(n) => Effect.sync(() => ${asked})`
    case "yielding":
      return `(n) => Effect.as(Effect.yieldNow(), ${asked})`
    case "throws":
      return `(n) => { if (${asked}) throw ${failing}; return false }`
    case "fails":
      return `(n) => ${asked} ? Effect.fail(${failing}) : false`
    case "number":
      return `(n) => ${asked} ? 1 : false`
  }
}

const reply = ({ as, text }: AnswerSpec): string => {
  const shown = `\`${text}(\${n})\``
  switch (as) {
    case "pure":
      return shown
    case "effect":
      return `Effect.sync(() => ${shown})`
    case "yielding":
      return `Effect.as(Effect.yieldNow(), ${shown})`
    case "service":
      return `Effect.map(Word, (word) => \`${text}(\${n}) \${word}\`)`
    case "failure":
      return `Effect.fail(new SpecFailure(${shown}))`
    case "defect":
      return `{ throw new SpecFailure(${shown}) }`
  }
}

const policies: Readonly<Record<PolicySpec, string>> = {
  retry: "Schedule.recurs(1)",
  recover: '() => "recovered"',
  timeout: '"1 hour"'
}

const guarded = (policy: PolicySpec | undefined, handler: string): string =>
  policy === undefined ? handler : `Policy.${policy}(${handler}, ${policies[policy]})`

const answer = (spec: AnswerSpec): string => guarded(spec.policy, `(n) => ${reply(spec)}`)

const lines = (text: string): string => text.replaceAll("\n", "\n  ")

const call = (spec: StepSpec, name: string): string => {
  const options = `{ name: "${name}" }`
  const middleware = `{ name: "${name}", kind: "middleware" }`
  switch (spec.step) {
    case "when":
      return `useWhen(${condition(spec.condition)}, ${answer(spec.answer)}, ${options})`
    case "selective":
      return `use({ canHandle: ${condition(spec.condition)}, process: ${answer(spec.answer)} }, ${options})`
    case "inline":
      return `use((n, next) => ${question(spec.condition)} ? (${answer(spec.answer)})(n) : next(n), ${options})`
    case "suspended":
      return `use((n, next) => Effect.suspend(() => ${question(spec.condition)} ? (${answer(spec.answer)})(n) : next(n)), ${options})`
    case "object":
      return `use({ answer: ${answer(spec.answer)}, handle(n, next) { return ${question(spec.condition)} ? this.answer(n) : next(n) } }, ${options})`
    case "change":
      return `use((n, next) => next(n + ${spec.add}), ${options})`
    case "wrap":
      return `use((n, next) => Effect.map(next(n), (it) => \`${spec.mark}[\${it}]\`), ${middleware})`
    case "twice":
      return `use((n, next) => ${question(spec.condition)} ? Effect.zipWith(next(n), next(n + 1), (a, b) => \`\${a}+\${b}\`) : next(n), ${options})`
    case "around":
      return `use(${guarded(spec.policy, "(n, next) => next(n)")}, ${middleware})`
    case "logging":
      return "useLogging({ write: () => {} })"
    case "loggingEffect":
      return "useLogging({ log: () => Effect.void })"
    case "tracing":
      return "useTracing()"
    case "branch":
      return `useBranch(${condition(spec.condition)}, () => ${lines(source(spec.inner, name))}, ${options})`
    case "fragment": {
      const inner = lines(source(spec.inner, name))
      if (spec.of === "builder") return `use(${inner}, ${options})`
      return spec.of === "chain"
        ? `use(${inner}.build(), ${options})`
        : `use(Chain.provide(${inner}.build(), Context.make(Word, "given")), ${options})`
    }
  }
}

/**
 * The calls that build a spec, as somebody would write them.
 *
 * @since 0.1.0
 * @category combinators
 */
export const source = ({ fallback, steps }: ChainSpec, name = "chain"): string =>
  [
    `ChainBuilder.make<number, string>("${name}")`,
    ...steps.map((step, index) => `.${call(step, `${name}.${index}`)}`),
    ...(fallback === undefined ? [] : [`.withFallback(${answer(fallback)}, { name: "${name}.fallback" })`])
  ].join("\n  ")
