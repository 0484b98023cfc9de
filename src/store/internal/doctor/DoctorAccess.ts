import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { Finding } from "../../Doctor.js"
import type { Budget, Probe } from "../../remote/GitRemote.js"
import type { StoreCore } from "../commit/StoreCore.js"

const branchFinding = (branch: string, probe: Probe): ReadonlyArray<Finding> =>
  probe.branch ? [{ severity: "ok", code: "branch", message: `the branch ${branch} is there` }] : []

const toWrite =
  "to write, use a token with Contents: read and write (a classic token: the repo scope), or on a disk a user with the rights to write to the directory"

const rightsFinding = (probe: Probe): Finding =>
  Option.match(probe.write, {
    onNone: () => ({
      severity: "warning",
      code: "rights",
      message: "the remote does not say whether these credentials may write",
      hint: toWrite
    }),
    onSome: (write) =>
      write
        ? { severity: "ok", code: "rights", message: "these credentials may read and write" }
        : {
            severity: "warning",
            code: "rights",
            message: "these credentials may read, but not write",
            hint: toWrite
          }
  })

const budgetFinding = ({ limit, remaining, resetAt, resource }: Budget): Finding => {
  const message = `rate limit ${resource}: ${remaining} of ${limit} requests left, all again at ${resetAt.toISOString()}`
  return remaining * 10 >= limit
    ? { severity: "ok", code: "budget", message }
    : {
        severity: "warning",
        code: "budget",
        message,
        hint: "leave long work until then, or use a token with a budget of its own"
      }
}

/** Examines the branch, the rights, and the remaining requests. */
export const examineAccess = (core: StoreCore): Effect.Effect<ReadonlyArray<Finding>, ReadError> =>
  Effect.gen(function* () {
    const probe = yield* core.remote.probe(core.branch, { rights: true })
    const budgets = yield* core.remote.budget
    const health = core.remote.health === undefined ? [] : yield* core.remote.health
    return [
      ...branchFinding(core.branch, probe),
      rightsFinding(probe),
      ...health,
      ...budgets.map(budgetFinding)
    ]
  })
