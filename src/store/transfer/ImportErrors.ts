import * as Errors from "../../domain/errors/StoreError.js"
import { SourceError } from "./SourceError.js"

/** Error classes whose constructors take only their fields. A caller's stream may fail with other errors. */
const rebuildable: ReadonlySet<unknown> = new Set([...Object.values(Errors), SourceError])

const nothingWritten = "nothing was written"

/** The error of a row that cannot be stored. Its hint says how many records are committed and how to resume. */
export const rowError = (
  bad: { readonly row: number; readonly id?: string | undefined; readonly reason?: string | undefined },
  importId: string,
  committed: number
): Errors.ValidationError => {
  return new Errors.ValidationError({
    operation: "Collection.importRecords",
    id: bad.id,
    message: `row ${bad.row} cannot be imported: ${bad.reason}`,
    hint:
      committed === 0
        ? nothingWritten
        : `${committed} records before it are committed; correct the row and resume with the importId ${importId}`
  })
}

/** Adds the importId to the hint of an error, because a generated id is otherwise unknown to the caller. */
export const withResumeHint = <E>(error: E, importId: string, committed: number): E => {
  if (!(error instanceof Errors.StoreError) || !rebuildable.has(error.constructor)) {
    return error
  }
  const advice =
    committed === 0 && !(error instanceof Errors.AmbiguousWriteError)
      ? nothingWritten
      : `${committed} records before it are committed; resume the import with the importId ${importId}`
  const Same = error.constructor as new (fields: object) => E
  const { cause, hint, message } = error
  return new Same({ ...error, message, cause, hint: hint === undefined ? advice : `${hint}; ${advice}` })
}
