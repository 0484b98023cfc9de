import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FastCheck as fc, TestClock } from "effect"
import { boundaryCases, meetsExpectation } from "../../src/console/playground/Cases.js"
import { chainCode, languagesFor } from "../../src/console/playground/ChainCode.js"
import {
  type ChainDraft,
  fromBody,
  isRunnable,
  isSupportedByService,
  toBody,
  toRunnable
} from "../../src/console/playground/ChainDraft.js"
import { diagramSteps } from "../../src/console/playground/DiagramSteps.js"
import { execute } from "../../src/console/playground/Engine.js"
import { examples, named } from "../../src/console/playground/Examples.js"
import { parsePastedRun } from "../../src/console/playground/PastedRun.js"
import { timeText } from "../../src/console/playground/RunResult.js"
import { fromHash, toHash } from "../../src/console/playground/ShareLink.js"
import { reportSteps, type StepReport } from "../../src/console/playground/StepReport.js"
import * as StepTree from "../../src/console/playground/StepTree.js"
import { History } from "../../src/console/playground/UndoHistory.js"
import { validationProblems, validationResult } from "../../src/console/playground/Validation.js"
import { running } from "../http/server/RunningServer.js"

const number = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
const handler = fc
  .tuple(
    fc.string(),
    fc.constantFrom("equals", "lessThan", "greaterThan"),
    number,
    fc.constantFrom("{request}", "a {request}$& {request}", "")
  )
  .map(([name, comparison, than, respond]) => ({ name, when: { [comparison]: than }, respond }))
const body = fc.record({
  request: number,
  handlers: fc.array(handler, { maxLength: 5 }),
  fallback: fc.constantFrom(undefined, "", "nobody took {request}")
})

const ask = (url: string, path: string, json: unknown) =>
  Effect.promise(async () => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(json)
    })
    return { status: answer.status, body: (await answer.json()) as unknown }
  })

/** What the page does with a draft. */
const run = (draft: ChainDraft) => {
  const ready = toRunnable(draft)
  return ready === undefined ? Effect.succeed(validationResult(draft.mode, toBody(draft))) : execute(ready)
}

const executeAdHoc = (body: unknown) => run(fromBody("own", body))

const flat = (steps: ReadonlyArray<StepReport>): ReadonlyArray<StepReport> =>
  steps.flatMap((step) => [step, ...flat(step.steps)])

const way = (draft: ChainDraft) =>
  Effect.map(run(draft), ({ visits }) => flat(reportSteps(diagramSteps(draft), visits)))

const words = (steps: ReadonlyArray<StepReport>) =>
  steps.map(({ name, outcome, why }) => `${name} ${outcome}: ${why}`)

const strip = (answer: unknown) => {
  const {
    elapsedMilliseconds: _,
    log,
    ...rest
  } = answer as {
    elapsedMilliseconds?: number
    log?: ReadonlyArray<string>
  }
  return { ...rest, log: log?.map((line) => line.replace(/[\d.]+ ms/, "N ms")) }
}

describe("chains in the browser", () => {
  it.scopedLive("respond as the service does, for any composition", () =>
    Effect.gen(function* () {
      const { url } = yield* running()
      const bodies = fc.sample(body, { numRuns: 60, seed: 7 })
      for (const one of [...bodies, ...examples.filter(({ mode }) => mode === "own").map((e) => e.body)]) {
        const there = yield* ask(url, "/v1/chains/execute", one)
        const draft = fromBody("own", JSON.parse(JSON.stringify(one)))
        if (!isSupportedByService(draft)) continue
        const here = yield* run(draft)
        assert.strictEqual(here.status, there.status, JSON.stringify(one))
        if (here.status !== 400) assert.deepStrictEqual(strip(here.body), strip(there.body))
      }
    })
  )

  it.scopedLive("triage tickets as the service does", () =>
    Effect.gen(function* () {
      const { url } = yield* running()
      for (const kind of ["refund", "passwordReset", "other", "unknown"]) {
        for (const priority of [undefined, "normal", "urgent", null]) {
          const ticket = { id: 7, kind, ...(priority === undefined ? {} : { priority }) }
          const there = yield* ask(url, "/v1/chains/ticket-triage/execute", ticket)
          const draft = fromBody("triage", ticket)
          // The form offers nothing but what a ticket may hold.
          const here =
            kind === "unknown" || priority === null ? validationResult("triage", ticket) : yield* run(draft)
          assert.strictEqual(here.status, there.status, JSON.stringify(ticket))
          if (here.status === 200) assert.deepStrictEqual(strip(here.body), strip(there.body))
        }
      }
    })
  )

  it.effect("say of every step what became of it, and why", () =>
    Effect.gen(function* () {
      const steps = yield* way(
        fromBody("own", {
          request: 5,
          handlers: [
            { name: "same", when: { lessThan: 0 }, respond: "" },
            { name: "same", when: { greaterThan: 0 }, respond: "" },
            { name: "late", when: { greaterThan: 0 }, respond: "" }
          ],
          fallback: "none"
        })
      )
      assert.deepStrictEqual(words(steps), [
        "logging passed: passes every request on",
        "same skipped: 5 < 0 is false",
        "same matched: 5 > 0 is true",
        "late not reached: an earlier step answered",
        "fallback not reached: an earlier step answered"
      ])
    })
  )

  it.effect("show the branch and what is inside it", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        words(yield* way(fromBody("triage", { id: 1, kind: "other", priority: "urgent" }))).slice(1),
        [
          "refund skipped: other = refund is false",
          "password-reset skipped: other = passwordReset is false",
          "escalation matched: urgent = urgent is true",
          "human-agent matched: urgent = urgent is true",
          "fallback not reached: an earlier step answered"
        ]
      )
    })
  )

  it.effect("follow the request into branches, out of them and through fragments", () =>
    Effect.gen(function* () {
      const given = named("A branch and a fragment")
      const at = (request: number) =>
        Effect.map(way(fromBody("own", { ...(given.body as object), request })), (steps) =>
          words(steps).slice(2)
        )
      assert.deepStrictEqual(yield* at(500), [
        "large passed: 500 > 100 is true, but no step inside accepted",
        "million skipped: 500 = 1000000 is false",
        "huge skipped: 500 > 1000000 is false",
        "answers passed: no step inside accepted",
        "zero skipped: 500 = 0 is false",
        "everything skipped: 500 = 42 is false",
        "fallback matched: no handler accepted the request"
      ])
      assert.deepStrictEqual(yield* at(42), [
        "large skipped: 42 > 100 is false",
        "million not reached: the branch was not entered",
        "huge not reached: the branch was not entered",
        "answers matched: a step inside answered",
        "zero skipped: 42 = 0 is false",
        "everything matched: 42 = 42 is true",
        "fallback not reached: an earlier step answered"
      ])
    })
  )

  it.effect("a branch's own fallback handles its requests", () =>
    Effect.gen(function* () {
      const ran = yield* executeAdHoc({
        request: 5,
        handlers: [
          {
            name: "outer",
            when: { greaterThan: 0 },
            steps: [{ name: "inner", steps: [{ name: "never", when: { equals: 0 }, respond: "" }] }],
            fallback: "{request} stays here"
          }
        ],
        fallback: "too far"
      })
      assert.deepInclude(ran.body, { handledBy: "outer fallback", response: "5 stays here" })
    })
  )

  it.effect("wait, fail, are retried, stopped and recovered by the library's policies", () =>
    Effect.gen(function* () {
      const at = (work: object) => {
        const draft = fromBody("own", {
          request: 1,
          handlers: [{ name: "worker", when: { equals: 1 }, respond: "done", work }],
          fallback: "never"
        })
        return Effect.map(Effect.all([run(draft), way(draft)]), ([{ body, status }, steps]) => [
          status,
          "response" in body ? body.response : body.error,
          words(steps)[1]
        ])
      }
      assert.deepStrictEqual(yield* at({ failures: 2, retries: 2 }), [
        200,
        "done",
        "worker matched: 1 = 1 is true, on try 3"
      ])
      assert.deepStrictEqual(yield* at({ failures: 2, retries: 1 }), [
        500,
        "StepFailed",
        "worker failed: 1 = 1 is true, but it failed, on try 2"
      ])
      assert.deepStrictEqual(yield* at({ failures: 1, recover: "{request} later" }), [
        200,
        "1 later",
        "worker matched: 1 = 1 is true"
      ])
      const slow = yield* Effect.fork(at({ delayMilliseconds: 500, timeoutMilliseconds: 100 }))
      // Two runs, one after the other.
      yield* TestClock.adjust("100 millis")
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual((yield* Fiber.join(slow)).slice(0, 2), [500, "TimeoutException"])
    })
  )

  it.effect("times are means of many runs, where nothing waits", () =>
    Effect.gen(function* () {
      const ready = toRunnable(fromBody("own", examples[0]!.body))!
      const { micros, runs, visits } = yield* execute(ready, true)
      assert.isAbove(runs, 1)
      assert.isAbove(micros, 0)
      assert.isTrue(visits.every(({ micros }) => micros !== undefined && micros >= 0))
      assert.deepStrictEqual([0.02, 0.84, 12.3, 1234, 45_600].map(timeText), [
        "under 0.1 µs",
        "0.8 µs",
        "12 µs",
        "1.2 ms",
        "46 ms"
      ])
    })
  )

  it("what is ready to run is what the schemas accept", () => {
    const odd = fc.constantFrom("", "x", "1", "-2.5", "1e999", "10001")
    const handlers = fc.letrec<{ step: unknown }>((tie) => ({
      step: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.record({
          name: fc.string(),
          when: fc.record({
            equals: odd.map((text) => (Number.isFinite(Number(text)) && text !== "" ? Number(text) : text))
          }),
          respond: fc.string()
        }),
        fc.record({
          name: fc.string(),
          when: fc.constant({ lessThan: 0 }),
          respond: fc.string(),
          work: fc.record(
            { delayMilliseconds: odd, failures: fc.constantFrom(0, 1, 101, 0.5), recover: fc.string() },
            { requiredKeys: [] }
          )
        }),
        fc.record(
          {
            name: fc.string(),
            when: fc.constant({ greaterThan: 1 }),
            steps: fc.array(tie("step"), { maxLength: 2 })
          },
          { requiredKeys: ["name", "steps"] }
        )
      )
    }))
    const verdicts = fc
      .sample(fc.record({ request: odd, handlers: fc.array(handlers.step, { maxLength: 3 }) }), {
        numRuns: 500,
        seed: 3
      })
      .map((body) => {
        const draft = fromBody("own", body)
        const problems = validationProblems("own", toBody(draft))
        assert.strictEqual(
          isRunnable(draft),
          problems.length === 0,
          JSON.stringify([toBody(draft), problems])
        )
        return isRunnable(draft)
      })
    assert.isTrue(verdicts.includes(true) && verdicts.includes(false))
    const nested = (levels: number): unknown =>
      levels === 0
        ? { name: "", when: { equals: 0 }, respond: "" }
        : { name: "", steps: [nested(levels - 1)] }
    for (const [levels, ready] of [
      [7, true],
      [8, false],
      [40, false]
    ] as const) {
      const draft = fromBody("own", { request: 0, handlers: [nested(levels)] })
      assert.strictEqual(isRunnable(draft), ready)
      assert.strictEqual(validationProblems("own", toBody(draft)).length === 0, ready)
    }
    assert.deepStrictEqual(
      validationProblems("own", {
        request: 1,
        handlers: [
          { name: "a", steps: [{ name: 1, when: { equals: 0 }, respond: "", work: { failures: -1 } }] }
        ]
      }),
      [
        "handlers[0].steps[0].name must be a string",
        "handlers[0].steps[0].work.failures must be an integer from 0 to 100"
      ]
    )
    for (const id of ["1", "1.5", "2147483648", "", "x"]) {
      const draft = {
        ...fromBody("triage", { kind: "other" }),
        ticket: { id, kind: "other", priority: "" }
      } as const
      assert.strictEqual(isRunnable(draft), validationProblems("triage", toBody(draft)).length === 0, id)
    }
  })

  it.prop("a chain survives the address", [body], ([given]) => {
    const draft = fromBody("own", JSON.parse(JSON.stringify(given)))
    assert.deepStrictEqual(toBody(fromHash(toHash(draft))!), toBody(draft))
  })

  it.effect("a number that JSON has no word for is refused, here as at the service", () =>
    Effect.gen(function* () {
      for (const request of ["Infinity", "-1e999", "NaN", ""]) {
        const written = { ...fromBody("own", examples[0]!.body), request }
        assert.strictEqual((yield* run(written)).status, 400, request)
        assert.strictEqual(fromHash(toHash(written))?.request, request)
      }
    })
  )

  it("what a link puts in the place of a number is copied as text, never as code", () => {
    const draft = fromBody("own", {
      request: "0); process.exit(1",
      handlers: [{ name: "a", when: { equals: "0 || steal()" }, respond: "" }]
    })
    const program = chainCode("TypeScript", draft, "")
    assert.include(program, '(request) => request === "0 || steal()",')
    assert.include(program, 'Chain.executeSync(chain, "0); process.exit(1"))')
  })

  it("a ticket copied as TypeScript names the service it is for", () => {
    const program = chainCode(
      "TypeScript",
      fromBody("triage", { id: 1, kind: "other" }),
      "https://here.example"
    )
    assert.include(program, 'fetch("https://here.example/v1/chains/ticket-triage/execute"')
  })

  it("copies as TypeScript that says the same", () => {
    const draft = fromBody("own", {
      request: 5,
      handlers: [{ name: "a`", when: { equals: 5 }, respond: "`${x}` {request}" }]
    })
    assert.include(
      chainCode("TypeScript", draft, ""),
      "(request) => request === 5, (request) => `\\`\\${x}\\` ${request}`"
    )
  })

  it("understands the JSON of a run and curl commands, its own too", () => {
    const draft = fromBody("own", {
      request: 1,
      handlers: [{ name: "it's", when: { equals: 1 }, respond: '\\ "{request}" $x' }]
    })
    const body = toBody(draft)
    const json = JSON.stringify(body)
    for (const text of [
      chainCode("JSON", draft, ""),
      chainCode("curl", draft, "http://127.0.0.1:3000"),
      `$ ${chainCode("curl", draft, "")}`,
      `curl -X POST \\\n  --data-raw ${JSON.stringify(json).replaceAll("$", "\\$")} http://x/v1/chains/execute`,
      `curl http://x --json=$'${json.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
    ]) {
      assert.deepStrictEqual(parsePastedRun(text), { mode: "own", body }, text)
    }
    const ticket = fromBody("triage", { id: 7, kind: "other" })
    // As browsers copy requests: characters that a shell would read are escaped by their code.
    const loud = { ...(body as object), fallback: "Hello! it's \u00e9" }
    const escaped = JSON.stringify(loud)
      .replaceAll("\\", "\\\\")
      .replace(/[!']/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)
    for (const text of [
      `curl 'http://x/v1/chains/execute' --data-raw $'${escaped}'`,
      `curl 'http://x/v1/chains/execute' --data-raw $'${escaped.replaceAll("\\u00", "\\x").replace("\u00e9", "\\xe9")}'`,
      `curl http://x/v1/chains/execute \\\r\n  -d \\\r\n $'${escaped}'\r\n`
    ]) {
      assert.deepStrictEqual(parsePastedRun(text), { mode: "own", body: loud }, text)
    }
    assert.deepStrictEqual(parsePastedRun(chainCode("curl", ticket, "")), {
      mode: "triage",
      body: toBody(ticket)
    })
    for (const text of ["", "[]", "{", "curl 'x", "curl http://x", "curl -d @file http://x"]) {
      assert.property(parsePastedRun(text), "problem", text)
    }
  })

  it("knows what the service can be asked", () => {
    assert.deepStrictEqual(languagesFor(fromBody("own", examples[0]!.body)), ["curl", "TypeScript", "JSON"])
    for (const name of ["A branch and a fragment", "Fails twice, then succeeds"]) {
      assert.deepStrictEqual(languagesFor(fromBody("own", named(name).body)), ["TypeScript", "JSON"])
    }
  })

  it("rows meet a name, a response, a status or an error, and begin where conditions turn", () => {
    const handled = {
      status: 200,
      body: { response: "5 is", handledBy: "a", elapsedMilliseconds: 0, log: [] }
    }
    const refused = { status: 422, body: { error: "UnhandledRequestError", message: "" } }
    assert.deepStrictEqual(
      ["a", "5 is", "200", " a ", "b", ""].map((expected) => meetsExpectation(expected, handled)),
      [true, true, true, true, false, undefined]
    )
    assert.deepStrictEqual(
      ["422", "UnhandledRequestError", "a"].map((expected) => meetsExpectation(expected, refused)),
      [true, true, false]
    )
    const draft = fromBody("own", examples[0]!.body, [{ request: "0", expected: "" }])
    assert.deepStrictEqual(
      boundaryCases(draft).map(({ request }) => request),
      ["-1", "1"]
    )
  })

  it("every change can be undone and done again, a word as one", () => {
    const history = new History<number>(3)
    for (const [before, typing] of [[0], [1, "name"], [2, "name"], [3]] as const)
      history.record(before, typing)
    assert.deepStrictEqual([history.undo(4), history.undo(3), history.redo(1), history.redo(3)], [3, 1, 3, 4])
    assert.isUndefined(history.redo(4))
    history.record(4)
    assert.isFalse(history.canRedo)
    for (let i = 5; i < 20; i++) history.record(i)
    assert.deepStrictEqual(
      [20, 0, 0, 0].map((now) => history.undo(now)),
      [19, 18, 17, undefined]
    )
  })

  it("steps are changed, moved and removed at every depth", () => {
    const draft = fromBody("own", named("A branch and a fragment").body)
    const names = (steps: ChainDraft["handlers"]): ReadonlyArray<unknown> =>
      steps.map(({ name, steps }) => (steps.length === 0 ? name : [name, ...names(steps)]))
    const inner = draft.handlers[1]!.steps
    const swapped = StepTree.moveStep(draft.handlers, inner[1]!.key, 0)
    assert.deepStrictEqual(names(swapped)[1], ["large", "huge", "million"])
    assert.strictEqual(swapped[2], draft.handlers[2], "what did not change is the same")
    assert.deepStrictEqual(names(StepTree.removeStep(swapped, inner[0]!.key))[1], ["large", "huge"])
    assert.strictEqual(StepTree.positionOf(draft.handlers, inner[1]!.key)?.index, 1)
    assert.strictEqual(StepTree.countSteps(draft.handlers), 7)
    const grown = StepTree.addStep(draft.handlers, draft.handlers[2]!.key, inner[0]!)
    assert.deepStrictEqual(names(grown)[2], ["answers", "zero", "everything", "million"])
  })
})
