import {
  type AnswerSpec,
  type ChainSpec,
  type ConditionSpec,
  given,
  judge,
  type StepSpec
} from "../../../src/testing/chain/ChainSpec.js"

/** How a naive reading of a spec ends. */
export type Ending =
  | { readonly _tag: "answer"; readonly text: string; readonly by: string }
  | { readonly _tag: "failure" | "defect"; readonly text: string }
  | { readonly _tag: "unhandled" }

type Rest = (request: number) => Ending

const broken = { throws: "defect", fails: "failure" } as const

/** What a condition comes to: whether it holds, or how it ends the execution. */
const asked = (condition: ConditionSpec, request: number): boolean | Ending => {
  if (!judge(condition, request)) return false
  if (condition.as === "number") return { _tag: "defect", text: "TypeError" }
  return condition.as === "throws" || condition.as === "fails"
    ? { _tag: broken[condition.as], text: "condition" }
    : true
}

const recovered = (ending: Ending, by: string): Ending =>
  ending._tag === "failure" || ending._tag === "unhandled"
    ? { _tag: "answer", text: "recovered", by }
    : ending

const answered = (answer: AnswerSpec, request: number, by: string, word: string): Ending => {
  const text = `${answer.text}(${request})`
  const ending: Ending =
    answer.as === "failure" || answer.as === "defect"
      ? { _tag: answer.as, text }
      : { _tag: "answer", text: answer.as === "service" ? `${text} ${word}` : text, by }
  return answer.policy === "recover" ? recovered(ending, by) : ending
}

const mapped = (ending: Ending, f: (text: string) => string): Ending =>
  ending._tag === "answer" ? { ...ending, text: f(ending.text) } : ending

const runStep = (step: StepSpec, name: string, request: number, rest: Rest, word: string): Ending => {
  switch (step.step) {
    case "when":
    case "selective": {
      const verdict = asked(step.condition, request)
      if (typeof verdict !== "boolean") return verdict
      return verdict ? answered(step.answer, request, name, word) : rest(request)
    }
    case "inline":
    case "suspended":
    case "object":
      return judge(step.condition, request) ? answered(step.answer, request, name, word) : rest(request)
    case "change":
      return rest(request + step.add)
    case "wrap":
      return mapped(rest(request), (text) => `${step.mark}[${text}]`)
    case "twice": {
      if (!judge(step.condition, request)) return rest(request)
      const one = rest(request)
      return one._tag === "answer" ? mapped(rest(request + 1), (text) => `${one.text}+${text}`) : one
    }
    case "around":
      return step.policy === "recover" ? recovered(rest(request), name) : rest(request)
    case "logging":
    case "loggingEffect":
    case "tracing":
      return rest(request)
    case "branch": {
      const verdict = asked(step.condition, request)
      if (typeof verdict !== "boolean") return verdict
      return verdict ? run(step.inner, name, request, rest, word) : rest(request)
    }
    case "fragment":
      return run(step.inner, name, request, rest, step.of === "provided" ? given : word)
  }
}

const run = (
  { fallback, steps }: ChainSpec,
  name: string,
  request: number,
  after: Rest,
  word: string
): Ending => {
  const end: Rest =
    fallback === undefined ? after : (changed) => answered(fallback, changed, `${name}.fallback`, word)
  const from = (index: number): Rest =>
    index === steps.length
      ? end
      : (changed) => runStep(steps[index]!, `${name}.${index}`, changed, from(index + 1), word)
  return from(0)(request)
}

/** Reads a spec step by step, each with the rest of the chain as a function: no programs, no Effects. */
export const interpret = (spec: ChainSpec, request: number): Ending =>
  run(spec, "chain", request, () => ({ _tag: "unhandled" }), "nothing")
