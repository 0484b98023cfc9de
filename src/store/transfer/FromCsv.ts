import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import {
  type FieldsOf,
  oneOf,
  optional,
  optionsReader,
  text,
  texts,
  withDefault
} from "../../domain/options/Options.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import { withErrorListener } from "./NodeStreamErrors.js"
import { type ImportRecord, sourceError } from "./RecordSource.js"
import type { SourceError } from "./SourceError.js"
import type { ByteSource } from "./Utf8Text.js"

/**
 * How a CSV text is read.
 *
 * @since 0.1.0
 * @category options
 */
export interface CsvOptions {
  /** Default: comma. */
  readonly delimiter?: string | undefined
  /** Names of the columns; without them the first row holds the names. */
  readonly columns?: ReadonlyArray<string> | undefined
  /**
   * How a cell is read, quoted or not. `text` (the default) leaves it unchanged. `json` reads numbers, `true`, `false`,
   * `null`, lists and objects as JSON, and an empty cell as a missing field. A number that JavaScript cannot represent
   * exactly or that begins with a zero stays text, and so does an object that has a key twice.
   */
  readonly cells?: "text" | "json" | undefined
  /**
   * Columns in which a cell stays text if JSON would spell its value differently, such as the ids `12e3`, `1.10` and
   * `null`. Name the `idField` of the import here.
   */
  readonly keepSpelling?: ReadonlyArray<string> | undefined
}

// Loaded on the first use, so that a page that imports no CSV does not load the parser.
const reading = Effect.mapError(
  lazyModule(() => import("./CsvRecords.js")),
  sourceError("fromCsv")
)

const read = optionsReader(
  Schema.Struct({
    delimiter: withDefault(text, ","),
    columns: optional(texts),
    cells: withDefault(oneOf("text", "json"), "text"),
    keepSpelling: withDefault(texts, [])
  } satisfies FieldsOf<CsvOptions>)
)

/**
 * Records of a CSV text (RFC 4180) in UTF-8, in constant memory. Blank lines are skipped. A row whose number of cells
 * differs from its header's is a `ValidationError`.
 *
 * @since 0.1.0
 * @category importing
 */
export const fromCsv = <E = never, R = never>(
  source: ByteSource<E, R>,
  options: CsvOptions = {}
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> => {
  const given = read("fromCsv", options)
  if (Either.isLeft(given)) return Stream.fail(given.left)
  const { delimiter } = given.right
  if (delimiter === "" || /["\r\n]/.test(delimiter)) {
    return Stream.fail(
      new ValidationError({
        operation: "fromCsv",
        message: `${JSON.stringify(delimiter)} cannot separate cells`,
        hint: "use a comma, a semicolon or a tab"
      })
    )
  }
  const kept = withErrorListener(source)
  return Stream.unwrap(Effect.map(reading, ({ csvRecords }) => csvRecords(kept, given.right)))
}
