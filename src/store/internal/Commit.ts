import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { AuthError, type WriteError } from "../../domain/StoreError.js"
import { type CommitParts, commitOn } from "./BranchCommit.js"
import * as Judgement from "./Judgement.js"
import type { Unit, UnitOutcome } from "./WriteUnit.js"

// Loaded when it is used: most remotes have no such short cut, and a page that reads does not carry it.
const singleFile = Effect.promise(() => import("./SingleFileCommit.js"))

const refusal = (operation: string) =>
  new AuthError({
    operation,
    message: "this store was opened for reading",
    hint: "open it without readOnly and ref to write"
  })

/** The next reader or writer of a document begins with the version that was written. */
const keep = ({ cache }: CommitParts, { documents }: UnitOutcome) =>
  Effect.forEach(
    documents,
    ({ after, path }) =>
      cache.set(
        path,
        Option.map(after, ({ content, sha }) => ({ content, oid: sha }))
      ),
    { discard: true }
  )

/** The way every write takes: see `WriteUnit.ts`. */
export const make =
  (parts: CommitParts) =>
  (unit: Unit): Effect.Effect<UnitOutcome, WriteError> =>
    Effect.suspend(() => {
      if (parts.options.readOnly || parts.isPinned) return refusal(unit.operation)
      const wrong = Judgement.unitProblem(unit)
      if (wrong !== undefined) return wrong
      const short = Option.isNone(parts.remote.singleFile)
        ? Effect.succeedNone
        : Effect.flatMap(singleFile, ({ commitSingleFile }) => commitSingleFile(parts, unit))
      return short.pipe(
        Effect.flatMap(
          Option.match({ onNone: () => commitOn(parts, unit), onSome: (done) => Effect.succeed(done) })
        ),
        Effect.tap((outcome) => keep(parts, outcome))
      )
    })
