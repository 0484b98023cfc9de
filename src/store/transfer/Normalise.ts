import * as BigDecimal from "effect/BigDecimal"
import * as Encoding from "effect/Encoding"
import { ValidationError } from "../../domain/errors/StoreError.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { describeValue } from "./RecordSource.js"
import { UnheldNumber } from "./UnheldNumber.js"

/**
 * Converts any value of JavaScript or of a database driver to JSON:
 *
 * - dates: RFC 3339 text in UTC; `NaN` and infinities: the texts `nan`, `inf`, `-inf`
 * - `bigint` and 64-bit driver integers: a number if it is exact, otherwise their decimal text
 * - decimals (`BigDecimal`, `Decimal128`, anything with `toJSON`): their text
 * - bytes: base64; a BSON UUID: its canonical text; an `ObjectId`: its hexadecimal text
 * - `Map`: an object; `Set` and other lists: an array; `undefined`: omitted in objects, null in arrays
 * - anything else: its text
 *
 * Throws a `ValidationError` with the path if a value contains itself or an `UnheldNumber`.
 *
 * @since 0.1.0
 * @category importing
 */
export const normalise = (value: unknown): Json => normaliseAt(value, "", [])

/**
 * Converts a record to a JSON object with `normalise`. Throws a `ValidationError` if the value is not an object.
 *
 * @since 0.1.0
 * @category importing
 */
export const normaliseRecord = (record: unknown): JsonObject => {
  const normalised = normalise(record)
  if (typeof normalised === "object" && normalised !== null && !Array.isArray(normalised)) {
    return normalised as JsonObject
  }
  throw new ValidationError({
    operation: "importRecords",
    message: `a record must be an object, this is ${describeValue(record)}`
  })
}

const normaliseAt = (value: unknown, path: string, above: ReadonlyArray<object>): Json => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      return fromNumber(value)
    case "bigint":
      return fromBigInt(value)
    case "undefined":
      return null
    case "object":
      return value === null ? null : fromObject(value, path, above)
    default:
      return String(value)
  }
}

const fromNumber = (value: number): Json =>
  Number.isFinite(value) ? value : Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf"

const fromBigInt = (value: bigint): Json =>
  BigInt(Number(value)) === value && Number.isSafeInteger(Number(value)) ? Number(value) : value.toString()

/** Keeps trailing zeros, which state the precision. */
const fromDecimal = (value: BigDecimal.BigDecimal): string => {
  const { scale, value: units } = value
  if (scale <= 0 || scale > 100) return BigDecimal.format(value)
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0")
  return `${units < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const fromObject = (value: object, path: string, above: ReadonlyArray<object>): Json => {
  if (above.includes(value)) {
    throw new ValidationError({
      operation: "importRecords",
      path: path === "" ? "/" : path,
      message: `the value at ${path === "" ? "the root" : path} contains itself`,
      hint: "JSON cannot represent cycles: remove the back reference"
    })
  }
  if (value instanceof UnheldNumber) {
    throw new ValidationError({
      operation: "importRecords",
      path,
      message: `the number ${value.text} at ${path} cannot be represented exactly: write it as text, in quotes`
    })
  }
  const inside = [...above, value]
  const list = (items: Iterable<unknown>) =>
    Array.from(items, (item, index) => normaliseAt(item, `${path}/${index}`, inside))
  const entries = (pairs: Iterable<readonly [unknown, unknown]>) => {
    const object: Record<string, Json> = Object.create(null)
    for (const [key, item] of pairs) {
      if (item === undefined) continue
      const name = String(key)
      if (Object.hasOwn(object, name)) {
        throw new ValidationError({
          operation: "importRecords",
          path: `${path}/${name}`,
          message: `two keys of the Map at ${path === "" ? "the root" : path} are ${name} as text`
        })
      }
      object[name] = normaliseAt(item, `${path}/${name}`, inside)
    }
    return object
  }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString()
  if (value instanceof Uint8Array) return Encoding.encodeBase64(value)
  if (value instanceof ArrayBuffer) return Encoding.encodeBase64(new Uint8Array(value))
  if (value instanceof DataView) {
    return Encoding.encodeBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  }
  if (BigDecimal.isBigDecimal(value)) return fromDecimal(value)
  if (value instanceof Map) return entries(value)
  if (Array.isArray(value) || value instanceof Set || ArrayBuffer.isView(value))
    return list(value as Iterable<unknown>)
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return normaliseAt(value.valueOf(), path, above)
  }
  const prototype = Object.getPrototypeOf(value)
  const isBare = prototype === null || prototype === Object.prototype
  // BSON values of the driver are instances of a class. In a plain object, `_bsontype` is a field of the user.
  if ("_bsontype" in value && !isBare) return fromBson(value as BsonValue, path, inside)
  if ("toJSON" in value && typeof value.toJSON === "function")
    return normaliseAt(value.toJSON(), path, inside)
  const plain =
    isBare ||
    prototype.constructor?.toString().startsWith("class") ||
    Object.prototype.toString.call(value) === "[object Object]"
  return plain ? entries(Object.entries(value)) : String(value)
}

/** The members of the `bson` package's values that are read here. Several major versions of the driver share them. */
interface BsonValue {
  readonly _bsontype: string
  readonly toHexString?: () => string
  readonly toBigInt?: () => bigint
  readonly valueOf: () => unknown
  readonly buffer?: Uint8Array
  readonly sub_type?: number
  readonly position?: number
  readonly pattern?: string
  readonly options?: string
  readonly toJSON?: () => unknown
}

const fromBson = (value: BsonValue, path: string, above: ReadonlyArray<object>): Json => {
  switch (value._bsontype) {
    case "ObjectId":
    case "ObjectID":
      return value.toHexString?.() ?? String(value)
    case "Long":
      return fromBigInt(value.toBigInt?.() ?? BigInt(String(value)))
    case "Timestamp":
      return String(value)
    case "Decimal128":
      return String(value)
    case "Int32":
    case "Double":
      return normaliseAt(value.valueOf(), path, above)
    case "UUID":
      return uuid(value.toHexString?.() ?? String(value))
    case "Binary": {
      const bytes = (value.buffer ?? new Uint8Array()).subarray(0, value.position)
      return value.sub_type === 4 && bytes.length === 16
        ? uuid(Encoding.encodeHex(bytes))
        : Encoding.encodeBase64(bytes)
    }
    case "BSONRegExp":
      return `/${value.pattern}/${value.options}`
    case "MinKey":
    case "MaxKey":
      return value._bsontype
    default:
      return value.toJSON === undefined ? String(value) : normaliseAt(value.toJSON(), path, above)
  }
}

const uuid = (hex: string) => {
  const digits = hex.replaceAll("-", "")
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20)
  ].join("-")
}
