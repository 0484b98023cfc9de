import { mutant } from "../bundled.js"

const trace = "Trace.ts"
const logs = "internal/ExecutionLog.ts"
const traced =
  "every visited step with its path, outcome (`skipped`, `passed`, `matched`, `failed`) and duration"
const reports = "middleware that reports start, duration and outcome of the steps after it"
const atError = "| failure, defect, unhandled | `Error` | `Chain NAME failed after N.NNN ms.` |"
const interrupted = "| interruption | the given level | `Chain NAME was interrupted after N.NNN ms.` |"
const success = "| success | the same | `Executed chain NAME in N.NNN ms.` |"
const start = "| start | the given level, by default `Debug` | `Executing chain NAME.` |"
const ignored = "a writer that throws or fails is ignored"
const nothingOfTheRequest = "Entries contain nothing of the request"
const span = "opens a span of kind `internal`, named `MessageFlow.Execute` by default"
const effectsLogger = "Without both, entries go to Effect's logger."
const annotated = "Writes an entry with Effect's logger. The chain's name and the duration are annotations."
const inOrder = "Run with each entry, in order."
const belongs = "middleware that runs the steps after it in a span"
const attributes =
  "with the attributes `messageflow.chain`, `messageflow.request_type` and `messageflow.response_type`"

/** Faults of traces, logs and spans. */
export const reporting = [
  mutant("a trace leaves out what was skipped", traced, [
    trace,
    'if (verdict === false) end("skipped")',
    "if (verdict === false) recorder.visits.pop()"
  ]),
  mutant("a step that hands on matched", traced, [trace, 'end(passed ? "passed" : success', "end(success"]),
  mutant("a step that fails matched", traced, [trace, 'success ? "matched" : "failed")', '"matched")']),
  mutant("a condition that fails is still running", traced, [
    trace,
    'Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => end("failed"))',
    "Effect.void"
  ]),
  mutant("a branch that is entered passed", traced, [
    trace,
    'else if (step.op === Op.Enter) end("matched")',
    'else if (step.op === Op.Enter) end("passed")'
  ]),
  mutant("a trace loses the branches of a path", traced, [
    trace,
    "const path = [...open.map(([name]) => name), step.name]",
    "const path = [step.name]"
  ]),
  mutant("a path keeps branches that it has left", traced, [
    trace,
    "while (open.length > 0 && open[open.length - 1]![1] <= index) open.pop()",
    ""
  ]),
  mutant("a trace loses the durations of steps", traced, [
    trace,
    "      visit.elapsedMillis = monotonicMillis() - started\n",
    ""
  ]),
  mutant("a trace loses its duration", "`Effect<{ exit, handledBy, elapsedMillis, steps }, never, R>`", [
    trace,
    "elapsedMillis: monotonicMillis() - started,\n        steps",
    "elapsedMillis: started - started,\n        steps"
  ]),
  mutant(
    "a trace says that the last visited step answered",
    "`Effect<{ exit, handledBy, elapsedMillis, steps }, never, R>`",
    [trace, "Exit.isSuccess(exit) ? execution.handledBy!.name : undefined", "recorder.visits.at(-1)?.name"]
  ),
  mutant("a trace fails as the chain does", "`Effect<{ exit, handledBy, elapsedMillis, steps }, never, R>`", [
    trace,
    "Effect.exit(Effect.suspend(() => interpret(execution, 0, request, false)))",
    "Effect.map(Effect.suspend(() => interpret(execution, 0, request, false)), Exit.succeed)"
  ]),
  mutant("a trace leaves out logging", traced, [
    trace,
    "const step = registered.log === undefined ? registered : loggingByEffect(registered, registered.log)",
    "const step = registered"
  ]),
  mutant("a trace does not log", reports, [
    trace,
    "effectLogging(log, (entry) => Effect.sync(() => log.write(entry)))",
    "effectLogging(log, () => Effect.void)"
  ]),
  mutant("a step is listed once, however often it is visited", traced, [
    trace,
    "    this.visits.push(visit)",
    "    if (!this.visits.some((one) => one.name === visit.name)) this.visits.push(visit)"
  ]),
  mutant("the start is not logged", start, [logs, "    write(options, startEntry(options))\n", ""]),
  mutant("the start is always logged at Debug", start, [
    logs,
    "  level,\n  message: `Executing chain",
    '  level: "Debug",\n  message: `Executing chain'
  ]),
  mutant("the usual level is Information", start, [
    "ChainBuilder.ts",
    'const { level = "Debug", name = this.name } = options',
    'const { level = "Information", name = this.name } = options'
  ]),
  mutant("lines name no chain", start, [
    "ChainBuilder.ts",
    'const { level = "Debug", name = this.name } = options',
    'const { level = "Debug", name = "chain" } = options'
  ]),
  mutant("success is logged at Debug", success, [
    logs,
    "      level,\n      message: `Executed",
    '      level: "Debug",\n      message: `Executed'
  ]),
  mutant("durations have two places", success, [
    logs,
    "elapsedMillis.toFixed(3)",
    "elapsedMillis.toFixed(2)"
  ]),
  mutant("durations are in seconds", success, [
    logs,
    "elapsedMillis.toFixed(3)",
    "(elapsedMillis / 1000).toFixed(3)"
  ]),
  mutant("the end of a plain chain is not logged", success, [
    "internal/Interpreter.ts",
    "    if (this.log !== undefined) Logs.end(this.log, Exit.succeed(reply))\n",
    ""
  ]),
  mutant("the end of an effectful chain is not logged", success, [
    "internal/Interpreter.ts",
    "return Logs.logExit(this.log, effect)",
    "return effect"
  ]),
  mutant("failures are logged at the given level", atError, [
    logs,
    'return { level: "Error", message,',
    "return { level, message,"
  ]),
  mutant("a thrown defect is not logged", atError, [
    "internal/Interpreter.ts",
    "      Logs.end(this.log, Exit.die(defect))\n",
    ""
  ]),
  mutant("a thrown defect is logged as a success", atError, [
    "internal/Interpreter.ts",
    "Logs.end(this.log, Exit.die(defect))",
    "Logs.end(this.log, Exit.succeed(defect))"
  ]),
  mutant("an unhandled request is not logged", atError, [
    "internal/Interpreter.ts",
    "    Logs.end(this.log, exit)\n",
    ""
  ]),
  mutant("interruption is logged as a failure", interrupted, [
    logs,
    "if (Cause.isInterruptedOnly(exit.cause))",
    "if (Cause.isEmpty(exit.cause))"
  ]),
  mutant("interruption is not logged", interrupted, [
    logs,
    "Effect.sync(() => waiting.end(exit))",
    "Exit.isInterrupted(exit) ? Effect.void : Effect.sync(() => waiting.end(exit))"
  ]),
  mutant("a failure entry holds no cause", "a failure entry contains the unchanged `cause`", [
    logs,
    'phase: "failure", elapsedMillis, cause: exit.cause }',
    'phase: "failure", elapsedMillis }'
  ]),
  mutant("the outer log ends first", reports, [
    logs,
    "for (let log = innermost; log !== undefined; log = log.outer) log.end(exit)",
    "const all: Array<Started> = []\n  for (let log = innermost; log !== undefined; log = log.outer) all.unshift(log)\n  for (const log of all) log.end(exit)"
  ]),
  mutant("only the inner log ends", reports, [
    logs,
    "for (let log = innermost; log !== undefined; log = log.outer) log.end(exit)",
    "innermost?.end(exit)"
  ]),
  mutant("a writer that throws fails the request", ignored, [
    logs,
    "  } catch {\n    // A failing logger must not fail the request.\n  }",
    "  } catch (defect) {\n    throw defect\n  }"
  ]),
  mutant("a writer that fails fails the request", ignored, [
    "Logging.ts",
    "Effect.catchAllCause(\n        Effect.suspend(() => log(entry)),\n        () => Effect.void\n      )",
    "Effect.suspend(() => log(entry))"
  ]),
  mutant("a writer that dies kills the request", ignored, [
    "Logging.ts",
    "Effect.catchAllCause(\n        Effect.suspend",
    "Effect.catchAll(\n        Effect.suspend"
  ]),
  mutant("lines hold the request", nothingOfTheRequest, [
    "internal/Interpreter.ts",
    "new Logs.PendingLog(step.log!, this.log)",
    "new Logs.PendingLog({ ...step.log!, write: (entry) => step.log!.write({ ...entry, request } as never) }, this.log)"
  ]),
  mutant("a line has no level in front", "`Logging.format(entry)` returns the text with its level in front", [
    "Logging.ts",
    "`${entry.level}: ${entry.message}`",
    "entry.message"
  ]),
  mutant("durations come from the wall clock", "Durations are measured with a clock that never goes back", [
    logs,
    "return own === liveClock ? sinceStart : () => Number(own.unsafeCurrentTimeNanos()) / 1e6",
    "return own === live || own !== live ? () => Date.now() : sinceStart"
  ]),
  mutant("the span has another name", span, ["Tracing.ts", "options.spanName ?? defaultSpanName", '"chain"']),
  mutant("the name of a span is not read", span, [
    "Tracing.ts",
    "options.spanName ?? defaultSpanName",
    "defaultSpanName"
  ]),
  mutant("the span is of kind server", span, ["Tracing.ts", 'kind: "internal"', 'kind: "server"']),
  mutant("the span ends before the steps after it", "middleware that runs the steps after it in a span", [
    "Tracing.ts",
    "Effect.withSpan(next(request), spanName, span)",
    "Effect.zipRight(Effect.withSpan(Effect.void, spanName, span), next(request))"
  ]),
  mutant("the span names no chain", attributes, ["Tracing.ts", '      "messageflow.chain": chain,\n', ""]),
  mutant("the span has no type of request", attributes, [
    "Tracing.ts",
    "...(options.requestType === undefined ? {} : { [requestTypeAttribute]: options.requestType }),",
    ""
  ]),
  mutant("the span has no type of response", attributes, [
    "Tracing.ts",
    "[responseTypeAttribute]: options.responseType }",
    "[responseTypeAttribute]: options.requestType }"
  ]),
  mutant(
    "given attributes are dropped",
    "`useTracing({ spanName, requestType, responseType, attributes })`",
    ["Tracing.ts", "      ...options.attributes\n", ""]
  ),
  mutant("entries without a writer are lost", effectsLogger, [
    "ChainBuilder.ts",
    '"log" in options ? options.log : toLogger',
    '"log" in options ? options.log : ((() => undefined) as never)'
  ]),
  mutant("entries at Trace are logged at Debug", effectsLogger, [
    "Logging.ts",
    "Trace: Effect.logTrace",
    "Trace: Effect.logDebug"
  ]),
  mutant("entries at Information are logged at Debug", effectsLogger, [
    "Logging.ts",
    "Information: Effect.logInfo",
    "Information: Effect.logDebug"
  ]),
  mutant("entries at Warning are logged as errors", effectsLogger, [
    "Logging.ts",
    "Warning: Effect.logWarning",
    "Warning: Effect.logError"
  ]),
  mutant("failures are logged as fatal", effectsLogger, [
    "Logging.ts",
    "Error: Effect.logError",
    "Error: Effect.logFatal"
  ]),
  mutant(
    "the default logger prints the cause",
    "a failure entry contains the unchanged `cause`, which the default logger does not print",
    [
      "Logging.ts",
      "toEffectLog[entry.level](entry.message)",
      "toEffectLog[entry.level](entry.message, ...(entry.cause === undefined ? [] : [entry.cause]))"
    ]
  ),
  mutant("the default logger prints the level twice", effectsLogger, [
    "Logging.ts",
    "toEffectLog[entry.level](entry.message)",
    "toEffectLog[entry.level](format(entry))"
  ]),
  mutant("the name given to useLogging is not read", start, [
    "ChainBuilder.ts",
    'const { level = "Debug", name = this.name } = options',
    'const { level = "Debug" } = options\n    const name = this.name'
  ]),
  mutant("interruption from outside is not logged", interrupted, [
    logs,
    "Effect.onExit(observed, (exit) => Effect.sync(() => waiting.end(exit)))",
    "Effect.matchCauseEffect(observed, { onFailure: (cause) => { waiting.end(Exit.failCause(cause)); return Effect.failCause(cause) }, onSuccess: (value) => { waiting.end(Exit.succeed(value)); return Effect.succeed(value) } })"
  ]),
  mutant(
    "interruption from outside is not logged by an Effect",
    interrupted,
    [
      "Logging.ts",
      "Effect.onExit(next(request), (exit) =>\n        quietly(endEntry(options, monotonicMillis() - started, exit))\n      )",
      "Effect.matchCauseEffect(next(request), { onFailure: (cause) => Effect.zipRight(quietly(endEntry(options, monotonicMillis() - started, Exit.failCause(cause))), Effect.failCause(cause)), onSuccess: (value) => Effect.as(quietly(endEntry(options, monotonicMillis() - started, Exit.succeed(value))), value) })"
    ],
    [
      "Logging.ts",
      'import * as Effect from "effect/Effect"',
      'import * as Effect from "effect/Effect"\nimport * as Exit from "effect/Exit"'
    ]
  ),
  mutant("an interrupted step of a trace matched", traced, [
    trace,
    "Effect.sync(() => settle(Exit.isSuccess(exit)))",
    "Effect.sync(() => settle(Exit.isSuccess(exit) || Exit.isInterrupted(exit)))"
  ]),
  mutant("a span belongs to no request", belongs, [
    "Tracing.ts",
    "Effect.withSpan(next(request), spanName, span)",
    "Effect.withSpan(next(request), spanName, { ...span, root: true })"
  ]),
  mutant(
    "a failure beside an interruption is logged as an interruption",
    "failure, defect, unhandled | `Error` | `Chain NAME failed after N.NNN ms.`",
    ["internal/ExecutionLog.ts", "Cause.isInterruptedOnly(exit.cause)", "Cause.isInterrupted(exit.cause)"]
  ),
  mutant("entries of the logger do not name the chain", annotated, [
    "Logging.ts",
    "    chain: entry.chain,\n",
    ""
  ]),
  mutant("entries of the logger have no duration", annotated, [
    "Logging.ts",
    "{ elapsedMillis: entry.elapsedMillis }",
    "{}"
  ]),
  mutant(
    "the name given to a log by an Effect is not read",
    "The chain's name in the entries. Default: the builder's name.",
    [
      "ChainBuilder.ts",
      "effectLogging({ name, level }, log)",
      "effectLogging({ name: this.name, level }, log)"
    ]
  ),
  mutant(
    "a log that throws before it returns an Effect fails the request",
    "An error of the log does not affect the execution: a writer that throws or fails is ignored.",
    ["Logging.ts", "Effect.suspend(() => log(entry)),", "log(entry),"]
  ),
  mutant("the start of a log by an Effect is logged in the background", inOrder, [
    "Logging.ts",
    "Effect.flatMap(quietly(startEntry(options)), () => {",
    "Effect.flatMap(Effect.forkDaemon(quietly(startEntry(options))), () => {"
  ]),
  mutant(
    "the duration of a traced step ends where it calls next",
    "The time from the condition to the outcome, with the time of `next`.",
    [
      trace,
      'const settle = (success: boolean) => end(passed ? "passed" : success ? "matched" : "failed")',
      'const settle = (success: boolean) => (passed ? undefined : end(success ? "matched" : "failed"))'
    ],
    [trace, "        passed = true\n", '        passed = true\n        end("passed")\n']
  ),
  mutant("a step that has not ended has failed", "or it had not ended (`running`)", [
    trace,
    'outcome: "running", elapsedMillis: 0',
    'outcome: "failed", elapsedMillis: 0'
  ]),
  mutant(
    "a trace of a failure names a step that handled",
    "The name of the step that handled the request; undefined if the execution failed.",
    [
      trace,
      "Exit.isSuccess(exit) ? execution.handledBy!.name : undefined",
      "execution.handledBy?.name ?? recorder.visits.at(-1)?.name"
    ]
  ),
  mutant("a condition that is no boolean skips its step in a trace", traced, [
    trace,
    'if (verdict === false) end("skipped")',
    'if (verdict !== true) end("skipped")'
  ]),
  mutant(
    "a trace that runs twice lists the steps of both runs",
    "The report of one execution.",
    [
      trace,
      "request: unknown) =>\n  Effect.suspend(() => {\n    const recorder = new Recorder()\n",
      "request: unknown) => {\n  const recorder = new Recorder()\n  return Effect.suspend(() => {\n"
    ],
    [
      trace,
      "        steps: recorder.visits\n      })\n    )\n  })",
      "        steps: recorder.visits\n      })\n    )\n  })\n}"
    ]
  ),
  mutant("path of the step after a branch", traced, [
    "Trace.ts",
    "open[open.length - 1]![1] <= index",
    "open[open.length - 1]![1] < index"
  ]),
  mutant("failed condition keeps running", traced, [
    "Trace.ts",
    'Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => end("failed"))',
    "Exit.isSuccess(exit) ? Effect.void : Effect.void"
  ]),
  mutant(
    "interruption is an error",
    "interruption | the given level | `Chain NAME was interrupted after N.NNN ms.`",
    [
      "internal/ExecutionLog.ts",
      'return { level, message, chain: name, phase: "interruption", elapsedMillis }',
      'return { level: "Error", message, chain: name, phase: "interruption", elapsedMillis }'
    ]
  ),
  mutant("warnings logged as information", "Without both, entries go to Effect's logger.", [
    "Logging.ts",
    "Warning: Effect.logWarning",
    "Warning: Effect.logInfo"
  ]),
  mutant("response type needs a request type", attributes, [
    "Tracing.ts",
    "...(options.responseType === undefined ?",
    "...(options.requestType === undefined ?"
  ])
]
