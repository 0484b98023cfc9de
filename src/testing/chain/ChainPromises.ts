/**
 * The promise that a law checks, and its sentence in the documentation.
 *
 * @since 0.1.0
 * @category models
 */
export interface ChainPromise {
  /** The promise in a few words. */
  readonly title: string
  /** The sentence, quoted from docs/chain.md. */
  readonly sentence: string
  /** The address of the section with the sentence. */
  readonly link: string
}

const promise = (title: string, section: string, sentence: string): ChainPromise => ({
  title,
  sentence,
  link: `docs/chain.md#${section}`
})

const fixed = "The steps have a fixed order, and the first step that accepts a request handles it."
const notSilent =
  "Any other result, and anything that a condition throws, is a defect of the execution, never a silent refusal."
const merges =
  "merges the steps of a builder or a built chain; a request that they refuse goes to the step after the fragment, unless the fragment has a fallback: then the fragment ends the chain"
const fallback = "handles the requests that no step accepts; the last fallback set counts"

/**
 * The promise behind each law of `all`, by the law's name.
 *
 * @since 0.1.0
 * @category laws
 */
export const promises = {
  firstMatchWins: promise("the first step that accepts a request handles it", "chains", fixed),
  order: promise("steps run in order", "chains", fixed),
  fallbackPrecedence: promise("the last fallback counts", "building", fallback),
  branchFallThrough: promise(
    "a request that a branch refuses goes to the step after it",
    "building",
    "a request that they refuse goes to the step after the branch, unless the branch has a fallback"
  ),
  mergeIsInlining: promise("merging registers the steps", "building", merges),
  count: promise(
    "registered steps are counted",
    "executing",
    "the number of registered steps: middleware, branches and merged fragments count one each, a fallback none"
  ),
  immutability: promise(
    "a builder is immutable",
    "building",
    "A builder is immutable: every method returns a new builder. Every builder can be built, extended and merged any number of times."
  ),
  unhandled: promise("a request is unhandled if and only if no step accepts it", "building", fallback),
  middlewareOrder: promise(
    "middleware wraps the steps after it",
    "building",
    "wrap (`Effect.map(next(request), f)`)"
  ),
  middlewareAround: promise(
    "middleware around a chain is its first step",
    "building",
    "The first step of the result is the middleware. If the result is merged into another chain by `use`, the steps after it also run inside the middleware."
  ),
  laziness: promise(
    "an execution is lazy and repeatable",
    "executing",
    "nothing runs before the Effect runs, and a retry runs the steps again"
  ),
  agreement: promise(
    "all Effects agree",
    "executing",
    "the innermost step whose response became part of the response of the chain"
  ),
  interruptionReleases: promise(
    "interruption releases resources",
    "executing",
    "Interruption reaches the waiting step and releases the resources that the steps before it acquired."
  ),
  argumentOrder: promise(
    "functions accept the chain first and last",
    "executing",
    "The functions of `Chain` accept the chain first, or last for `pipe`"
  ),
  executionsApart: promise(
    "executions do not affect each other",
    "executing",
    "Executions of one chain that run at the same time do not affect each other."
  ),
  ownFiber: promise(
    "a synchronous function runs Effects in a fiber of its own",
    "executing",
    "The synchronous functions start a new fiber when a step is an Effect. That step does not see fiber-local values of the caller, such as log annotations and spans."
  ),
  runsOnce: promise("each condition and handler runs once", "chains", fixed),
  nextHandsOn: promise(
    "next passes on its request",
    "building",
    "It refuses a request by returning `next(request)`, and may also pass on a changed request"
  ),
  nextRunsAgain: promise(
    "each call of next runs the following steps again",
    "building",
    "each call runs the following steps again"
  ),
  badConditions: promise("a condition is never a silent refusal", "building", notSilent),
  plainAnswers: promise(
    "Option and Either are plain responses",
    "building",
    "An Option or an Either is a plain response."
  ),
  endingsApart: promise(
    "failures, defects and unhandled requests are distinct",
    "executing",
    "`Effect<Res, E \\| U, R>`"
  ),
  entriesAgree: promise("all execution functions agree", "executing", "the same as an `Exit`; never throw"),
  synchronousEntries: promise(
    "synchronous functions throw the failure and do not wait",
    "executing",
    "a step that waits is interrupted, and the call ends with an `AsyncStepError`"
  ),
  interruptionArrives: promise(
    "interruption reaches the waiting step",
    "executing",
    "Interruption reaches the waiting step and releases the resources that the steps before it acquired."
  ),
  lazyEntries: promise(
    "every Effect is lazy and repeatable",
    "executing",
    "nothing runs before the Effect runs, and a retry runs the steps again"
  ),
  innermostAnswers: promise(
    "handledBy is the innermost step that responded",
    "executing",
    "the innermost step whose response became part of the response of the chain"
  ),
  stackSafety: promise(
    "chains of any length do not overflow the stack",
    "executing",
    "Chains of any length are safe: 100,000 steps, pure or effectful, overflow no stack."
  ),
  descriptions: promise(
    "a description lists every step",
    "executing",
    "`{ name, count, handlers: [{ name, kind, description }] }`, the fallback last"
  ),
  warnings: promise(
    "warnings list unreachable steps",
    "executing",
    "the steps that no request can reach because a merged fragment before them has a fallback"
  ),
  traces: promise(
    "a trace lists every visited step",
    "executing",
    "every visited step with its path, outcome (`skipped`, `passed`, `matched`, `failed`) and duration"
  ),
  logs: promise(
    "start, duration and outcome are logged",
    "logging-and-tracing",
    "middleware that reports start, duration and outcome of the steps after it"
  ),
  logOfInterruption: promise(
    "interruption is logged",
    "logging-and-tracing",
    "| interruption | the given level | `Chain NAME was interrupted after N.NNN ms.` |"
  ),
  defaultLog: promise(
    "entries go to Effect's logger",
    "logging-and-tracing",
    "Without both, entries go to Effect's logger."
  ),
  logOrder: promise(
    "logging covers the steps after it",
    "logging-and-tracing",
    "middleware that reports start, duration and outcome of the steps after it"
  ),
  writersIgnored: promise(
    "a log writer does not affect an execution",
    "logging-and-tracing",
    "a writer that throws or fails is ignored"
  ),
  spans: promise(
    "tracing opens a span",
    "logging-and-tracing",
    "opens a span of kind `internal`, named `MessageFlow.Execute` by default, with the attributes `messageflow.chain`, `messageflow.request_type` and `messageflow.response_type`"
  ),
  provides: promise(
    "provide gives services to the chain and not to later steps",
    "chains-as-services",
    "the same chain with fewer requirements; merged into another chain, it provides nothing to later steps"
  ),
  services: promise(
    "a chain as a service is traced where it is executed",
    "chains-as-services",
    "spans of its steps belong to the request, not to where the layer was built"
  ),
  policies: promise(
    "policies include the handler and the steps that next runs",
    "policies",
    "Around a handler that calls `next`, a policy includes what `next` runs."
  )
} satisfies Record<string, ChainPromise>
