import { type AnswerSpec, type ChainSpec, judge, type StepSpec } from "../../../src/testing/ChainArbitrary.js"

/** How a naive reading of a spec ends. */
export type Ending =
  | { readonly _tag: "answer"; readonly text: string; readonly by: string }
  | { readonly _tag: "failure" | "defect"; readonly text: string }
  | { readonly _tag: "unhandled" }

type Rest = (request: number) => Ending

const answered = (answer: AnswerSpec, request: number, by: string): Ending => {
  const text = `${answer.text}(${request})`
  return answer.as === "failure" || answer.as === "defect"
    ? { _tag: answer.as, text }
    : { _tag: "answer", text, by }
}

const mapped = (ending: Ending, f: (text: string) => string): Ending =>
  ending._tag === "answer" ? { ...ending, text: f(ending.text) } : ending

const runStep = (step: StepSpec, name: string, request: number, rest: Rest): Ending => {
  switch (step.step) {
    case "when":
    case "selective":
    case "inline":
      return judge(step.condition, request) ? answered(step.answer, request, name) : rest(request)
    case "change":
      return rest(request + step.add)
    case "wrap":
      return mapped(rest(request), (text) => `${step.mark}[${text}]`)
    case "twice": {
      if (!judge(step.condition, request)) return rest(request)
      const one = rest(request)
      return one._tag === "answer" ? mapped(rest(request + 1), (text) => `${one.text}+${text}`) : one
    }
    case "logging":
    case "tracing":
      return rest(request)
    case "branch":
      return judge(step.condition, request) ? run(step.inner, name, request, rest) : rest(request)
    case "fragment":
      return run(step.inner, name, request, rest)
  }
}

const run = ({ fallback, steps }: ChainSpec, name: string, request: number, after: Rest): Ending => {
  const end: Rest =
    fallback === undefined ? after : (changed) => answered(fallback, changed, `${name}.fallback`)
  const from = (index: number): Rest =>
    index === steps.length
      ? end
      : (changed) => runStep(steps[index]!, `${name}.${index}`, changed, from(index + 1))
  return from(0)(request)
}

/** Reads a spec step by step, each with the rest of the chain as a function: no programs, no Effects. */
export const interpret = (spec: ChainSpec, request: number): Ending =>
  run(spec, "chain", request, () => ({ _tag: "unhandled" }))
