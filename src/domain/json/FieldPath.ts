import type { LosslessJson, LosslessObject } from "./LosslessJson.js"
import { LosslessNumber } from "./NumberText.js"

/*
 * A path names a value inside a document: the member whose whole name is the path, or else the member that the names
 * between the dots lead to. The steps lead through objects only, never into lists.
 */

const mostCharacters = 512
const mostSteps = 32

/** What is wrong with a path, if anything. */
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

/** The value at a path of a document; undefined where the document has none. */
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
    // The whole member has been picked already.
    if (at === last || target[step] === value || !isObject(value)) return
    target[step] ??= Object.create(null) as Picked
    target = target[step] as Picked
    source = value
  }
}

/** A document with no other values than those at some paths, for what is remembered of many. */
export const pickPaths = (document: LosslessObject, paths: Iterable<string>): LosslessObject => {
  const picked: Picked = Object.create(null)
  for (const path of paths) {
    if (Object.hasOwn(document, path)) picked[path] = document[path]!
    else pickInto(picked, document, path)
  }
  return picked
}
