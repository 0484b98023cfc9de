import { ValidationError } from "../../domain/StoreError.js"

/**
 * Checks of what plain JavaScript can get wrong. Each throws a `ValidationError` that says what is wanted, inside a
 * function that answers a promise.
 */
const refused = (operation: string, wanted: string, given: unknown, hint?: string) =>
  new ValidationError({ operation, message: `${wanted}, it is ${kindOf(given)}`, hint })

const kindOf = (value: unknown): string => {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return "a list"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

type Fields = { readonly [name: string]: unknown }

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null

export const wantFunction = (operation: string, name: string, value: unknown): void => {
  if (typeof value !== "function") throw refused(operation, `${name} must be a function`, value)
}

/** Strings by the names of the arguments. */
export const wantStrings = (operation: string, given: Fields): void => {
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "string") throw refused(operation, `${name} must be a string`, value)
  }
}

const strings = ["message", "id", "after", "sheetName", "delimiter", "idField", "importId", "branch"]
const numbers = ["limit", "size", "chunkSize", "maxOperations", "maxSeconds"]
const functions = ["onProgress", "onRow"]

/** The options that calls have; each option is of one kind wherever it is. */
export const wantOptions = (options: unknown): void => {
  const operation = "AsyncStore"
  if (options === undefined) return
  if (!isObject(options)) throw refused(operation, "options must be an object", options)
  const { expectedRev, signal } = options
  const isSignal = isObject(signal) && "aborted" in signal && "addEventListener" in signal
  if (signal !== undefined && signal !== null && !isSignal) {
    throw refused(operation, "the signal must be an AbortSignal", signal, "pass the signal of a controller")
  }
  if (expectedRev !== undefined && expectedRev !== null && typeof expectedRev !== "number") {
    throw refused(operation, "expectedRev must be a number", expectedRev, "pass the document's _rev")
  }
  ofKind(operation, options, strings, "string")
  ofKind(operation, options, numbers, "number")
  ofKind(operation, options, functions, "function")
}

const ofKind = (operation: string, options: Fields, names: ReadonlyArray<string>, kind: string) => {
  for (const name of names) {
    const value = options[name]
    if (value !== undefined && typeof value !== kind) {
      throw refused(operation, `${name} must be a ${kind}`, value)
    }
  }
}

/** What a queued document is expected to be. */
export const wantExpectation = (operation: string, expectation: unknown): void => {
  const { absent, rev, sha } = isObject(expectation) ? expectation : {}
  const given = [absent, rev, sha].filter((one) => one !== undefined)
  const isOne = given.length === 1 && (typeof rev === "number" || typeof sha === "string" || absent === true)
  if (!isOne) {
    throw new ValidationError({
      operation,
      message: "an expectation must say one thing of a document",
      hint: 'pass { rev: 3 }, { sha: "..." } or { absent: true }'
    })
  }
}

/** Where an export goes. */
export const wantDestination = (operation: string, destination: unknown): void => {
  if (typeof destination === "string") return
  if (destination instanceof WritableStream) return
  if (isObject(destination) && "pipe" in destination && "write" in destination) {
    throw new ValidationError({
      operation,
      message: "the destination is a stream of Node's, it must be a WritableStream",
      hint: "pass Writable.toWeb(stream), with Writable from node:stream; or the path of a file"
    })
  }
  throw refused(operation, "the destination must be a file's path or a WritableStream", destination)
}

/** A list of names, such as columns. */
export const wantNames = (operation: string, name: string, names: unknown): void => {
  if (names === undefined) return
  const wanted = `${name} must be a list of strings`
  if (!Array.isArray(names)) throw refused(operation, wanted, names)
  const other = names.findIndex((one) => typeof one !== "string")
  if (other >= 0) throw refused(operation, `${wanted}; of number ${other + 1}`, names[other])
}

/** A list of names for each collection. */
export const wantNamesByCollection = (operation: string, name: string, lists: unknown): void => {
  if (lists === undefined) return
  if (!isObject(lists) || Array.isArray(lists)) {
    throw refused(operation, `${name} must be an object of lists by collection`, lists)
  }
  for (const [collection, names] of Object.entries(lists)) {
    wantNames(operation, `${name}.${collection}`, names)
  }
}

export const wantSchema = (operation: string, schema: unknown): void => {
  const isSchema = (isObject(schema) || typeof schema === "function") && "ast" in schema
  if (schema !== undefined && !isSchema) {
    throw refused(operation, "the second argument of collection must be a Schema of Effect", schema)
  }
}
