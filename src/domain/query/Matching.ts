import { valueAt } from "../json/FieldPath.js"
import type { Json, JsonObject } from "../json/Json.js"
import { equalJson } from "../json/JsonEquality.js"
import { indexable, type LosslessJson, type LosslessObject } from "../json/LosslessJson.js"
import { compareCodePoints } from "../text/CodePointOrder.js"
import type { Predicate, Test } from "./Predicate.js"

/** Whether one value satisfies a test. */
export type ValueTest = (value: Json) => boolean

const isOneOf = (values: ReadonlyArray<Json>): ValueTest => {
  const scalars = new Set(values)
  const others = values.filter((value) => typeof value === "object")
  return (found) => scalars.has(found) || others.some((value) => equalJson(found, value))
}

const isOrdered = (value: number | string, accept: (order: number) => boolean): ValueTest =>
  typeof value === "number"
    ? (found) => typeof found === "number" && Number.isFinite(found) && accept(found - value)
    : (found) => typeof found === "string" && accept(compareCodePoints(found, value))

const testOf = (test: Test): ValueTest => {
  switch (test.operator) {
    case "is":
      return (found) => equalJson(found, test.value)
    case "in":
      return isOneOf(test.value)
    case "lessThan":
      return isOrdered(test.value, (order) => order < 0)
    case "atMost":
      return isOrdered(test.value, (order) => order <= 0)
    case "greaterThan":
      return isOrdered(test.value, (order) => order > 0)
    case "atLeast":
      return isOrdered(test.value, (order) => order >= 0)
    case "startsWith":
      return (found) => typeof found === "string" && found.startsWith(test.value)
  }
}

/** Whether one value satisfies all of some tests. */
export const satisfiesAll = (tests: ReadonlyArray<Test>): ValueTest => {
  const all = tests.map(testOf)
  return (value) => all.every((one) => one(value))
}

const isList = <A>(value: A | ReadonlyArray<A>): value is ReadonlyArray<A> => Array.isArray(value)

/** The values of a document's field: the elements of a list, or an empty list itself. */
export const valuesIn = (document: LosslessObject, path: string): ReadonlyArray<LosslessJson> => {
  const value = valueAt(document, path)
  const values = isList(value) && value.length > 0 ? value : [value]
  return values.flatMap((one) => {
    const found = indexable(one)
    return found === undefined ? [] : [found]
  })
}

/** A function that tests documents with JavaScript numbers against a predicate. */
export const matcherOf = (predicate: Predicate): ((document: JsonObject) => boolean) => {
  switch (predicate._tag) {
    case "And": {
      const all = predicate.all.map(matcherOf)
      return (document) => all.every((one) => one(document))
    }
    case "Or": {
      const any = predicate.any.map(matcherOf)
      return (document) => any.some((one) => one(document))
    }
    case "Not": {
      const not = matcherOf(predicate.not)
      return (document) => !not(document)
    }
    case "Exists": {
      const { path } = predicate
      return (document) => valuesIn(document, path).length > 0
    }
    case "Field": {
      const { path, whole } = predicate
      const test = satisfiesAll(predicate.tests)
      return (document) => {
        if (whole && !Object.hasOwn(document, path)) return false
        const value = valueAt(document, path) as Json | undefined
        if (value === undefined) return false
        return test(value) || (isList(value) && value.some(test))
      }
    }
  }
}
