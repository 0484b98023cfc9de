import { jsonLanguage } from "@codemirror/lang-json"
import { EditorState } from "@codemirror/state"
import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { pathAt } from "../../src/console/json/JsonPath.js"
import type { Json, JsonObject } from "../../src/domain/json/Json.js"

type Path = ReadonlyArray<string | number>

const key = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("__proto__", "constructor", 'a"b', "\u202e")
)
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.jsonValue({ maxDepth: 0 }),
    fc.dictionary(key, tie("tree"), { maxKeys: 5, noNullPrototype: true }),
    fc.array(tie("tree"), { maxLength: 5 })
  )
}))
const object = fc
  .dictionary(key, tree, { noNullPrototype: true })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject)

/** The path of each line that a document is printed on; an object or a list that holds something ends on one of its own. */
const pathsOfLines = (value: Json, path: Path = []): ReadonlyArray<Path> => {
  const entries: ReadonlyArray<readonly [string | number, Json]> = Array.isArray(value)
    ? value.map((element: Json, i) => [i, element] as const)
    : typeof value === "object" && value !== null
      ? Object.entries(value)
      : []
  const inside = entries.flatMap(([name, member]) => pathsOfLines(member, [...path, name]))
  return inside.length === 0 ? [path] : [path, ...inside, path]
}

const pathsIn = (document: JsonObject): ReadonlyArray<Path> => {
  const doc = JSON.stringify(document, null, 2)
  const state = EditorState.create({ doc, extensions: [jsonLanguage] })
  return Array.from({ length: state.doc.lines }, (_, i) => pathAt(state, state.doc.line(i + 1).to))
}

describe("the path of a line", () => {
  it.prop("leads to the value that is printed on it", [object], ([document]) => {
    assert.deepStrictEqual(pathsIn(document), pathsOfLines(document))
  })

  it("is found in the last line of a megabyte", () => {
    const rows = Array.from({ length: 6000 }, (_, i) => ({ i, text: "x".repeat(100), flags: [true, null] }))
    const doc = JSON.stringify({ rows }, null, 2)
    const state = EditorState.create({ doc, extensions: [jsonLanguage] })
    assert.deepStrictEqual(pathAt(state, doc.lastIndexOf("null")), ["rows", 5999, "flags", 1])
  })
})
