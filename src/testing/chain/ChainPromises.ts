/**
 * What a law checks, and where the documentation promises it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ChainPromise {
  /** The promise in a few words. */
  readonly title: string
  /** The sentence, as docs/chain.md has it. */
  readonly sentence: string
  /** The section that has the sentence. */
  readonly link: string
}

const promise = (title: string, section: string, sentence: string): ChainPromise => ({
  title,
  sentence,
  link: `docs/chain.md#${section}`
})

const fixed = "steps in a fixed order, of which the first that accepts a request answers it"
const notSilent =
  "Anything else, and anything they throw, is a defect of the execution, never a silent refusal."
const merges =
  "merges the steps of a builder or a built chain; what they refuse goes to the steps after it, unless the fragment has a fallback: that ends the chain"
const fallback = "answers what nobody accepted; the last one set counts"

/**
 * The promise behind each law of `all`, by the law's name.
 *
 * @since 0.1.0
 * @category laws
 */
export const promises = {
  firstMatchWins: promise("the first step that accepts answers", "chains", fixed),
  order: promise("steps are asked in order", "chains", fixed),
  fallbackPrecedence: promise("the last fallback counts", "building", fallback),
  branchFallThrough: promise(
    "what a branch refuses goes on after it",
    "building",
    "what they refuse goes on after the branch, unless the branch has a fallback"
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
    "A builder is immutable: every method returns a new one, and any of them can be built, extended and merged, again and again."
  ),
  unhandled: promise("unhandled if and only if nobody accepts", "building", fallback),
  middlewareOrder: promise(
    "middleware wraps the steps after it",
    "building",
    "wrap (`Effect.map(next(request), f)`)"
  ),
  laziness: promise(
    "an execution is lazy and repeatable",
    "executing",
    "nothing runs before the Effect does, and a retry runs the steps again"
  ),
  agreement: promise(
    "all Effects agree",
    "executing",
    "the innermost step whose answer became part of the response"
  ),
  interruptionReleases: promise(
    "interruption releases",
    "executing",
    "Interruption reaches the waiting step and releases what steps before it acquired."
  ),
  runsOnce: promise("each condition and handler runs once", "chains", fixed),
  nextHandsOn: promise(
    "next hands on its request",
    "building",
    "It refuses by returning `next(request)`, and may also hand on a changed request"
  ),
  nextRunsAgain: promise(
    "each call of next runs the rest again",
    "building",
    "each call runs the rest again"
  ),
  badConditions: promise("a condition is never a silent refusal", "building", notSilent),
  plainAnswers: promise(
    "Option and Either are answers",
    "building",
    "Option and Either count as plain answers."
  ),
  endingsApart: promise(
    "failures, defects and unhandled requests apart",
    "executing",
    "`Effect<Res, E \\| U, R>`"
  ),
  entriesAgree: promise("all entries agree", "executing", "the same as an `Exit`; never throw"),
  synchronousEntries: promise(
    "synchronous entries throw the failure and do not wait",
    "executing",
    "a step that has to wait ends in an `AsyncStepError`, and is interrupted"
  ),
  interruptionArrives: promise(
    "interruption reaches the waiting step",
    "executing",
    "Interruption reaches the waiting step and releases what steps before it acquired."
  ),
  lazyEntries: promise(
    "every Effect is lazy and repeatable",
    "executing",
    "nothing runs before the Effect does, and a retry runs the steps again"
  ),
  innermostAnswers: promise(
    "handledBy is the innermost step that answered",
    "executing",
    "the innermost step whose answer became part of the response"
  ),
  stackSafety: promise(
    "no length overflows the stack",
    "executing",
    "Chains of any length are safe: 100,000 steps, pure or effectful, overflow no stack."
  ),
  descriptions: promise(
    "a description lists every step",
    "executing",
    "`{ name, count, handlers: [{ name, kind, description }] }`, the fallback last"
  ),
  warnings: promise(
    "unreachable steps are named",
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
  logOrder: promise(
    "logging covers the steps after it",
    "logging-and-tracing",
    "middleware that reports start, duration and outcome of the steps after it"
  ),
  writersIgnored: promise(
    "a writer breaks no execution",
    "logging-and-tracing",
    "a writer that throws or fails is ignored"
  ),
  spans: promise(
    "tracing opens a span",
    "logging-and-tracing",
    "opens a span of kind `internal`, called `MessageFlow.Execute` unless told otherwise, with the attributes `messageflow.chain`, `messageflow.request_type` and `messageflow.response_type`"
  ),
  provides: promise(
    "provide gives the chain its services, and later steps none",
    "chains-as-services",
    "the same chain, requiring less; merged elsewhere, it provides nothing to later steps"
  ),
  services: promise(
    "a service is traced where it is used",
    "chains-as-services",
    "spans of its steps belong to the request, not to where the layer was built"
  ),
  policies: promise(
    "policies act on the handler and on what next runs",
    "policies",
    "Around a handler that calls `next`, a policy includes what `next` runs."
  )
} satisfies Record<string, ChainPromise>
