import * as Errors from "../../domain/errors/StoreError.js"
import { SourceError } from "./SourceError.js"

/** The errors whose constructors take their fields alone; a caller's stream may fail with others. */
const plain: ReadonlySet<unknown> = new Set([...Object.values(Errors), SourceError])

const refusals = new WeakSet<object>()

/** The error of a row that cannot be stored; its hint says what was written and how to resume the import. */
export const refusal = (
  bad: { readonly row: number; readonly id?: string | undefined; readonly reason?: string | undefined },
  importId: string,
  committed: number
): Errors.ValidationError => {
  const error = new Errors.ValidationError({
    operation: "Collection.importRecords",
    id: bad.id,
    message: `row ${bad.row} cannot be imported: ${bad.reason}`,
    hint:
      committed === 0
        ? "nothing was written"
        : `${committed} records before it are committed; correct it and resume with the importId ${importId}`
  })
  refusals.add(error)
  return error
}

/** The failure of an import with a hint that names the id to resume it with, since the id may be generated. */
export const resumable = <E>(error: E, importId: string, committed: number): E => {
  if (!(error instanceof Errors.StoreError) || !plain.has(error.constructor) || refusals.has(error)) {
    return error
  }
  const advice = `${committed} records before it are committed; resume the import with the importId ${importId}`
  const Same = error.constructor as new (fields: object) => E
  const { cause, hint, message } = error
  return new Same({ ...error, message, cause, hint: hint === undefined ? advice : `${hint}; ${advice}` })
}
