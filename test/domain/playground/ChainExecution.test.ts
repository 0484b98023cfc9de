import { assert, describe, it } from "@effect/vitest"
import { Either, ParseResult, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import * as fc from "effect/FastCheck"
import { ChainExecutionRequest } from "../../../src/domain/playground/ChainExecution.js"

const decode = Schema.decodeUnknownEither(ChainExecutionRequest)

/** The problems of a request, each with its path. */
const problems = (request: unknown): ReadonlyArray<string> =>
  Either.match(decode(request), {
    onLeft: ({ issue }) =>
      ParseResult.ArrayFormatter.formatIssueSync(issue).map(({ message, path }) =>
        [path.join("."), message].join(" ").trim()
      ),
    onRight: () => []
  })

const handler = { name: "one", when: { equals: 1 }, respond: "yes" }

describe("a request to execute a chain", () => {
  it("is the same after a way over the wire", () => {
    fc.assert(
      fc.property(Arbitrary.make(ChainExecutionRequest), (request) => {
        assert.isNotEmpty(request.handlers)
        const encoded = Schema.encodeSync(ChainExecutionRequest)(request)
        assert.deepStrictEqual(encoded, request)
        assert.deepStrictEqual(decode(encoded), Either.right(request))
      })
    )
  })

  it("has at least one handler", () => {
    for (const handlers of [{}, "handlers", null, undefined]) {
      assert.deepStrictEqual(problems({ request: 1, handlers }), [
        "handlers must be an array of at least 1 handler"
      ])
    }
    assert.deepStrictEqual(problems({ request: 1, handlers: [] }), ["handlers must hold at least 1 handler"])
    assert.deepStrictEqual(problems({ request: 1, handlers: [handler] }), [])
  })

  it("may have a fallback, or null", () => {
    for (const fallback of ["", "no", null]) {
      assert.deepStrictEqual(problems({ request: 1, handlers: [handler], fallback }), [])
    }
    for (const fallback of [1, undefined, ["no"]]) {
      assert.deepStrictEqual(problems({ request: 1, handlers: [handler], fallback }), [
        "fallback must be a string or null"
      ])
    }
  })

  it("has every problem named, with its path", () => {
    for (const other of [null, 1, "x", [1]]) assert.deepStrictEqual(problems(other), ["must be an object"])
    const handlers = [
      handler,
      { ...handler, name: 1 },
      null,
      { ...handler, when: { equals: "1" }, respond: null }
    ]
    assert.deepStrictEqual(problems({ request: Number.POSITIVE_INFINITY, handlers }), [
      "request must be a number that JSON can carry (finite)",
      "handlers.1.name must be a string",
      "handlers.2 must be an object",
      "handlers.3.when.equals must be a number that JSON can carry (finite)",
      "handlers.3.respond must be a string"
    ])
  })

  it("has one more than the thousand problems named that are reported", () => {
    for (const [length, named] of [
      [1000, 1000],
      [1001, 1001],
      [5000, 1001]
    ] as const) {
      const handlers = Array.from({ length }, () => null)
      assert.lengthOf(problems({ request: 1, handlers: [handler, ...handlers] }), named)
    }
  })
})
