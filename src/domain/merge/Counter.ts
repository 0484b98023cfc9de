import { isExact } from "../json/JsonText.js"
import { LosslessNumber, numberText, pythonNumber } from "../json/NumberText.js"
import { textOfNumber } from "./JsonIdentity.js"

interface Decimal {
  readonly digits: bigint
  /** The number of digits after the decimal point. */
  readonly scale: number
}

/** JavaScript reads every number with a larger exponent as zero or infinity. */
const mostScale = 400

const decimalOf = (text: string): Decimal | undefined => {
  const parts = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (parts === null) return undefined
  const [, whole, fraction = "", exponent = "0"] = parts
  const scale = fraction.length - Number(exponent)
  if (Math.abs(scale) > mostScale) return undefined
  const digits = BigInt(whole + fraction)
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale }
}

const textOf = ({ digits, scale }: Decimal): string => {
  const sign = digits < 0n ? "-" : ""
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, "0")
  const at = text.length - scale
  const fraction = text.slice(at).replace(/0+$/, "")
  return `${sign}${text.slice(0, at)}${fraction === "" ? "" : `.${fraction}`}`
}

type Numeral = number | LosslessNumber

/**
 * The exact sum of the base and both sides' changes; undefined if it is beyond the range of numbers. Of floats, a sum with a
 * fraction is a float, too: programs could not write the document again with digits that they cannot represent.
 */
export const sumOfChanges = (base: Numeral, ours: Numeral, theirs: Numeral): Numeral | undefined => {
  const numerals = [ours, theirs, base]
  const texts = numerals.map(textOfNumber)
  const [left, right, before] = texts.map(decimalOf)
  if (left === undefined || right === undefined || before === undefined) return undefined
  const scale = Math.max(left.scale, right.scale, before.scale)
  const scaled = ({ digits, scale: own }: Decimal) => digits * 10n ** BigInt(scale - own)
  const text = textOf({ digits: scaled(left) + scaled(right) - scaled(before), scale })
  const value = Number(text)
  if (!Number.isFinite(value)) return undefined
  const hasFraction = text.includes(".")
  const isFloat = texts.slice(0, 2).some((own) => /[.eE]/.test(own))
  const written = isFloat && !hasFraction ? `${text}.0` : text
  if (!isExact(text) && !(hasFraction && texts.every(isExact))) return new LosslessNumber(written)
  if (!numerals.some((numeral) => numeral instanceof LosslessNumber)) return value
  const spelled = pythonNumber(written)
  return spelled === numberText(value) ? value : new LosslessNumber(spelled)
}
