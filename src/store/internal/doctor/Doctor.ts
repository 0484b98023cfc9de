import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { type ReadError, ValidationError } from "../../../domain/errors/StoreError.js"
import { collectionNameProblem } from "../../../domain/identifiers/CollectionName.js"
import type { DoctorOptions, Finding } from "../../Doctor.js"
import { takesRequests } from "../../remote/GitRemote.js"
import type { SettingsAt, StoreCore } from "../commit/StoreCore.js"
import { examineAccess } from "./DoctorAccess.js"
import { caseCollisions, examineCollection } from "./DoctorCollection.js"

/** The prefix of transactions' work branches. */
const workBranches = "chainstore-tx-"

const settingsFinding = (settings: SettingsAt): Finding =>
  settings.mismatch !== undefined
    ? {
        severity: "error",
        code: "settings",
        message: settings.mismatch.message,
        hint: settings.mismatch.hint
      }
    : settings.frozen !== undefined
      ? {
          severity: "error",
          code: "settings-newer",
          message: settings.frozen,
          hint: "use a newer version of this program"
        }
      : {
          severity: "ok",
          code: "settings",
          message: settings.recorded
            ? "the repository records its settings"
            : "the repository records no settings: the plain layout of documents"
        }

const leftBranches = (core: StoreCore) =>
  Effect.map(core.remote.listBranches(workBranches), (branches) =>
    branches.map(
      ({ name }): Finding => ({
        severity: "warning",
        code: "work-branch",
        message: `the work branch ${name} was left by a transaction`,
        hint: "if no transaction is running, look at its commits and remove it"
      })
    )
  )

/** Examines a repository: reports problems with hints, and what was examined. */
export const doctor = (
  core: StoreCore,
  { deep = !takesRequests(core.remote), onProgress }: DoctorOptions = {}
): Effect.Effect<ReadonlyArray<Finding>, ReadError> =>
  Effect.gen(function* () {
    if (typeof deep !== "boolean") {
      return yield* new ValidationError({ operation: "Store.doctor", message: "deep is true or false" })
    }
    const snapshot = core.snapshot()
    const head = yield* snapshot.head
    if (Option.isNone(head)) {
      return [
        { severity: "ok", code: "empty", message: "the repository is empty: the first write begins it" },
        ...(yield* examineAccess(core))
      ]
    }
    const read = yield* Effect.either(core.repository.at(snapshot))
    if (Either.isLeft(read)) {
      if (!(read.left instanceof ValidationError)) return yield* read.left
      return [{ severity: "error", code: "settings", message: read.left.message, hint: read.left.hint }]
    }
    const settings = read.right
    const found: Array<Finding> = [settingsFinding(settings)]
    const names = [...settings.entries].flatMap(([name, { kind }]) =>
      kind === "tree" && collectionNameProblem(name) === undefined ? [name] : []
    )
    for (const group of caseCollisions(names)) {
      found.push({
        severity: "warning",
        code: "case-twins",
        message: `the collections ${group.join(" and ")} differ only in case`,
        hint: "they share one directory in a checkout on Windows or macOS"
      })
    }
    for (const name of names) {
      found.push(...(yield* examineCollection(core, snapshot, head.value, settings, name, deep, onProgress)))
    }
    found.push(...(yield* leftBranches(core)))
    // Last, because the remaining budget is known from the requests above.
    found.splice(0, 0, ...(yield* examineAccess(core)))
    return found
  })
