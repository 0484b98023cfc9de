import { Either, FastCheck } from "effect"
import { decodeIndexDefinition, type IndexOptions } from "../../domain/indexes/IndexDefinition.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { Edit, Expectation, InnerStep, Program, Script, Step, Target } from "./StoreProgram.js"

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const character = FastCheck.constantFrom(...`${alphanumeric}._-`)

/**
 * Ids that a caller may give: every legal character, every length, no `..`.
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const id: FastCheck.Arbitrary<string> = FastCheck.tuple(
  FastCheck.constantFrom(...alphanumeric),
  FastCheck.stringOf(character, { maxLength: 127 })
)
  .map(([first, rest]) => first + rest)
  .filter((text) => !text.includes(".."))

/**
 * Strings that no id may be.
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const invalidId: FastCheck.Arbitrary<string> = FastCheck.oneof(
  FastCheck.constantFrom("", ".", "..", "a..b", "a/b", "a\\b", "a\n", " a", "-a", "_a", ".a", "é", "a b"),
  FastCheck.string({ minLength: 1 }).filter((text) => !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text)),
  id.map((text) => text.padEnd(129, "x"))
)

const key = FastCheck.oneof(
  { weight: 5, arbitrary: FastCheck.stringMatching(/^[a-z]{1,8}$/) },
  { weight: 2, arbitrary: FastCheck.fullUnicodeString({ maxLength: 6 }) },
  {
    weight: 1,
    arbitrary: FastCheck.constantFrom("constructor", "toString", "__proto__", "hasOwnProperty", "")
  }
).filter((text) => !/\p{Cs}/u.test(text))

const scalar: FastCheck.Arbitrary<Json> = FastCheck.oneof(
  FastCheck.constant(null),
  FastCheck.boolean(),
  FastCheck.integer(),
  FastCheck.maxSafeInteger(),
  FastCheck.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
  FastCheck.fullUnicodeString({ maxLength: 20 }),
  FastCheck.constantFrom("", "null", "true", "1", "1.0", "\u2028", "\u0000", "\\", '"', "line\nline\r\n")
)

/**
 * Any value that JSON can hold, unfriendly keys and strings among them.
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const json: FastCheck.Arbitrary<Json> = FastCheck.letrec<{ readonly node: Json }>((tie) => ({
  node: FastCheck.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    FastCheck.array(tie("node"), { maxLength: 4 }),
    FastCheck.array(FastCheck.tuple(key, tie("node")), { maxLength: 4 }).map((entries) =>
      fromEntries(entries)
    )
  )
})).node

/** An own property for each entry, `__proto__` too. */
const fromEntries = (entries: ReadonlyArray<readonly [string, Json]>): JsonObject => {
  const object: Record<string, Json> = {}
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return object
}

/**
 * What a caller writes: any object whose keys are not the store's own.
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const fields: FastCheck.Arbitrary<JsonObject> = FastCheck.array(
  FastCheck.tuple(
    key.filter((name) => !["_id", "_rev", "_created_at", "_updated_at"].includes(name)),
    json
  ),
  { maxLength: 6 }
).map(fromEntries)

/**
 * Where random programs work: few ids, so that writers meet. `things` is meant to have an index on `n` and `tags`.
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const collections = ["things", "plain"] as const

const target: FastCheck.Arbitrary<Target> = FastCheck.record({
  collection: FastCheck.constantFrom("things", "things", "plain"),
  id: FastCheck.constantFrom("a", "b", "c", "d")
})

const small = FastCheck.record(
  {
    n: FastCheck.constantFrom(0, 1, 2, "1", null),
    tags: FastCheck.array(FastCheck.constantFrom("x", "y", "z"), { maxLength: 2 }),
    text: FastCheck.fullUnicodeString({ maxLength: 4 })
  },
  { requiredKeys: [] }
).map((given): JsonObject => ({ ...given }))

const guard = FastCheck.constantFrom("none" as const, "none" as const, "current" as const, "wrong" as const)
const rarely = FastCheck.integer({ min: 0, max: 4 }).map((roll) => roll === 0)

const edit: FastCheck.Arbitrary<Edit> = FastCheck.oneof(
  FastCheck.record({ _tag: FastCheck.constant("put" as const), place: target, fields: small }),
  FastCheck.record({
    _tag: FastCheck.constantFrom("put" as const, "insert" as const),
    place: target,
    fields: small
  }),
  FastCheck.record({ _tag: FastCheck.constant("delete" as const), place: target, fields: small })
).map(({ _tag, fields: given, place }) =>
  _tag === "delete" ? { _tag, ...place } : { _tag, ...place, fields: given }
)

const expectation: FastCheck.Arbitrary<Expectation> = FastCheck.record({
  place: target,
  kind: FastCheck.constantFrom("rev" as const, "sha" as const),
  holds: rarely.map((wrong) => !wrong)
}).map(({ place, ...rest }) => ({ ...place, ...rest }))

const place = <A extends object>(rest: FastCheck.Arbitrary<A>) =>
  FastCheck.tuple(target, rest).map(([at, more]) => ({ ...at, ...more }))

const innerStep: FastCheck.Arbitrary<InnerStep> = FastCheck.oneof(
  {
    weight: 2,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("insert" as const),
      collection: FastCheck.constantFrom(...collections),
      id: FastCheck.constantFrom("a", "b", "c", "d", undefined),
      fields: small
    })
  },
  {
    weight: 6,
    arbitrary: place(
      FastCheck.record({
        _tag: FastCheck.constantFrom(
          "update" as const,
          "replace" as const,
          "upsert" as const,
          "upsert" as const
        ),
        fields: small,
        guard
      })
    )
  },
  { weight: 2, arbitrary: place(FastCheck.record({ _tag: FastCheck.constant("delete" as const), guard })) },
  {
    weight: 3,
    arbitrary: place(
      FastCheck.record({
        _tag: FastCheck.constant("edit" as const),
        field: FastCheck.constantFrom("e0", "e1", "e2"),
        by: FastCheck.constantFrom("edit" as const, "base" as const)
      })
    )
  },
  {
    weight: 2,
    arbitrary: place(
      FastCheck.record({ _tag: FastCheck.constant("get" as const), fresh: FastCheck.boolean() })
    )
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constantFrom("list" as const, "count" as const),
      collection: FastCheck.constantFrom(...collections)
    })
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("findBy" as const),
      collection: FastCheck.constantFrom(...collections),
      field: FastCheck.constantFrom("n", "tags"),
      value: FastCheck.constantFrom(0, 1, "1", "x")
    })
  },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("batch" as const),
      edits: FastCheck.array(edit, { maxLength: 5 }),
      expectations: FastCheck.array(expectation, { maxLength: 1 }),
      fails: rarely
    })
  }
)

/**
 * One operation of any kind.
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  { weight: 16, arbitrary: innerStep },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("writer" as const),
      edits: FastCheck.array(edit, { maxLength: 7 }),
      maxOperations: FastCheck.integer({ min: 1, max: 4 })
    })
  },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("transaction" as const),
      steps: FastCheck.array(innerStep, { maxLength: 4 }),
      fails: rarely
    })
  },
  {
    weight: 2,
    arbitrary: place(
      FastCheck.record({
        _tag: FastCheck.constant("restore" as const),
        back: FastCheck.integer({ min: 0, max: 6 })
      })
    )
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("revert" as const),
      back: FastCheck.integer({ min: 0, max: 4 }),
      force: rarely
    })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("merge" as const),
      edits: FastCheck.array(edit, { minLength: 1, maxLength: 4 })
    })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("propose" as const),
      edits: FastCheck.array(edit, { minLength: 1, maxLength: 4 }),
      rival: FastCheck.constantFrom("none" as const, "accept" as const, "close" as const)
    })
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("reindex" as const),
      collection: FastCheck.constantFrom(...collections)
    })
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("foreign" as const),
      document: FastCheck.boolean(),
      target,
      fields: small
    })
  }
)

/**
 * The size of a random program.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProgramShape {
  /** How many writers run side by side, at most. */
  readonly writers: number
  /** How many steps a writer has, at most. */
  readonly steps: number
  /** Failures, interruption and commits by others between any two touches of the remote. */
  readonly faults: boolean
  /**
   * Indexes of `things` that steps create and drop; none by default. The stores of the program are opened without
   * `indexes`, or these steps are refused.
   */
  readonly indexes?: ReadonlyArray<string | IndexOptions> | undefined
}

const indexChange = (indexes: ReadonlyArray<string | IndexOptions>): FastCheck.Arbitrary<Step> =>
  FastCheck.tuple(FastCheck.constantFrom(true, true, false), FastCheck.constantFrom(...indexes)).map(
    ([isCreated, index]) => {
      const { name } = Either.getOrThrow(decodeIndexDefinition(index))
      return isCreated
        ? { _tag: "createIndex", collection: "things", index }
        : { _tag: "dropIndex", collection: "things", name }
    }
  )

const stepOf = ({ indexes = [] }: ProgramShape): FastCheck.Arbitrary<Step> =>
  indexes.length === 0
    ? step
    : FastCheck.oneof({ weight: 3, arbitrary: step }, { weight: 1, arbitrary: indexChange(indexes) })

const script = (shape: ProgramShape): FastCheck.Arbitrary<Script> =>
  FastCheck.record({
    steps: FastCheck.array(stepOf(shape), { minLength: 1, maxLength: shape.steps, size: "max" }),
    yields: FastCheck.array(FastCheck.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 7 }),
    faults: shape.faults
      ? FastCheck.uniqueArray(
          FastCheck.record({
            at: FastCheck.integer({ min: 0, max: shape.steps * 12 }),
            fault: FastCheck.constantFrom(
              "fail" as const,
              "interrupt" as const,
              "ambiguous" as const,
              "foreign" as const
            )
          }),
          { selector: (fault) => fault.at, maxLength: 6 }
        )
      : FastCheck.constant([]),
    interruptions: shape.faults
      ? FastCheck.array(
          FastCheck.record({
            step: FastCheck.nat(shape.steps),
            after: FastCheck.integer({ min: 0, max: 60 })
          }),
          { maxLength: 2 }
        )
      : FastCheck.constant([])
  })

/**
 * Random programs of several writers.
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const program = (shape: ProgramShape): FastCheck.Arbitrary<Program> =>
  FastCheck.array(script(shape), { minLength: 1, maxLength: shape.writers, size: "max" }).map((writers) => ({
    writers
  }))
