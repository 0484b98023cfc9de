import { assert, describe, it } from "@effect/vitest"
import Ajv from "ajv"
import formats from "ajv-formats"
import { Either, FastCheck as fc, JSONSchema, Schema } from "effect"
import type { Field } from "../../src/console/edit/form/Field.js"
import { formOf } from "../../src/console/edit/form/FormModel.js"
import { initialValue, newItem } from "../../src/console/edit/form/InitialValue.js"
import { nodeAt, type Path, parseNodes } from "../../src/console/edit/form/JsonNodes.js"
import { pendingAfterEdit } from "../../src/console/edit/form/PendingInput.js"
import { inferSchema } from "../../src/console/edit/form/SchemaInference.js"
import { applyTextChange, type FormEdit, textChangeOf } from "../../src/console/edit/form/TextEdits.js"
import type { Json, JsonObject } from "../../src/domain/json/Json.js"

const key = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.constantFrom("__proto__", "a", 'q"', "\u202e", "\ud83d\ude00")
)

/** A value as somebody may have written it: any white space, any escapes, any spelling of a number. */
const space = fc.constantFrom("", " ", "\n", "\n    ", "\t", "\r\n")
const spelled = (value: string, escapes: ReadonlyArray<boolean>) =>
  `"${Array.from({ length: value.length }, (_, at) => {
    const unit = value[at]!
    return escapes[at % Math.max(1, escapes.length)] === true
      ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
      : JSON.stringify(unit)
          .replace(/^"\\u(d[89a-f]..)"$/, (_all, hex) => `"${String.fromCharCode(Number.parseInt(hex, 16))}"`)
          .slice(1, -1)
  }).join("")}"`
const text = fc
  .tuple(fc.string({ unit: "grapheme", maxLength: 6 }), fc.array(fc.boolean(), { maxLength: 3 }))
  .map(([value, escapes]) => spelled(value, escapes))
const number = fc.constantFrom("0", "-0", "1.0", "1e3", "12345678901234567890", "0.10", "-7", "1E+2", "1e400")
const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
  object: fc
    .tuple(
      space,
      fc.uniqueArray(fc.tuple(key, space, space, tie("value"), space), {
        maxLength: 4,
        selector: ([name]) => name
      })
    )
    .map(([blank, members]) =>
      members.length === 0
        ? `{${blank}}`
        : `{${members.map(([name, a, b, inner, c]) => `${a}${JSON.stringify(name)}${b}:${a}${inner}${c}`).join(",")}}`
    ),
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(text, number, fc.constantFrom("true", "false", "null")),
    tie("object"),
    fc
      .tuple(space, fc.array(fc.tuple(space, tie("value"), space), { maxLength: 4 }))
      .map(([blank, items]) =>
        items.length === 0 ? `[${blank}]` : `[${items.map((parts) => parts.join("")).join(",")}]`
      )
  )
}))
const object = fc
  .tuple(
    space,
    fc.uniqueArray(fc.tuple(key, space, value, space), {
      minLength: 1,
      maxLength: 5,
      selector: ([name]) => name
    })
  )
  .map(
    ([blank, members]) =>
      `${blank}{${members.map(([name, a, inner, c]) => `${a}${JSON.stringify(name)}:${a}${inner}${c}`).join(",")}}${blank}`
  )

const pathsIn = (node: ReturnType<typeof parseNodes>, path: Path = []): ReadonlyArray<Path> => [
  ...(path.length === 0 ? [] : [path]),
  ...(node.kind === "object"
    ? node.members.flatMap(({ key: name, value: inner }) => pathsIn(inner, [...path, name]))
    : node.kind === "list"
      ? node.items.flatMap((inner, at) => pathsIn(inner, [...path, at]))
      : [])
]

const chosen = fc.tuple(object, fc.nat()).map(([document, at]) => {
  const paths = pathsIn(parseNodes(document))
  return { document, path: paths[at % paths.length]! }
})

const holderOf = (root: any, path: Path) => path.slice(0, -1).reduce<any>((inner, step) => inner[step], root)

const setIn = (holder: any, step: string | number, next: unknown) =>
  Object.defineProperty(holder, step, { value: next, configurable: true, enumerable: true, writable: true })

const edited = (document: string, edit: FormEdit): string => {
  const change = textChangeOf(document, edit)
  return change === undefined ? document : applyTextChange(document, change)
}

/** The text without what stands at a path. */
const around = (document: string, path: Path): readonly [string, string] => {
  const { from, to } = nodeAt(parseNodes(document), path)!
  return [document.slice(0, from), document.slice(to)]
}

describe("an edit of a form", () => {
  it("finds every value at its position", () => {
    fc.assert(
      fc.property(chosen, ({ document, path }) => {
        const { from, to } = nodeAt(parseNodes(document), path)!
        const there = path.reduce<any>((inner, step) => inner[step], JSON.parse(document))
        assert.deepStrictEqual(JSON.parse(document.slice(from, to)), there)
      })
    )
  })

  it("sets a value and leaves every other byte", () => {
    fc.assert(
      fc.property(chosen, value, ({ document, path }, raw) => {
        const after = edited(document, { _tag: "Set", path, raw })
        const [before, behind] = around(document, path)
        assert.strictEqual(after, before + raw + behind)
        const expected = JSON.parse(document)
        setIn(holderOf(expected, path), path.at(-1)!, JSON.parse(raw))
        assert.deepStrictEqual(JSON.parse(after), expected)
      })
    )
  })

  it("types into a text and keeps the escapes of its other characters", () => {
    const typing = fc.tuple(chosen, fc.string({ unit: "grapheme", maxLength: 6 }), fc.nat(), fc.nat())
    let typed = 0
    fc.assert(
      fc.property(typing, ([{ document, path }, given, from, length]) => {
        const node = nodeAt(parseNodes(document), path)!
        fc.pre(node.kind === "text")
        typed++
        const old = node.value as string
        const start = from % (old.length + 1)
        const next = old.slice(0, start) + given + old.slice(start + (length % 3))
        const after = edited(document, { _tag: "Type", path, value: next })
        const [before, behind] = around(document, path)
        assert.isTrue(after.startsWith(before) && after.endsWith(behind))
        assert.strictEqual(JSON.parse(after.slice(before.length, after.length - behind.length)), next)
        if (next === old) assert.strictEqual(after, document)
      }),
      { numRuns: 500 }
    )
    assert.isAbove(typed, 100)
    assert.strictEqual(
      edited('{"a": "caf\\u00e9 \\/ t\\u00e9"}', { _tag: "Type", path: ["a"], value: "café / the té" }),
      '{"a": "caf\\u00e9 \\/ the t\\u00e9"}'
    )
    // The halves of a character stay together.
    assert.strictEqual(
      edited('{"a": "\ud83d\ude00"}', { _tag: "Type", path: ["a"], value: "\ud83d\ude01" }),
      '{"a": "\ud83d\ude01"}'
    )
  })

  it("adds what is absent, at any depth, and the rest stays as it is", () => {
    fc.assert(
      fc.property(
        chosen,
        fc.array(key, { minLength: 1, maxLength: 3 }),
        value,
        ({ document, path }, names, raw) => {
          const above = nodeAt(parseNodes(document), path)!
          fc.pre(above.kind === "object" && above.members.every((member) => member.key !== names[0]))
          const after = edited(document, { _tag: "Set", path: [...path, ...names], raw })
          const expected = JSON.parse(document)
          const inner = names
            .slice(1)
            .reduceRight((below: unknown, name) => setIn({}, name, below), JSON.parse(raw))
          setIn(
            path.reduce<any>((all, step) => all[step], expected),
            names[0]!,
            inner
          )
          assert.deepStrictEqual(JSON.parse(after), expected)
          const [before, behind] = around(document, path)
          assert.isTrue(after.startsWith(before) && after.endsWith(behind))
          for (const { from, value: kept } of above.members)
            assert.include(after, document.slice(from, kept.to))
        }
      ),
      { numRuns: 300 }
    )
  })

  it("removes a value, adds an item and moves one, and the others keep their bytes", () => {
    fc.assert(
      fc.property(chosen, value, fc.constantFrom(-1 as const, 1 as const), ({ document, path }, raw, by) => {
        const step = path.at(-1)!
        const expected = JSON.parse(document)
        const holder = holderOf(expected, path)
        if (Array.isArray(holder)) holder.splice(step as number, 1)
        else delete holder[step]
        const after = edited(document, { _tag: "Remove", path })
        assert.deepStrictEqual(JSON.parse(after), expected)
        const above = nodeAt(parseNodes(document), path.slice(0, -1))!
        const left = nodeAt(parseNodes(after), path.slice(0, -1))!
        const bytes = (of: string, node: typeof above) =>
          node.kind === "object"
            ? node.members.map(({ from, value: inner }) => of.slice(from, inner.to))
            : node.kind === "list"
              ? node.items.map(({ from, to }) => of.slice(from, to))
              : []
        const all = bytes(document, above)
        const at =
          above.kind === "object" ? above.members.findIndex((one) => one.key === step) : (step as number)
        assert.deepStrictEqual(
          bytes(after, left),
          all.filter((_, place) => place !== at)
        )
        if (above.kind !== "list") return
        const longer = edited(document, { _tag: "Add", path: path.slice(0, -1), raw })
        assert.deepStrictEqual(bytes(longer, nodeAt(parseNodes(longer), path.slice(0, -1))!), [...all, raw])
        const moved = edited(document, { _tag: "Move", path, by })
        const other = at + by
        const order = all.map((one, place) =>
          place === at ? (all[other] ?? one) : place === other ? all[at]! : one
        )
        assert.deepStrictEqual(bytes(moved, nodeAt(parseNodes(moved), path.slice(0, -1))!), order)
      }),
      { numRuns: 300 }
    )
  })

  it("leaves what is typed in the other fields where their values go", () => {
    const kinds = fc.constantFrom("Remove", "Set", "Up", "Down", "Add")
    fc.assert(
      fc.property(chosen, kinds, ({ document, path }, kind) => {
        let count = 0
        const marked = JSON.stringify(
          JSON.parse(document, (_, inner) =>
            typeof inner === "object" && inner !== null && Object.keys(inner).length > 0 ? inner : count++
          )
        )
        const valueAt = (of: string, place: Path) => {
          const node = nodeAt(parseNodes(of), place)
          return node === undefined ? undefined : of.slice(node.from, node.to)
        }
        const leaves = (of: string) =>
          pathsIn(parseNodes(of)).filter((place) => /^\d+$/.test(valueAt(of, place)!))
        const pending = new Map(
          leaves(marked).map((place) => [JSON.stringify(place), valueAt(marked, place)!])
        )
        const isItem = typeof path.at(-1) === "number"
        const edit: FormEdit =
          kind === "Remove"
            ? { _tag: "Remove", path }
            : isItem && (kind === "Up" || kind === "Down")
              ? { _tag: "Move", path, by: kind === "Up" ? -1 : 1 }
              : isItem && kind === "Add"
                ? { _tag: "Add", path: path.slice(0, -1), raw: "null" }
                : { _tag: "Set", path, raw: "null" }
        if (textChangeOf(marked, edit) === undefined) return
        const after = edited(marked, edit)
        assert.deepStrictEqual(
          [...pendingAfterEdit(pending, edit)].sort(),
          leaves(after)
            .map((place) => [JSON.stringify(place), valueAt(after, place)!] as const)
            .sort()
        )
      }),
      { numRuns: 500 }
    )
  })

  it("writes as the document is written", () => {
    const pretty = '{\n  "a": 1,\n  "b": {}\n}\n'
    assert.strictEqual(
      edited(pretty, { _tag: "Set", path: ["c"], raw: "2" }),
      '{\n  "a": 1,\n  "b": {},\n  "c": 2\n}\n'
    )
    assert.strictEqual(
      edited(pretty, { _tag: "Set", path: ["b", "x"], raw: "null" }),
      '{\n  "a": 1,\n  "b": {\n    "x": null\n  }\n}\n'
    )
    assert.strictEqual(edited("{\n  \n}\n", { _tag: "Set", path: ["a"], raw: '""' }), '{\n  "a": ""\n}\n')
    assert.strictEqual(edited(pretty, { _tag: "Remove", path: ["a"] }), '{\n  "b": {}\n}\n')
    assert.strictEqual(edited('{"a":1}', { _tag: "Set", path: ["b"], raw: "2" }), '{"a":1,"b":2}')
  })
})

const documents = fc.array(
  fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>, {
    maxKeys: 5,
    noNullPrototype: true
  }),
  { maxLength: 5 }
)

const validator = () => {
  const ajv = new Ajv.default({ strict: false, allErrors: true, multipleOfPrecision: 9 })
  formats.default(ajv)
  return ajv
}

it("every document fits the schema that is inferred from it and others", () => {
  fc.assert(
    fc.property(documents, (given) => {
      const all = given.map((one) => JSON.parse(JSON.stringify(one)) as JsonObject)
      const fits = validator().compile(inferSchema(all))
      for (const one of all) assert.isTrue(fits(one), JSON.stringify(fits.errors))
    }),
    { numRuns: 100 }
  )
  assert.deepStrictEqual(
    inferSchema([
      { _id: "a", n: 1, at: "2025-01-01T00:00:00Z", tags: ["x"], size: { w: 1 }, mixed: 1 },
      { _id: "b", n: 1.5, at: "2025-01-01T00:00:00.5+02:00", tags: [], size: { w: 2, h: null }, mixed: "x" }
    ]),
    {
      type: "object",
      properties: {
        n: { type: "number" },
        at: { type: "string", format: "date-time" },
        tags: { type: "array", items: { type: "string" } },
        size: {
          type: "object",
          properties: { w: { type: "integer" }, h: { type: "null" } },
          required: ["w"]
        },
        mixed: { type: ["integer", "string"] }
      },
      required: ["n", "at", "tags", "size", "mixed"]
    }
  )
})

const fieldsOf = (document: string, schema: JsonObject, seen?: number): ReadonlyArray<Field> =>
  Either.getOrThrowWith(formOf(document, { schema, documents: seen }), (why) => new Error(why)).fields

const one = (document: string, schema: JsonObject): Field =>
  fieldsOf(document, { properties: { a: schema } })[0]!

it("the words beside a field are there where a validator refuses its value", () => {
  const schema = fc.oneof(
    fc.record(
      {
        type: fc.constant("string"),
        minLength: fc.nat(3),
        maxLength: fc.nat(5),
        pattern: fc.constantFrom("^a", "[0-9]$")
      },
      { requiredKeys: ["type"] }
    ),
    fc.record(
      {
        type: fc.constantFrom("number", "integer"),
        minimum: fc.integer({ min: -3, max: 3 }),
        exclusiveMaximum: fc.integer({ min: -3, max: 5 }),
        multipleOf: fc.constantFrom(2, 0.1, 0.5)
      },
      { requiredKeys: ["type"] }
    ),
    fc.constantFrom(
      { type: "boolean" },
      { type: ["string", "null"] },
      { enum: ["x", 1, null] },
      { const: "only" },
      { anyOf: [{ type: "integer" }, { type: "null" }] },
      {
        anyOf: [
          { type: "string", enum: ["q"] },
          { type: "number", enum: [3] }
        ]
      },
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2, uniqueItems: true },
      { $ref: "#/$defs/Count" }
    )
  ) as fc.Arbitrary<JsonObject>
  const given = fc.oneof(
    fc.constantFrom<Json>(
      "",
      "a",
      "ab7",
      "only",
      "x",
      "q",
      3,
      1,
      true,
      null,
      [],
      ["a"],
      ["a", "a"],
      ["b", "a", "c"],
      [1]
    ),
    fc.integer({ min: -5, max: 5 }),
    fc.constantFrom(0.3, 0.25, 2.5, 1e3, -0.1)
  )
  const $defs = { Count: { type: "integer", minimum: 0 } }
  fc.assert(
    fc.property(schema, given, (keywords, value) => {
      const root = { $defs, type: "object", properties: { a: keywords }, required: ["a"] }
      const [field] = fieldsOf(JSON.stringify({ a: value }), root)
      const words = [field!.problem, ...field!.parts.map(({ problem }) => problem)].filter(
        (it) => it !== undefined
      )
      assert.strictEqual(words.length === 0, validator().validate(root, { a: value }), words.join(" "))
    }),
    { numRuns: 150 }
  )
})

it("fields are what the schema says, and what is there where it says otherwise", () => {
  class Person extends Schema.Class<Person>("Person")({
    name: Schema.NonEmptyString,
    born: Schema.optional(Schema.Date),
    role: Schema.optionalWith(Schema.Literal("guest", "admin"), { default: () => "guest" }),
    height: Schema.NullOr(Schema.Int.pipe(Schema.between(30, 300))),
    tags: Schema.Array(Schema.String),
    place: Schema.Struct({ city: Schema.String, zip: Schema.optional(Schema.String) }),
    either: Schema.Union(Schema.String, Schema.Number),
    lists: Schema.Array(Schema.Array(Schema.Number))
  }) {}
  const schema = JSON.parse(JSON.stringify(JSONSchema.make(Person))) as JsonObject
  const document =
    '{"_id": "ada", "name": "", "height": 12345678901234567890, "tags": ["x", 5], "place": {"city": 1}, "more": "text", "either": 1.50}'
  const fields = fieldsOf(document, schema)
  assert.deepStrictEqual(
    fields.map(({ kind, name, nullable, optional, problem }) => [name, kind, optional, nullable, problem]),
    [
      ["name", "text", false, false, "It must not be empty."],
      ["born", "text", true, false, undefined],
      ["role", "choice", true, false, undefined],
      ["height", "integer", false, true, "It would be rounded to 12345678901234567000. Use a text instead."],
      ["tags", "list", false, false, undefined],
      ["place", "object", false, false, undefined],
      ["either", "number", false, false, undefined],
      ["lists", "list", false, false, "It is required."],
      ["more", "text", true, true, "The schema does not define this field."]
    ]
  )
  const of = (name: string) => fields.find((field) => field.name === name)!
  assert.deepStrictEqual(
    of("tags").parts.map(({ kind, problem }) => [kind, problem]),
    [
      ["text", undefined],
      ["number", "It must be text."]
    ]
  )
  assert.deepStrictEqual(
    of("place").parts.map(({ kind, name, problem }) => [name, kind, problem]),
    [
      ["city", "number", "It must be text."],
      ["zip", "text", undefined]
    ]
  )
  assert.deepStrictEqual(of("role").choices, ["guest", "admin"])
  assert.deepStrictEqual(
    [initialValue(of("role")), initialValue(of("height")), initialValue(of("tags")), newItem(of("tags"))],
    ['"guest"', "0", "[]", '""']
  )
  // Seen of other documents only, nothing is required.
  assert.isTrue(
    fieldsOf("{}", schema, 3).every(
      ({ nullable, optional, problem }) => optional && nullable && problem === undefined
    )
  )
  const many = Array.from({ length: 1000 }, (_, at) => `v${at}`)
  assert.strictEqual(one('{"a": "x\\ry"}', { type: "string" }).kind, "json")
  // Also where the schema has no type, or another one: no control may change what was not typed.
  for (const schema of [
    {},
    { type: "integer" },
    { type: ["string", "integer"] },
    { type: "string", format: "date-time" },
    { enum: many }
  ])
    for (const raw of ["x\\r\\ny", "x\\ry", "x\\u0000y"]) {
      const { help, kind } = one(`{"a": "${raw}"}`, schema)
      assert.deepStrictEqual([raw, schema, kind], [raw, schema, "json"])
      assert.include(help, "characters that a form would change")
    }
  assert.strictEqual(one('{"a": "x\\ny"}', { type: "string" }).kind, "long")
  const misfit = one('{"a": [{}]}', { type: "array", items: { type: "string" } })
  assert.deepStrictEqual(
    [misfit.kind, misfit.parts.map(({ kind, problem }) => [kind, problem])],
    ["list", [["object", "It must be text."]]]
  )
  assert.strictEqual(one('{"a": 1}', { $ref: "#/nowhere" }).kind, "number")
  assert.include(one("{}", { $ref: "#/nowhere" }).help, "which does not exist")
  // A value that is one of very many is typed.
  assert.deepStrictEqual(
    [one('{"a": "v9"}', { enum: many }), one('{"a": "w"}', { enum: many })].map(({ kind, problem }) => [
      kind,
      problem
    ]),
    [
      ["text", undefined],
      ["text", "It is not one of the allowed values."]
    ]
  )
  // A pattern that may take for ever is not tried.
  assert.isUndefined(one(`{"a": "${"a".repeat(60)}!"}`, { type: "string", pattern: "^(a+)+$" }).problem)
  const slow = `{"a": "${"a".repeat(250)}"}`
  assert.isUndefined(one(slow, { type: "string", pattern: "a*a*a*a*a*a*b" }).problem)
  assert.isDefined(one(slow, { type: "string", pattern: "^a*a*a*b" }).problem)
})

it("a schema that refers to itself has a form as deep as the document", () => {
  const tree: JsonObject = {
    type: "object",
    properties: { name: { type: "string" }, child: { $ref: "#" } }
  }
  const [, child] = fieldsOf('{"child": {"child": {"name": "x"}}}', tree)
  assert.strictEqual(child!.parts[1]!.parts[0]!.name, "name")
  assert.strictEqual(one("{}", { $ref: "#/properties/a" }).kind, "json")
  const names = Array.from({ length: 30 }, (_, at) => `D${at}`)
  const wide: JsonObject = {
    $defs: Object.fromEntries(
      names.map((name, at) => {
        const next = { $ref: `#/$defs/D${at + 1}` }
        return [name, { anyOf: [next, next] }]
      })
    ),
    properties: { a: { $ref: "#/$defs/D0" }, b: { type: "string" } }
  }
  assert.strictEqual(fieldsOf('{"a": 1}', wide)[0]!.kind, "number")
  const loop = { $defs: { L: { allOf: [{ $ref: "#/$defs/L" }] } }, properties: { a: { $ref: "#/$defs/L" } } }
  assert.strictEqual(fieldsOf("{}", loop)[0]!.kind, "json")
})

it("what a form cannot show says why", () => {
  const why = (document: string, schema: JsonObject = { type: "object" }) =>
    Either.match(formOf(document, { schema, documents: undefined }), {
      onLeft: (words) => words,
      onRight: () => ""
    })
  assert.include(why("{"), "is not valid JSON")
  assert.include(why("[]"), "a JSON object")
  assert.include(why('{"a": 1, "a": 2}'), "duplicate key")
  assert.include(why("{}"), "No fields are known")
  assert.include(why('{"a": 1}', { type: "string" }), "does not define the fields")
  assert.include(
    why('{"a": 1}', { anyOf: [{ type: "object" }, { type: "string" }] }),
    "does not define the fields"
  )
  assert.include(why(`{"a": "${"x".repeat(200_000)}"}`), "too long")
  assert.include(why(`{"a": ${"[".repeat(950)}${"]".repeat(950)}}`), "nested too deeply")
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, at]))
  assert.include(why(JSON.stringify(wide)), "at most 400 fields")
})

it("items that are objects or lists have fields with their own paths, up to a depth", () => {
  const part: JsonObject = {
    type: "object",
    required: ["w"],
    properties: { w: { type: "number", minimum: 1 }, tags: { type: "array", items: { type: "string" } } }
  }
  const schema: JsonObject = {
    properties: {
      parts: { type: "array", items: part, uniqueItems: true },
      pair: { type: "array", items: [{ type: "string" }, { type: "number" }] }
    }
  }
  const model = Either.getOrThrow(
    formOf('{"parts": [{"w": 2}, {"w": 0.50, "tags": [1]}, {"w": 2.0}], "pair": ["x", "y"]}', {
      schema,
      documents: undefined
    })
  )
  assert.deepStrictEqual(
    model.problems.map(({ path, problem }) => [path, problem]),
    [
      [["parts"], "Its items must be unique."],
      [["parts", 1, "w"], "It must be at least 1."],
      [["parts", 1, "tags", 0], "It must be text."],
      [["pair", 1], "It must be a number."]
    ]
  )
  assert.strictEqual(newItem(model.fields[0]!), "{}")
  const deep = fieldsOf('{"a": [[[[1]]]]}', { type: "object" })[0]!
  const innermost = deep.parts[0]!.parts[0]!.parts[0]!
  assert.deepStrictEqual([innermost.kind, innermost.path], ["json", ["a", 0, 0, 0]])
  assert.include(innermost.help, "nested too deeply")
  // Where a list of objects has too many fields, it is JSON, and the rest stays a form.
  const rows = Array.from({ length: 200 }, (_, n) => ({ n, m: n }))
  const [long, name] = fieldsOf(JSON.stringify({ long: rows, name: "x" }), { type: "object" })
  assert.deepStrictEqual([long!.kind, name!.kind], ["json", "text"])
  assert.include(long!.help, "too many fields")
})

it("a tuple's items have the schema of their position, in every draft of JSON Schema", () => {
  const [pair, closed, open, prefix, rest] = fieldsOf(
    '{"pair": ["x", 1, true], "closed": ["x", 1], "open": ["x", "1", 2], "prefix": ["x", 1, "2"], "rest": []}',
    {
      properties: {
        pair: { type: "array", items: [{ type: "string" }, { type: "number" }] },
        closed: { type: "array", items: [{ type: "string" }], additionalItems: false },
        open: { type: "array", items: [{ type: "string" }], additionalItems: { type: "integer" } },
        prefix: { type: "array", prefixItems: [{ type: "string" }], items: { type: "integer" } },
        rest: { type: "array", prefixItems: [{ type: "boolean" }, { type: "integer" }], items: false }
      }
    }
  )
  const parts = (field: Field | undefined) => field!.parts.map(({ kind, problem }) => [kind, problem])
  assert.deepStrictEqual(parts(pair), [
    ["text", undefined],
    ["number", undefined],
    ["boolean", undefined]
  ])
  assert.deepStrictEqual(parts(closed), [
    ["text", undefined],
    ["number", "The schema does not allow this item."]
  ])
  assert.deepStrictEqual(parts(open), [
    ["text", undefined],
    ["text", "It must be a whole number."],
    ["integer", undefined]
  ])
  assert.deepStrictEqual(parts(prefix), [
    ["text", undefined],
    ["integer", undefined],
    ["text", "It must be a whole number."]
  ])
  assert.strictEqual(newItem(rest!), "false")
})
