import { trimEnd } from "../text/TrimText.js"

/** The text of a finite number, as Python's `json` module writes it. */
export const numberText = (value: number): string => {
  if (Number.isInteger(value)) return Object.is(value, -0) ? "-0.0" : String(value)
  const size = Math.abs(value)
  if (size >= 1e-4) return String(value)
  const [mantissa, exponent] = value.toExponential().split("e-") as [string, string]
  return `${mantissa}e-${exponent.padStart(2, "0")}`
}

/** A number that keeps its text, because JavaScript would change its spelling or value. */
export class LosslessNumber {
  constructor(readonly text: string) {}

  toJSON(): number {
    return Number(this.text)
  }
}

/** A float as Python prints it: with a fraction or an exponent, also where its value is whole. */
const floatText = (value: number): string => {
  if (!Number.isInteger(value) || Object.is(value, -0)) return numberText(value)
  return Math.abs(value) < 1e16 ? `${value}.0` : value.toExponential()
}

/** All spellings of one value in an index: as an integer, as a float, and as a negative zero. */
export const numberSpellings = (value: number): ReadonlyArray<string> => {
  if (value === 0) return ["0", "0.0", "-0", "-0.0"]
  const whole = Number.isInteger(value) ? [BigInt(value).toString()] : []
  return [...new Set([numberText(value), ...whole, floatText(value)])]
}

/** The text of a number after Python has read and written it: integers in full, other numbers as floats. */
export const pythonNumber = (text: string): string => {
  if (/^-?\d+$/.test(text)) return text === "-0" ? "0" : text
  return floatText(Number(text))
}

/** Normalises a decimal number to sign, significant digits and exponent. Equal values have equal texts. */
export const decimal = (text: string): string => {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(
    text
  )!
  const digits = (whole + fraction).replace(/^0+/, "")
  const significant = trimEnd(digits, /0/)
  if (significant === "") return "0"
  return `${sign}${significant}e${Number(exponent) - fraction.length + (digits.length - significant.length)}`
}
