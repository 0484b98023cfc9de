import { trimEnd } from "../text/TrimText.js"

/** The text of a finite number as Python's `json` writes the value that it reads from this text. */
export const numberText = (value: number): string => {
  if (Number.isInteger(value)) return Object.is(value, -0) ? "-0.0" : String(value)
  const size = Math.abs(value)
  if (size >= 1e-4) return String(value)
  const [mantissa, exponent] = value.toExponential().split("e-") as [string, string]
  return `${mantissa}e-${exponent.padStart(2, "0")}`
}

/** A number for the printer that keeps its text. */
export class LosslessNumber {
  constructor(readonly text: string) {}

  toJSON(): number {
    return Number(this.text)
  }
}

/** A float as Python prints it: with a fraction or an exponent, also where its value is whole. */
const floatText = (value: number): string => {
  if (!Number.isInteger(value) || Object.is(value, -0)) return numberText(value)
  return Math.abs(value) < 1e16 ? `${value}.0` : value.toExponential().replace(/e\+(\d)$/, "e+0$1")
}

/** The spellings of one value: as a whole number, as a float, and as a negative zero. */
export const numberSpellings = (value: number): ReadonlyArray<string> => {
  if (value === 0) return ["0", "0.0", "-0", "-0.0"]
  const whole = Number.isInteger(value) ? [BigInt(value).toString()] : []
  return [...new Set([numberText(value), ...whole, floatText(value)])]
}

/** A number of a text as Python prints what it reads: whole numbers in full, others as floats. */
export const pythonNumber = (text: string): string => {
  if (/^-?\d+$/.test(text)) return text === "-0" ? "0" : text
  return floatText(Number(text))
}

/** A decimal number as sign, digits without zeros at either end, and exponent: equal texts are equal values. */
export const decimal = (text: string): string => {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(
    text
  )!
  const digits = (whole + fraction).replace(/^0+/, "")
  const significant = trimEnd(digits, /0/)
  if (significant === "") return "0"
  return `${sign}${significant}e${Number(exponent) - fraction.length + (digits.length - significant.length)}`
}
