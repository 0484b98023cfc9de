import * as Effect from "effect/Effect"

/** Items of a list that are shown. */
const maxItems = 50

const formatObject = (value: object, depth: number): string => {
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => formatValue(item, depth + 1))
    return `[${[...items, ...(value.length > maxItems ? [`… ${value.length - maxItems} more`] : [])].join(", ")}]`
  }
  if (value instanceof Uint8Array) return `<${value.length} bytes>`
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return "…"
  if (depth > 6) return "{…}"
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return members.length === 0
    ? "{}"
    : `{ ${members.map(([key, member]) => `${JSON.stringify(key)}: ${formatValue(member, depth + 1)}`).join(", ")} }`
}

/** A value as somebody would write it in a call. */
export const formatValue = (value: unknown, depth = 0): string => {
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value === "function") return "…"
  return typeof value === "object" && value !== null ? formatObject(value, depth) : String(value)
}

/** What the bodies of brackets are given, by the bracket's name. */
const bracketParameters: Readonly<Record<string, string>> = {
  batch: "batch",
  writer: "writer",
  transaction: "transaction",
  preview: "dry"
}

/** Effects whose result has methods of its own. */
const viewMethods = new Set(["at", "snapshot"])

/**
 * The same object, with every call of a method, and every use of a property that is an Effect, noted as somebody would
 * write it. Batches, writers, transactions, views and collections are noted too.
 */
export const recordCalls = <A extends object>(target: A, path: string, note: (call: string) => void): A =>
  new Proxy(target, {
    get: (of, key) => {
      const value: unknown = Reflect.get(of, key)
      if (typeof key !== "string") return value
      if (Effect.isEffect(value)) {
        note(`${path}.${key}`)
        return viewMethods.has(key)
          ? Effect.map(value, (view) => recordCalls(view as object, path === "store" ? "view" : path, note))
          : value
      }
      if (typeof value !== "function") return value
      return (...given: ReadonlyArray<unknown>) => {
        if (key === "collection") {
          return recordCalls(
            Reflect.apply(value, of, given),
            `${path}.collection(${formatValue(given[0])})`,
            note
          )
        }
        note(`${path}.${key}(${given.map((argument) => formatValue(argument)).join(", ")})`)
        const name = bracketParameters[key]
        const args = given.map((argument) =>
          name !== undefined && typeof argument === "function"
            ? (inner: object) => argument(recordCalls(inner, name, note))
            : argument
        )
        const result: unknown = Reflect.apply(value, of, args)
        if (key === "onBranch") return recordCalls(result as object, path, note)
        if (!viewMethods.has(key)) return result
        return Effect.isEffect(result)
          ? Effect.map(result as Effect.Effect<object>, (view) => recordCalls(view, "view", note))
          : recordCalls(
              result as object,
              `${path}.${key}(${given.map((argument) => formatValue(argument)).join(", ")})`,
              note
            )
      }
    }
  })
