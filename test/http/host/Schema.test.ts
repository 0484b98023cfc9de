import { assert, it } from "@effect/vitest"
import { buildASTSchema, isInputObjectType, isInterfaceType, isObjectType, parse } from "graphql"
import { schema as source } from "../../../src/http/host/graphql/schema.generated.js"
import { graphqlSchema as official } from "../../support/github/Oracle.js"

it("the host's schema says of every field that both have what GitHub's says", () => {
  const ours = buildASTSchema(parse(source), { assumeValidSDL: true })
  let compared = 0
  for (const [name, type] of Object.entries(ours.getTypeMap())) {
    const theirs = official.getType(name)
    if (theirs === undefined || name.startsWith("__")) continue
    const fields = (one: unknown) =>
      isObjectType(one) || isInterfaceType(one) || isInputObjectType(one) ? one.getFields() : {}
    for (const [field, definition] of Object.entries(fields(type))) {
      const other = fields(theirs)[field]
      if (other === undefined) continue
      compared++
      assert.strictEqual(String(definition.type), String(other.type), `${name}.${field}`)
      if (!("args" in definition) || !("args" in other)) continue
      for (const { name: argument, type: given } of definition.args) {
        const same = other.args.find((one) => one.name === argument)
        if (same !== undefined) assert.strictEqual(String(given), String(same.type), `${name}.${field}`)
      }
    }
  }
  assert.isAbove(compared, 60)
})

it("the host's schema has every field that our client's part of GitHub's has", () => {
  const ours = buildASTSchema(parse(source), { assumeValidSDL: true })
  const missing: Array<string> = []
  for (const [name, type] of Object.entries(official.getTypeMap())) {
    if (name.startsWith("__") || !isObjectType(type)) continue
    const mine = ours.getType(name)
    const fields = isObjectType(mine) ? mine.getFields() : {}
    for (const field of Object.keys(type.getFields()))
      if (fields[field] === undefined) missing.push(`${name}.${field}`)
  }
  assert.deepStrictEqual(missing, [])
})
