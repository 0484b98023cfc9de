import type * as Steps from "../concurrency/Steps.js"
import { appendToPath } from "./JsonPath.js"
import { visitTokens } from "./JsonText.js"

/** A key that occurs twice in an object of a text. Parsers keep only the last value. */
export interface RepeatedKey {
  /** The path of the value in the document. */
  readonly path: string
  /** The line numbers of both occurrences. */
  readonly lines: readonly [first: number, second: number]
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split(/\r\n?|\n/).length

/** Finds the first repeated key of a valid JSON text, in steps. */
export function* repeatedKeySteps(text: string): Steps.Steps<RepeatedKey | undefined> {
  const keys: Array<Map<string, number>> = []
  let found: RepeatedKey | undefined
  yield* visitTokens(text, {
    object: (depth) => {
      keys[depth] = new Map()
    },
    key: (steps, at) => {
      if (found !== undefined) return
      const key = String(steps.at(-1))
      const before = keys[steps.length]!.get(key)
      if (before === undefined) keys[steps.length]!.set(key, at)
      else
        found = {
          path: steps.reduce<string>(appendToPath, ""),
          lines: [lineAt(text, before), lineAt(text, at)]
        }
    }
  })
  return found
}
