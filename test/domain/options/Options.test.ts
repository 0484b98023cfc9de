import { assert, describe, it } from "@effect/vitest"
import { Duration, Either, Redacted, Schema } from "effect"
import * as Options from "../../../src/domain/options/Options.js"

const schema = Schema.Struct({
  text: Options.optional(Options.text),
  flag: Options.withDefault(Options.flag, true),
  object: Options.optional(Options.object),
  callback: Options.optional(Options.callback()),
  date: Options.optional(Options.instanceOf("a Date", Date)),
  word: Options.optional(Options.oneOf("yes", "no")),
  whole: Options.optional(Options.wholeNumber(1)),
  least: Options.optional(Options.atLeast(0.5)),
  above: Options.optional(Options.above(0)),
  texts: Options.optional(Options.texts),
  secret: Options.optional(Options.secret),
  person: Options.optional(Options.person),
  wait: Options.optional(Options.duration()),
  period: Options.optional(Options.duration({ positive: true })),
  either: Options.optional(Schema.Union(Options.text, Schema.Struct({ inner: Options.flag }))),
  list: Options.optional(Schema.Array(Options.flag)),
  some: Options.optional(
    Options.texts.pipe(Schema.filter((texts) => texts.length > 0, { description: "not empty" }))
  )
})

const read = Options.optionsReader(schema)

describe("options that are read by a schema", () => {
  const ada = { name: "Ada", email: "" }

  it("are as they were given, and have defaults", () => {
    assert.deepStrictEqual<unknown>(read("open", {}), Either.right({ flag: true }))
    const callback = () => 1
    const given: ReadonlyArray<readonly [name: keyof typeof schema.Type, ...values: ReadonlyArray<unknown>]> =
      [
        ["text", "", "a"],
        ["flag", false, true],
        ["object", {}, []],
        ["callback", callback],
        ["date", new Date(0)],
        ["word", "yes", "no"],
        ["whole", 1, 2],
        ["least", 0.5, 1, Number.POSITIVE_INFINITY],
        ["above", 0.1],
        ["texts", [], ["a", ""]],
        ["secret", Redacted.make("a")],
        ["person", ada],
        ["either", "a", { inner: false }],
        ["list", [true, false]]
      ]
    for (const [name, ...values] of given) {
      for (const value of values) {
        const found = Either.getOrThrow(read("open", { [name]: value }))[name]
        assert.deepStrictEqual(found, value as never, name)
      }
    }
    for (const [wait, period] of [
      [Duration.zero, Duration.infinity],
      [Duration.seconds(30), Duration.nanos(1n)],
      [Duration.millis(0), Duration.millis(1)]
    ] as const) {
      assert.deepStrictEqual<unknown>(
        read("open", { wait, period }),
        Either.right({ flag: true, wait, period })
      )
    }
    assert.deepStrictEqual(Either.getOrThrow(read("open", { wait: "30 seconds" })).wait, Duration.seconds(30))
  })

  it("that are wrong are named with what they must be, and no possibly secret value is repeated", () => {
    const cases: ReadonlyArray<readonly [given: unknown, message: string, hint?: string]> = [
      [5, "settings must be an object, it is a number"],
      [{ text: 5 }, "text must be a string, it is a number"],
      [{ flag: "secret" }, "flag must be true or false, it is a string"],
      [{ object: null }, "object must be an object, it is null"],
      [{ object: "secret" }, "object must be an object, it is a string"],
      [{ callback: {} }, "callback must be a function, it is an object"],
      [{ date: {} }, "date must be a Date, it is an object"],
      [{ word: "y" }, 'word must be "yes" or "no", it is "y"'],
      [{ word: true }, 'word must be "yes" or "no", it is true'],
      [{ word: "x".repeat(40) }, `word must be "yes" or "no", it is "${"x".repeat(40)}"`],
      [{ word: "x".repeat(41) }, 'word must be "yes" or "no", it is a string'],
      [{ whole: 0 }, "whole must be a whole number, at least 1, it is 0"],
      [{ whole: 1.5 }, "whole must be a whole number, at least 1, it is 1.5"],
      [{ whole: "1" }, 'whole must be a whole number, at least 1, it is "1"'],
      [{ least: 0.4 }, "least must be a number, at least 0.5, it is 0.4"],
      [{ least: "1" }, 'least must be a number, at least 0.5, it is "1"'],
      [{ above: 0 }, "above must be a number above 0, it is 0"],
      [{ above: Number.POSITIVE_INFINITY }, "above must be a number above 0, it is Infinity"],
      [{ above: [1] }, "above must be a number above 0, it is a list"],
      [{ texts: ["a", 1] }, "texts must be a list of strings, it is a list"],
      [{ texts: "a" }, "texts must be a list of strings, it is a string"],
      [
        { text: 5, secret: "a" },
        "text must be a string, it is a number; secret must be Redacted, it is a string",
        "wrap it: Redacted.make(token)"
      ],
      [{ secret: "a" }, "secret must be Redacted, it is a string", "wrap it: Redacted.make(token)"],
      [
        { secret: Redacted.make(5) },
        "secret must be Redacted, it is an object",
        "wrap it: Redacted.make(token)"
      ],
      [
        { person: { ...ada, name: " " } },
        "person.name must be a name without '<', '>' and line breaks, it is a string"
      ],
      ...["<", ">", "\r", "\n", "\0"].map(
        (bad) =>
          [
            { person: { name: bad, email: bad } },
            "person.name must be a name without '<', '>' and line breaks, it is a string; " +
              "person.email must be an address without '<', '>' and line breaks, it is a string"
          ] as const
      ),
      [{ person: { name: "Ada" } }, "person.email is missing"],
      [
        { wait: 30 },
        'wait must be a duration with its unit, not the bare number 30: write "30 seconds" or "30 millis"'
      ],
      [{ wait: "30s" }, 'wait must be a duration, such as "30 seconds" or "500 millis", it is "30s"'],
      [
        { wait: "-1 seconds" },
        'wait must be a duration, such as "30 seconds" or "500 millis", it is "-1 seconds"'
      ],
      [{ wait: -1n }, 'wait must be a duration, such as "30 seconds" or "500 millis"'],
      [{ period: 0n }, "period must be longer than nothing"],
      [{ either: 5 }, "either must be a string, it is a number"],
      [{ either: { inner: 5 } }, "either.inner must be true or false, it is a number"],
      [{ some: [] }, "some must be not empty, it is a list"],
      [{ some: 5 }, "some must be a list of strings, it is a number"],
      [{ list: [true, 5] }, "list[1] must be true or false, it is a number"],
      [{ flagg: true }, "flagg is not an option: did you mean flag?"],
      [{ person: { ...ada, eMail: "" } }, "person.eMail is not an option: did you mean person.email?"],
      [
        { person: { ...ada, something: "" } },
        "person.something is not an option; the options are name, email"
      ],
      [
        { text: 5, flag: 5 },
        "text must be a string, it is a number; flag must be true or false, it is a number"
      ]
    ]
    for (const [given, message, hint] of cases) {
      const error = Either.getOrThrow(Either.flip(read("open", given, "settings")))
      assert.deepStrictEqual([error.operation, error.message, error.hint], ["open", message, hint])
    }
    const { issues, message } = Either.getOrThrow(Either.flip(read("open", null)))
    assert.strictEqual(message, "options must be an object, it is null")
    assert.deepStrictEqual(issues, [{ path: "", message: "must be an object, it is null" }])
  })

  it("are picked by the fields that declare them", () => {
    const picked = Options.pickOptions({ text: 1, constructor: 1 }, { text: "a", flag: true, toString: 5 })
    assert.deepStrictEqual<unknown>(picked, { text: "a" })
  })
})
