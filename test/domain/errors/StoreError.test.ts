import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Errors from "../../../src/domain/errors/StoreError.js"

const fields = {
  message: "the disk is full",
  operation: "Collection.insert",
  path: "people/a.json",
  hint: "make room",
  cause: new Error("ENOSPC")
}

/** One of each kind. */
const errors = () => ({
  NotFoundError: new Errors.NotFoundError(fields),
  ConflictError: new Errors.ConflictError({ ...fields, conflicts: [{ collection: "people", id: "a" }] }),
  RateLimitError: new Errors.RateLimitError({ ...fields, remaining: 0, reset: 1 }),
  AuthError: new Errors.AuthError(fields),
  ValidationError: new Errors.ValidationError({ ...fields, issues: [{ path: "a", message: "is missing" }] }),
  AmbiguousWriteError: new Errors.AmbiguousWriteError({ ...fields, unsettled: true }),
  RemoteError: new Errors.RemoteError({ ...fields, reason: "Denied" })
})

const own: Readonly<Record<string, object>> = {
  ConflictError: { conflicts: [{ collection: "people", id: "a" }] },
  RateLimitError: { remaining: 0, reset: 1 },
  ValidationError: { issues: [{ path: "a", message: "is missing" }] },
  AmbiguousWriteError: { unsettled: true },
  RemoteError: { reason: "Denied" }
}

describe("an error of the store", () => {
  it("has its tag, its name and its fields", () => {
    for (const [tag, error] of Object.entries(errors())) {
      assert.isTrue(error instanceof Errors.StoreError)
      assert.instanceOf(error, Error)
      assert.strictEqual(error._tag, tag)
      assert.strictEqual(error.name, tag)
      assert.include(String(error), `${tag}: the disk is full`)
      assert.deepInclude(error, { ...fields, ...own[tag] })
    }
  })

  it.effect("is caught by its tag", () =>
    Effect.gen(function* () {
      const failed: Effect.Effect<never, Errors.ReadError> = Effect.fail(errors().AuthError)
      const caught = Effect.catchTag(failed, "AuthError", ({ hint }) => Effect.succeed(hint))
      assert.strictEqual(yield* caught, "make room")
    })
  )
})

it("a violation of a unique index is a conflict with that reason", () => {
  const conflict = { ...fields, conflicts: [] }
  assert.isTrue(
    Errors.isUniqueViolation(new Errors.ConflictError({ ...conflict, reason: "UniqueViolation" }))
  )
  assert.isFalse(Errors.isUniqueViolation(new Errors.ConflictError(conflict)))
  for (const other of [errors().NotFoundError, { ...conflict, reason: "UniqueViolation" }, null, undefined]) {
    assert.isFalse(Errors.isUniqueViolation(other))
  }
})
