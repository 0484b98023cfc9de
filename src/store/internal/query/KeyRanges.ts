import type { IndexField } from "../../../domain/indexes/IndexDefinition.js"
import {
  afterPrefix,
  descending,
  equalKeyRange,
  sortKey,
  textPrefixKey
} from "../../../domain/indexes/SortKey.js"
import type { Json } from "../../../domain/json/Json.js"
import type { Test } from "../../../domain/query/Predicate.js"

/** A position between keys: before or after all keys with a prefix. */
interface Position {
  readonly prefix: string
  readonly isAfter: boolean
}

/** A range of the keys of one field. */
export interface FieldRange {
  readonly from: Position
  readonly until: Position
  /** The value of all documents in the range, if it is a single one. */
  readonly value: Json | undefined
}

type Comparison = Exclude<Test, { readonly operator: "is" | "in" | "startsWith" }>

const before = (prefix: string): Position => ({ prefix, isAfter: false })
const after = (prefix: string): Position => ({ prefix, isAfter: true })

/** All keys with a prefix. */
const beginning = (prefix: string): FieldRange => ({
  from: before(prefix),
  until: after(prefix),
  value: undefined
})

/** The keys of all spellings of a value. */
const equal = (value: Json): FieldRange => {
  const [least, greatest] = equalKeyRange(value)
  return { from: before(least), until: after(greatest), value: least === greatest ? value : undefined }
}

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

/** A list is also found by its first element: an index has a row for each element and none for the list. */
const equalTo = (value: Json): ReadonlyArray<FieldRange> =>
  isList(value) && value.length > 0
    ? [value, value[0]!].map((one) => ({ ...equal(one), value: undefined }))
    : [equal(value)]

/** The keys of all numbers, or of all texts. */
const kindOf = (value: number | string): FieldRange => beginning(sortKey(value)[0]!)

/** The keys of the numbers or texts on one side of a bound. */
const bounded = ({ operator, value }: Comparison): FieldRange => {
  const [least, greatest] = equalKeyRange(value)
  const all = kindOf(value)
  switch (operator) {
    case "atLeast":
      return { ...all, from: before(least) }
    case "greaterThan":
      return { ...all, from: least === greatest ? after(greatest) : before(least) }
    case "atMost":
      return { ...all, until: after(greatest) }
    case "lessThan":
      return { ...all, until: least === greatest ? before(least) : after(greatest) }
  }
}

/**
 * The key ranges that contain every value that satisfies all tests, of which there is at least one. If a bound has keys
 * of several values, all of them are included, and the rows are tested one by one.
 */
export const rangesOf = (tests: ReadonlyArray<Test>): ReadonlyArray<FieldRange> => {
  let range: FieldRange | undefined
  for (const test of tests) {
    switch (test.operator) {
      case "is":
        return equalTo(test.value)
      case "in":
        return test.value.flatMap(equalTo)
      case "startsWith":
        range = within(range, beginning(textPrefixKey(test.value)))
        break
      default:
        range = within(range, bounded(test))
    }
  }
  return [range!]
}

/** All values that are not missing. */
export const present: FieldRange = {
  from: after(sortKey(undefined)),
  until: after(""),
  value: undefined
}

const keyOf = ({ isAfter, prefix }: Position): string => (isAfter ? afterPrefix(prefix) : prefix)

const within = (a: FieldRange | undefined, b: FieldRange): FieldRange => {
  if (a === undefined) return b
  const from = keyOf(a.from) > keyOf(b.from) ? a.from : b.from
  const until = keyOf(a.until) < keyOf(b.until) ? a.until : b.until
  return { from, until, value: undefined }
}

const mirrored = ({ isAfter, prefix }: Position): Position => ({
  prefix: descending(prefix),
  isAfter: !isAfter
})

/** Keys from `from` up to, but not including, `until`. */
export interface KeyRange {
  readonly from: string
  readonly until: string
}

/** The keys with a prefix whose next field lies in a range. */
export const keysBelow = (
  prefix: string,
  { order }: Pick<IndexField, "order">,
  { from, until }: FieldRange
): KeyRange =>
  order === "asc"
    ? { from: prefix + keyOf(from), until: prefix + keyOf(until) }
    : { from: prefix + keyOf(mirrored(until)), until: prefix + keyOf(mirrored(from)) }
