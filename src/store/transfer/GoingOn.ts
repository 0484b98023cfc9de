import * as Errors from "../../domain/StoreError.js"
import { SourceError } from "./SourceError.js"

/** The errors that are made of their fields alone; a caller's stream may fail with others. */
const plain: ReadonlySet<unknown> = new Set([...Object.values(Errors), SourceError])

const refusals = new WeakSet<object>()

/** A row that cannot be stored; its hint says what was written before it, and how the import goes on. */
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
        : `${committed} records before it are committed; mend it and go on with the importId ${importId}`
  })
  refusals.add(error)
  return error
}

/** The failure of an import with the id under which it goes on, which the caller of a made id may not know. */
export const goingOn = <E>(error: E, importId: string, committed: number): E => {
  if (!(error instanceof Errors.StoreError) || !plain.has(error.constructor) || refusals.has(error)) {
    return error
  }
  const told = `${committed} records before it are committed; the import goes on with the importId ${importId}`
  const Same = error.constructor as new (fields: object) => E
  const { cause, hint, message } = error
  return new Same({ ...error, message, cause, hint: hint === undefined ? told : `${hint}; ${told}` })
}
