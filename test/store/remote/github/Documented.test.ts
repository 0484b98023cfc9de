import { readdirSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Either, Schema, SchemaAST } from "effect"
import * as Client from "../../../../src/store/remote/github/api/Api.js"
import type { Endpoint } from "../../../../src/store/remote/github/api/Endpoint.js"
import { documented } from "../../../support/github/Oracle.js"

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === "object" && value !== null && "id" in value && "docs" in value

const folder = new URL("../../../../src/store/remote/github/api/", import.meta.url)

const modules: ReadonlyArray<Record<string, unknown>> = await Promise.all(
  readdirSync(folder).map((file) => import(new URL(file, folder).href))
)
// What the client uses is exported a second time.
const endpoints = [...new Set(modules.flatMap((module) => Object.values(module).filter(isEndpoint)))]
const ofClient = Object.values<unknown>(Client).filter(isEndpoint)

/** Answered as bytes, or by nothing but a status. */
const withoutJson = new Set(["git/get-blob", "git/delete-ref"])

/** Members that GitHub requires and a server may leave out, by operation. */
const membersOf = ({ body }: Endpoint) => {
  const members = body === undefined ? [] : SchemaAST.getPropertySignatures(body.ast)
  const named = (some: ReadonlyArray<SchemaAST.PropertySignature>) =>
    some.map(({ name }) => String(name)).sort()
  return { all: named(members), required: named(members.filter(({ isOptional }) => !isOptional)) }
}

describe("every endpoint is the one that GitHub documents", () => {
  for (const endpoint of endpoints) {
    const known = documented(endpoint.id)

    it(`${endpoint.id}: method, path, parameters, body, status and documentation`, () => {
      assert.strictEqual(endpoint.method, known?.method)
      assert.strictEqual(endpoint.path.replace(/[+*]/g, ""), known?.path)
      assert.strictEqual(`https://docs.github.com/${endpoint.docs}`, known?.docs)
      assert.include([...(known?.statuses ?? [])], endpoint.status)
      assert.includeMembers([...(known?.query ?? [])], [...endpoint.query])
      const { all, required } = membersOf(endpoint)
      assert.includeMembers(Object.keys(known?.body?.properties ?? {}), all)
      assert.deepStrictEqual(required, [...(known?.body?.required ?? [])].sort())
    })

    if (!ofClient.includes(endpoint) || withoutJson.has(endpoint.id)) continue

    it(`${endpoint.id}: its example replies are decoded`, () => {
      assert.isNotEmpty(known?.examples)
      for (const [status, name, value] of known?.examples ?? []) {
        const decoded = Schema.decodeUnknownEither(endpoint.reply)(value)
        const problem = Either.isLeft(decoded) ? decoded.left.message : ""
        assert.strictEqual(problem, "", `${status} ${name}`)
      }
    })
  }

  it("there are as many as the client uses, and the host serves beside them", () => {
    assert.strictEqual(ofClient.length, 21)
    assert.strictEqual(endpoints.length, 64)
  })
})
