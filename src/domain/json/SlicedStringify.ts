import type * as Effect from "effect/Effect"
import { run, type Steps, stepSize } from "../concurrency/Steps.js"

type Members = { readonly [key: string]: unknown }

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null

/** The number of scalars at a position of a list, which are printed by one call. */
const scalarsFrom = (list: ReadonlyArray<unknown>, start: number): number => {
  let at = start
  while (at < list.length && at - start < stepSize && isScalar(list[at])) at++
  return at - start
}

class Printer {
  text = "";

  *print(value: unknown): Steps<void> {
    if (isScalar(value) || typeof (value as Members)["toJSON"] === "function") {
      this.text += JSON.stringify(value)
    } else if (Array.isArray(value)) yield* this.list(value)
    else yield* this.object(value as Members)
  }

  private *list(list: ReadonlyArray<unknown>): Steps<void> {
    this.text += "["
    for (let at = 0; at < list.length; ) {
      if (at > 0) this.text += ","
      const scalars = scalarsFrom(list, at)
      if (scalars === 0) yield* this.print(list[at])
      else this.text += JSON.stringify(list.slice(at, at + scalars)).slice(1, -1)
      at += Math.max(scalars, 1)
      if (scalars === stepSize || at % stepSize === 0) yield
    }
    this.text += "]"
  }

  private *object(object: Members): Steps<void> {
    let visited = 0
    let before = "{"
    for (const key of Object.keys(object)) {
      if (++visited % stepSize === 0) yield
      const member = object[key]
      if (member === undefined) continue
      this.text += `${before}${JSON.stringify(key)}:`
      before = ","
      if (isScalar(member)) this.text += JSON.stringify(member)
      else yield* this.print(member)
    }
    this.text += before === "{" ? "{}" : "}"
  }
}

function* textOf(value: unknown): Steps<string> {
  const printer = new Printer()
  yield* printer.print(value)
  return printer.text
}

/** The text of a JSON value as `JSON.stringify` prints it, with pauses if the value is large. Undefined members are left out. */
export const stringifySliced = (value: unknown): Effect.Effect<string> => run(() => textOf(value))
