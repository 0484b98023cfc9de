import { assert, describe, it } from "@effect/vitest"
import { fromResponse, fromStoreError, type ProblemKind } from "../../src/console/components/Problem.js"
import { NotFoundError, RemoteError, ValidationError } from "../../src/domain/errors/StoreError.js"

const notFound: ReadonlyArray<readonly [string, ProblemKind]> = [
  ["https://api.github.com/a/b has no branch dev", "branch"],
  ["the repository a/b was not found", "repository"],
  ["There is no repository a/b", "repository"],
  ["https://api.github.com/a/b does not exist, or these credentials may not see it", "repository"],
  ["https://api.github.com/a/b has no commit, tag or branch v9", "commit"],
  ["the commit abc is not in https://api.github.com/a/b", "commit"],
  ["branch/branch-1 does not exist", "missing"],
  ["repository/a does not exist at 1234567", "missing"],
  ["commit/branch is not in commit 1234567", "missing"]
]

describe("what went wrong, in words", () => {
  it("a missing part is named by the sentence, not by the names in it", () => {
    for (const [message, kind] of notFound) {
      assert.strictEqual(fromResponse(404, { error: "NotFoundError", message }, null).kind, kind, message)
      assert.strictEqual(fromStoreError(new NotFoundError({ operation: "x", message })).kind, kind, message)
    }
  })

  it("a schema's message about a response is not shown", () => {
    const error = new RemoteError({
      operation: "repos/get",
      reason: "Corrupt",
      message:
        "repos/get: the answer is not what the API describes: Expected { readonly full_name: string }, actual []"
    })
    assert.strictEqual(fromStoreError(error).message, "the answer is not what the API describes")
    assert.strictEqual(fromStoreError(error).kind, "server")
  })

  it("the API operation at the start of a message is not shown, the name of a document is", () => {
    for (const [message, told] of [
      ["git/get-ref: Bad credentials", "Bad credentials"],
      ["graphql: timed out", "timed out"],
      ["repos/lamp: is empty", "repos/lamp: is empty"],
      ["products/get: is empty", "products/get: is empty"]
    ] as const) {
      assert.strictEqual(
        fromStoreError(new RemoteError({ operation: "x", reason: "Server", message })).message,
        told
      )
    }
  })

  it("advice in a number that leads to no time is none", () => {
    const told = (advice: string) =>
      fromResponse(429, { error: "RateLimitError", message: "wait" }, advice).next
    assert.match(told("60"), /^Wait until .*:/)
    for (const advice of ["9".repeat(400), "9".repeat(20), "soon", "-1"]) {
      assert.strictEqual(told(advice), told("0"), advice)
    }
  })

  it("the repository directory of a server is not shown", () => {
    const message = "file:///home/me/.chainstore/repos/local/demo.git has no commit, tag or branch v9"
    assert.strictEqual(
      fromResponse(404, { error: "NotFoundError", message }, null).message,
      "local/demo has no commit, tag or branch v9"
    )
  })

  it("a file that contains no document is not an error of the user", () => {
    for (const what of ["is not JSON (x)", "does not hold a JSON object", "is not text in UTF-8"]) {
      const message = `data/things/a.json ${what}`
      const problem = fromStoreError(
        new ValidationError({ operation: "x", message, hint: "somebody wrote it" })
      )
      assert.strictEqual(problem.kind, "unreadable")
      assert.match(problem.next, /history/)
      assert.strictEqual(fromResponse(422, { error: "ValidationError", message }, null).kind, "unreadable")
    }
    const other = fromResponse(422, { error: "ValidationError", message: "limit must be a number" }, null)
    assert.strictEqual(other.kind, "invalid")
  })
})
