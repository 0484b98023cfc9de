import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as HashMap from "effect/HashMap"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import { Chain, Logging } from "../../chain/index.js"
import { ChainClock } from "./ChainClock.js"
import {
  emptyBuilder,
  executionModes,
  type Law,
  type LawSubject,
  SentinelError,
  writers
} from "./ChainLaw.js"
import { executed, same, sameOutcome } from "./ChainOutcome.js"

const broken = new SentinelError("broken")
const answer = { answer: "of a step" }

const besides = (cause: Cause.Cause<unknown>) => Cause.parallel(cause, Cause.interrupt(FiberId.none))

const lastLine = (exit: Exit.Exit<unknown, unknown>, level: string, took: string) =>
  Exit.isSuccess(exit)
    ? `${level}: Executed chain shop in ${took} ms.`
    : Cause.isInterruptedOnly(exit.cause)
      ? `${level}: Chain shop was interrupted after ${took} ms.`
      : `Error: Chain shop failed after ${took} ms.`

const phaseOf = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isSuccess(exit) ? "success" : Cause.isInterruptedOnly(exit.cause) ? "interruption" : "failure"

/**
 * Start and end of every execution are logged, at the level, with the text and the duration that are promised.
 *
 * @since 0.1.0
 * @category laws
 */
export const logs: Law = (builder, request) =>
  Effect.gen(function* () {
    const clock = new ChainClock()
    const ends: Record<string, (to: LawSubject) => LawSubject> = {
      "the given chain": (to) => to.use(builder),
      "a plain answer": (to) => to.use(() => answer),
      "an Effect": (to) => to.use(() => Effect.suspend(() => Effect.succeed(answer))),
      "a failure": (to) => to.use(() => Effect.fail(broken)),
      "a defect": (to) =>
        to.use(() => {
          throw broken
        }),
      interruption: (to) => to.use(() => Effect.interrupt),
      "a failure beside an interruption": (to) => to.use(() => Effect.failCause(besides(Cause.fail(broken)))),
      "a defect beside an interruption": (to) => to.use(() => Effect.failCause(besides(Cause.die(broken)))),
      nobody: (to) => to
    }
    for (const [way, options] of Object.entries(writers)) {
      for (const level of ["Information", "Warning", undefined] as const) {
        for (const [end, add] of Object.entries(ends)) {
          const entries: Array<Logging.LogEntry> = []
          const logged = emptyBuilder("shop").useLogging({
            ...(level === undefined ? {} : { level }),
            ...options((entry) => entries.push(entry))
          })
          const passing = logged.use((it, next) => {
            clock.pass(1234.5)
            return next(it)
          })
          const exit = yield* clock.run(Effect.exit(Chain.execute(add(passing).build(), request)))
          const law = `logs: ${way}, ${level ?? "no level"}, ended by ${end}`
          yield* same(
            law,
            [`${level ?? "Debug"}: Executing chain shop.`, lastLine(exit, level ?? "Debug", "1234.500")],
            entries.map(Logging.format)
          )
          const last = { level: Exit.isSuccess(exit) ? (level ?? "Debug") : entries[1]?.level }
          yield* same(
            law,
            [
              ["start", "shop", undefined],
              [phaseOf(exit), "shop", 1234.5]
            ],
            [...entries.map(({ chain, elapsedMillis, phase }) => [phase, chain, elapsedMillis])]
          )
          yield* same(law, last.level, entries[1]?.level)
          const cause = Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause) ? exit.cause : undefined
          yield* sameOutcome(
            law,
            Exit.failCause(cause ?? Cause.empty),
            Exit.failCause(entries[1]?.cause ?? Cause.empty)
          )
          const members = new Set(["level", "message", "chain", "phase", "elapsedMillis", "cause"])
          yield* same(
            `logs hold nothing of the request: ${way}`,
            [],
            entries.flatMap((entry) => Object.keys(entry).filter((key) => !members.has(key)))
          )
        }
      }
    }
  })

/**
 * An execution that is interrupted from outside is logged as interrupted, once.
 *
 * @since 0.1.0
 * @category laws
 */
export const logOfInterruption: Law = (builder, request) =>
  Effect.gen(function* () {
    const clock = new ChainClock()
    for (const [way, options] of Object.entries(writers)) {
      for (const entry of ["execute", "executeNamed", "trace"]) {
        const entries: Array<Logging.LogEntry> = []
        const waiting = yield* Deferred.make<void>()
        const chain = emptyBuilder("shop")
          .useLogging({ level: "Information", ...options((one) => entries.push(one)) })
          .use(() => Effect.zipRight(Deferred.succeed(waiting, undefined), Effect.never))
          .use(builder)
          .build()
        // A daemon: a law does not wait for a step that cannot be interrupted.
        const fiber = yield* Effect.forkDaemon(clock.run(executionModes[entry]!(chain, request)))
        yield* Effect.timeoutOption(Deferred.await(waiting), "1 second")
        clock.pass(1234.5)
        yield* Fiber.interruptFork(fiber)
        yield* Effect.timeoutOption(Fiber.await(fiber), "1 second")
        yield* same(
          `logs: ${way}, Chain.${entry} interrupted from outside`,
          [
            "Information: Executing chain shop.",
            "Information: Chain shop was interrupted after 1234.500 ms."
          ],
          entries.map(Logging.format)
        )
      }
    }
  })

const loggedLevels = {
  Trace: "TRACE",
  Debug: "DEBUG",
  Information: "INFO",
  Warning: "WARN",
  Error: "ERROR"
} as const

/**
 * Without a writer, entries go to Effect's logger, with their level and text, the chain and the duration as annotations, and without
 * their cause.
 *
 * @since 0.1.0
 * @category laws
 */
export const defaultLog: Law = (builder, request) =>
  Effect.gen(function* () {
    const clock = new ChainClock()
    const ends: Record<string, (to: LawSubject) => LawSubject> = {
      "a plain answer": (to) => to.use(() => answer),
      "a failure": (to) => to.use(() => Effect.fail(broken))
    }
    for (const level of ["Trace", "Debug", "Information", "Warning", "Error", undefined] as const) {
      for (const [end, add] of Object.entries(ends)) {
        const lines: Array<unknown> = []
        const logger = Logger.make(({ annotations, cause, logLevel, message }) => {
          const noted = ["chain", "elapsedMillis"].map((key) =>
            Option.getOrUndefined(HashMap.get(annotations, key))
          )
          lines.push([logLevel.label, [message].flat().join(" "), Cause.isEmpty(cause), ...noted])
        })
        const chain = add(
          emptyBuilder("shop")
            .useLogging(level === undefined ? {} : { level })
            .use((it, next) => {
              clock.pass(1.5)
              return next(it)
            })
        )
          .use(builder)
          .build()
        yield* executed(chain, request).pipe(
          Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
          Logger.withMinimumLogLevel(LogLevel.All),
          clock.run
        )
        const given = loggedLevels[level ?? "Debug"]
        const last =
          end === "a failure"
            ? ["ERROR", "Chain shop failed after 1.500 ms.", true, "shop", 1.5]
            : [given, "Executed chain shop in 1.500 ms.", true, "shop", 1.5]
        yield* same(
          `logs: Effect's logger, ${level ?? "no level"}, ended by ${end}`,
          [[given, "Executing chain shop.", true, "shop", undefined], last],
          lines
        )
      }
    }
  })

/**
 * Logging middleware opens in order and closes in reverse; one inside another reports what is inside it.
 *
 * @since 0.1.0
 * @category laws
 */
export const logOrder: Law = (builder, request) =>
  Effect.gen(function* () {
    const plain = builder.useWhen(
      () => true,
      () => answer
    )
    const subjects = { "the given chain": builder, "one with a plain answer": plain }
    for (const [what, subject] of Object.entries({
      ...subjects,
      "a plain answer": emptyBuilder().use(() => answer),
      "an Effect": emptyBuilder().use(() => Effect.suspend(() => Effect.succeed(answer)))
    })) {
      for (const [way, options] of Object.entries(writers)) {
        const written: Array<string> = []
        const logged = (to: LawSubject, name: string) =>
          to.useLogging({
            name,
            ...options(({ chain, phase }) =>
              written.push(`${chain} ${phase === "start" ? "starts" : "ends"}`)
            )
          })
        const chain = logged(logged(emptyBuilder(), "outer"), "inner").use(subject).build()
        for (const run of [
          Effect.asVoid(executed(chain, request)),
          Effect.asVoid(Chain.trace(chain, request))
        ]) {
          written.length = 0
          yield* run
          yield* same(
            `log order: ${way}, ${what}`,
            ["outer starts", "inner starts", "inner ends", "outer ends"],
            written
          )
        }
      }
    }
  })

/**
 * A writer that throws, fails or dies changes nothing of the execution.
 *
 * @since 0.1.0
 * @category laws
 */
export const writersIgnored: Law = (builder, request) =>
  Effect.gen(function* () {
    const expected = yield* executed(builder.build(), request)
    const faulty: Record<string, any> = {
      throws: {
        write: () => {
          throw broken
        }
      },
      "throws before its Effect": {
        log: () => {
          throw broken
        }
      },
      fails: { log: () => Effect.fail(broken) },
      dies: { log: () => Effect.die(broken) }
    }
    for (const [what, options] of Object.entries(faulty)) {
      const chain = emptyBuilder().useLogging(options).use(builder).build()
      yield* sameOutcome(`a writer that ${what} is ignored`, expected, yield* executed(chain, request))
    }
  })

/**
 * Tracing middleware runs the steps after it in a span of the promised name, kind and attributes.
 *
 * @since 0.1.0
 * @category laws
 */
export const spans: Law = (builder, request) =>
  Effect.gen(function* () {
    const law = "spans"
    const expected = yield* executed(builder.build(), request)
    const plain = { name: "MessageFlow.Execute", attributes: { "messageflow.chain": "shop" } }
    const settings = [
      { options: {}, ...plain },
      { options: { spanName: "Shop" }, ...plain, name: "Shop" },
      {
        ...plain,
        options: { requestType: "Order" },
        attributes: { ...plain.attributes, "messageflow.request_type": "Order" }
      },
      {
        ...plain,
        options: { responseType: "Receipt" },
        attributes: { ...plain.attributes, "messageflow.response_type": "Receipt" }
      },
      { ...plain, options: { attributes: { till: 7 } }, attributes: { ...plain.attributes, till: 7 } },
      {
        options: { spanName: "Shop", requestType: "Order", responseType: "Receipt", attributes: { till: 7 } },
        name: "Shop",
        attributes: {
          "messageflow.chain": "shop",
          "messageflow.request_type": "Order",
          "messageflow.response_type": "Receipt",
          till: 7
        }
      }
    ]
    for (const { attributes, name, options } of settings) {
      let found = Option.none<Tracer.Span>()
      let during: string | undefined
      const chain = emptyBuilder("shop")
        .useTracing(options)
        .use((it, next) =>
          Effect.flatMap(Effect.option(Effect.currentSpan), (span) => {
            found = span
            during = Option.getOrUndefined(span)?.status._tag
            return next(it)
          })
        )
        .use(builder)
        .build()
      yield* sameOutcome(law, expected, yield* executed(chain, request))
      const span = Option.getOrUndefined(found)
      yield* same(
        law,
        [name, "internal", "Started", "Ended"],
        [span?.name, span?.kind, during, span?.status._tag]
      )
      yield* same(law, attributes, Object.fromEntries(span?.attributes ?? []))
      yield* Effect.withSpan(executed(chain, request), "the request")
      const parent = Option.getOrUndefined(Option.flatMap(found, (child) => child.parent))
      yield* same(`${law}: the parent`, "the request", parent?._tag === "Span" ? parent.name : undefined)
    }
  })
