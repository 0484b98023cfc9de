import { assert, describe, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import * as Api from "../../../../src/store/remote/github/Api.js"
import { documented } from "../../../support/github/Oracle.js"

interface Declared {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly docs: string
  readonly reply: Schema.Schema<unknown, unknown>
}

const isDeclared = (value: unknown): value is Declared =>
  typeof value === "object" && value !== null && "id" in value && "reply" in value

const all: ReadonlyArray<unknown> = Object.values(Api)
const endpoints = all.filter(isDeclared)

/** Answered as bytes, or by nothing but a status. */
const withoutJson = new Set(["git/get-blob", "git/delete-ref"])

describe("every endpoint is the one that GitHub documents", () => {
  for (const endpoint of endpoints) {
    const known = documented(endpoint.id)

    it(`${endpoint.id}: method, path and documentation`, () => {
      assert.strictEqual(endpoint.method, known?.method)
      assert.strictEqual(endpoint.path, known?.path)
      assert.strictEqual(endpoint.docs, known?.docs)
    })

    if (withoutJson.has(endpoint.id)) continue

    it(`${endpoint.id}: its example answers are understood`, () => {
      assert.isNotEmpty(known?.examples)
      for (const [status, name, value] of known?.examples ?? []) {
        const decoded = Schema.decodeUnknownEither(endpoint.reply)(value)
        const problem = Either.isLeft(decoded) ? decoded.left.message : ""
        assert.strictEqual(problem, "", `${status} ${name}`)
      }
    })
  }

  it("there are as many as the client uses", () => {
    assert.strictEqual(endpoints.length, 21)
  })
})
