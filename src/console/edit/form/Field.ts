import type { Json, JsonObject } from "../../../domain/json/Json.js"
import type { JsonNode, Path } from "./JsonNodes.js"
import type { ReadSchema } from "./SchemaReading.js"

/** The kind of control for a field. */
export type FieldKind =
  | "text"
  | "long"
  | "moment"
  | "number"
  | "integer"
  | "boolean"
  | "choice"
  | "list"
  | "object"
  | "json"

/** A field of a form with its value. */
export interface Field {
  readonly path: Path
  readonly name: string
  readonly kind: FieldKind
  readonly schema: JsonObject
  /** The value; undefined if the field is absent. */
  readonly node: JsonNode | undefined
  /** Whether it may be absent, and whether it may be null. */
  readonly optional: boolean
  readonly nullable: boolean
  readonly choices: ReadonlyArray<Json>
  /** The fields of an object, or the items of a list. */
  readonly parts: ReadonlyArray<Field>
  /** The schema of the next item of a list. */
  readonly item: ReadSchema | undefined
  readonly help: string | undefined
  readonly problem: string | undefined
}

/** Whether a field has a value, is null, or is absent. */
export type FieldState = "value" | "null" | "absent"

export const fieldState = ({ node }: Pick<Field, "node">): FieldState =>
  node === undefined ? "absent" : node.kind === "null" ? "null" : "value"

/** Whether a field is an item of a list. */
export const isItem = ({ path }: Pick<Field, "path">): boolean => typeof path.at(-1) === "number"

/** An element id for a path, without white space. */
export const fieldId = (path: Path): string =>
  `field-${JSON.stringify(path).replace(/[^\w-]/g, (one) => `.${one.charCodeAt(0).toString(36)}.`)}`
