import { isList, isObject, type Optional } from "./JsonIdentity.js"

/** The member of an object that stands for a conflict between merge bases: it is like no value of a document. */
export const conflictName = "\0conflict"

/** Whether a value of a merge base is a conflict itself, so that there is no base. */
export const isMark = (value: Optional): boolean => isObject(value) && Object.hasOwn(value, conflictName)

/** Whether a value is such a mark, or has one anywhere inside. */
export const containsMark = (value: Optional): boolean => {
  if (isList(value)) return value.some(containsMark)
  return isMark(value) || (isObject(value) && Object.values(value).some(containsMark))
}
