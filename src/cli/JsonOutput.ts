import { LosslessNumber, numberText } from "../domain/json/NumberText.js"

const print = (value: unknown, space: string, line: string): string | undefined => {
  if (value instanceof LosslessNumber) return value.text
  if (typeof value === "number" && Number.isFinite(value)) return numberText(value)
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if ("toJSON" in value && typeof value.toJSON === "function") return print(value.toJSON(), space, line)
  const inner = `${line}${space}`
  const [opening, members, closing] = Array.isArray(value)
    ? ["[", value.map((member) => print(member, space, inner) ?? "null"), "]"]
    : [
        "{",
        Object.entries(value).flatMap(([name, member]) => {
          const text = print(member, space, inner)
          return text === undefined ? [] : `${JSON.stringify(name)}:${space && " "}${text}`
        }),
        "}"
      ]
  return members.length === 0
    ? `${opening}${closing}`
    : `${opening}${inner}${members.join(`,${inner}`)}${line}${closing}`
}

/** The JSON text of a value in one line, as `JSON.stringify` prints it, but with numbers as files spell them. */
export const jsonLine = (value: unknown): string => print(value, "", "") ?? ""

/** The same text, indented by two spaces. */
export const jsonLines = (value: unknown): string => print(value, "  ", "\n") ?? ""
