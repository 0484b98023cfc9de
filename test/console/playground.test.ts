import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { executeAdHoc, executeTriage } from "../../src/console/playground/Compose.js"
import { copyAs } from "../../src/console/playground/CopyAs.js"
import { bodyOf, fromBody, fromHash, toHash } from "../../src/console/playground/Draft.js"
import { examples } from "../../src/console/playground/Examples.js"
import { running } from "../http/server/Running.js"

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
  it.scopedLive("answer as the service does, whatever is composed", () =>
    Effect.gen(function* () {
      const { url } = yield* running()
      const bodies = fc.sample(body, { numRuns: 60, seed: 7 })
      for (const one of [...bodies, ...examples.filter(({ mode }) => mode === "own").map((e) => e.body)]) {
        const there = yield* ask(url, "/v1/chains/execute", one)
        const here = yield* executeAdHoc(JSON.parse(JSON.stringify(one)))
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
          const here = yield* executeTriage(ticket)
          assert.strictEqual(here.status, there.status, JSON.stringify(ticket))
          if (here.status === 200) assert.deepStrictEqual(strip(here.body), strip(there.body))
        }
      }
    })
  )

  it.effect("say of every step what became of it", () =>
    Effect.gen(function* () {
      const { steps } = yield* executeAdHoc({
        request: 5,
        handlers: [
          { name: "negative", when: { lessThan: 0 }, respond: "" },
          { name: "positive", when: { greaterThan: 0 }, respond: "" },
          { name: "late", when: { greaterThan: 0 }, respond: "" }
        ],
        fallback: "none"
      })
      assert.deepStrictEqual(
        steps.map(({ name, outcome }) => `${name} ${outcome}`),
        ["logging passed", "negative skipped", "positive matched", "late not reached", "fallback not reached"]
      )
    })
  )

  it.effect("show the branch and what is inside it", () =>
    Effect.gen(function* () {
      const { steps } = yield* executeTriage({ id: 1, kind: "other", priority: "urgent" })
      assert.deepStrictEqual(
        steps.map(({ outcome, path }) => `${path.join("/")} ${outcome}`),
        [
          "logging passed",
          "refund skipped",
          "password-reset skipped",
          "escalation matched",
          "fallback not reached",
          "escalation/human-agent matched"
        ]
      )
    })
  )

  it.prop("a chain survives the address", [body], ([given]) => {
    const draft = fromBody("own", JSON.parse(JSON.stringify(given)))
    assert.deepStrictEqual(bodyOf(fromHash(toHash(draft))!), bodyOf(draft))
  })

  it.effect("a number that JSON has no word for is refused, here as at the service", () =>
    Effect.gen(function* () {
      for (const request of ["Infinity", "-1e999", "NaN", ""]) {
        const written = { ...fromBody("own", examples[0]!.body), request }
        assert.strictEqual((yield* executeAdHoc(bodyOf(written))).status, 400, request)
        assert.strictEqual(fromHash(toHash(written))?.request, request)
      }
    })
  )

  it("what a link puts in the place of a number is copied as text, never as code", () => {
    const draft = fromBody("own", {
      request: "0); process.exit(1",
      handlers: [{ name: "a", when: { equals: "0 || steal()" }, respond: "" }]
    })
    const program = copyAs("TypeScript", draft, "")
    assert.include(program, '(request) => request === "0 || steal()",')
    assert.include(program, 'Chain.executeSync(chain, "0); process.exit(1"))')
  })

  it("a ticket copied as TypeScript names the service it is for", () => {
    const program = copyAs("TypeScript", fromBody("triage", { id: 1, kind: "other" }), "https://here.example")
    assert.include(program, 'fetch("https://here.example/v1/chains/ticket-triage/execute"')
  })

  it("copies as TypeScript that says the same", () => {
    const draft = fromBody("own", {
      request: 5,
      handlers: [{ name: "a`", when: { equals: 5 }, respond: "`${x}` {request}" }]
    })
    assert.include(
      copyAs("TypeScript", draft, ""),
      "(request) => request === 5, (request) => `\\`\\${x}\\` ${request}`"
    )
  })
})
