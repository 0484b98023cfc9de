import type { LosslessJson, LosslessObject } from "./LosslessJson.js"
import { LosslessNumber } from "./NumberText.js"

/*
 * A field path is the name of a member, or names separated by dots that lead through nested objects. A member whose name
 * equals the whole path takes precedence. A path never leads into a list.
 */

const mostCharacters = 512
const mostSteps = 32

/** The problem with a path, if any. */
export const fieldPathProblem = (path: unknown): string | undefined => {
  if (typeof path !== "string") return "the path of a field is text"
  if (path === "") return "the path of a field is not empty"
  if (path === "_id") return "_id is part of every index, and not a field of one"
  if (path.length > mostCharacters) return `the path of a field has at most ${mostCharacters} characters`
  return path.split(".").length > mostSteps ? `the path of a field has at most ${mostSteps} steps` : undefined
}

type Members = { readonly [key: string]: LosslessJson }

const isObject = (value: LosslessJson): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)

/** The value at a path of a document; undefined if there is none. */
export const valueAt = (document: LosslessObject, path: string): LosslessJson | undefined => {
  if (Object.hasOwn(document, path)) return document[path]
  let value: LosslessJson = document
  for (const step of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined
    value = value[step]!
  }
  return value
}

type Picked = { [key: string]: LosslessJson }

const pickInto = (picked: Picked, document: Members, path: string): void => {
  const steps = path.split(".")
  const last = steps.length - 1
  let [target, source] = [picked, document]
  for (const [at, step] of steps.entries()) {
    if (!Object.hasOwn(source, step)) return
    const value = source[step]!
    if (at === last) target[step] = value
    // The whole member was picked before.
    if (target[step] === value || !isObject(value)) return
    target[step] ??= Object.create(null) as Picked
    target = target[step] as Picked
    source = value
  }
}

/** The part of a document at some paths. It is used where many documents are cached. */
export const pickPaths = (document: LosslessObject, paths: Iterable<string>): LosslessObject => {
  const picked: Picked = Object.create(null)
  for (const path of paths) {
    if (Object.hasOwn(document, path)) picked[path] = document[path]!
    else pickInto(picked, document, path)
  }
  return picked
}
