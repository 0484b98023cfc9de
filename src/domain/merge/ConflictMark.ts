import { isList, isObject, type Optional } from "./JsonIdentity.js"

/** The member that marks a conflict between several merge bases. No document has a member with this name. */
export const conflictName = "\0conflict"

/** Whether a value of a merge base is a conflict mark, so that the value has no base. */
export const isMark = (value: Optional): boolean => isObject(value) && Object.hasOwn(value, conflictName)

/** Whether a value is or contains a conflict mark. */
export const containsMark = (value: Optional): boolean => {
  if (isList(value)) return value.some(containsMark)
  return isMark(value) || (isObject(value) && Object.values(value).some(containsMark))
}
