import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { NotFoundError, type ReadError } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { optionsReader } from "../../domain/options/Options.js"
import { type CollectionLike, nameIn } from "../CollectionDefinition.js"
import type { OnInvalid } from "../OnInvalid.js"
import { batchedElements } from "./BatchedElements.js"
import type { Destination, DestinationContext, DestinationError, DestinationFailure } from "./Destination.js"
import { destination as destinationArgument, sheetFields } from "./ExportArguments.js"
import { withColumns } from "./ExportColumns.js"
import { normaliseRecord } from "./Normalise.js"
import { type RecordSource, sourceError } from "./RecordSource.js"
import { type CsvEncodingOptions, encodeCsv, encodeJson, encodeNdjson } from "./TextEncoding.js"
import { writeTo } from "./WriteTo.js"
import { encodeXlsx, type Sheet } from "./Xlsx.js"

/**
 * The progress of an export.
 *
 * @since 0.1.0
 * @category models
 */
export interface ExportProgress {
  /** The collection that is being written. */
  readonly collection: string
  /** Documents written so far. */
  readonly documents: number
}

/**
 * Options that every export takes.
 *
 * @since 0.1.0
 * @category options
 */
export interface ExportOptions {
  /** The columns, in order. Default: the metadata fields, then the other fields in the order of their first use. */
  readonly columns?: ReadonlyArray<string> | undefined
  /** At most this many documents. Default: all. */
  readonly limit?: number | undefined
  /**
   * What happens to a document that is not valid or has a number that the export would change. A function is called once for
   * each. Default: the export fails with `ValidationError`.
   */
  readonly onInvalid?: OnInvalid | undefined
  /** Called as documents are written. */
  readonly onProgress?: ((progress: ExportProgress) => Effect.Effect<void>) | undefined
}

/** The options of a workbook with one sheet. */
export interface SheetOptions {
  readonly columns?: ReadonlyArray<string> | undefined
  /** Default: the collection's name. A name that Excel does not allow is changed to a valid one. */
  readonly sheetName?: string | undefined
}

/**
 * Options of `exportExcel` of a collection.
 *
 * @since 0.1.0
 * @category options
 */
export interface ExcelOptions extends ExportOptions, SheetOptions {}

/**
 * Options of `exportExcel` of a store: a workbook with a sheet for each collection.
 *
 * @since 0.1.0
 * @category options
 */
export interface DatabaseExcelOptions {
  /** The collections that are exported. Default: all. */
  readonly collections?: ReadonlyArray<CollectionLike> | undefined
  /** Columns by collection. */
  readonly columns?: { readonly [collection: string]: ReadonlyArray<string> } | undefined
  /** At most this many documents of each collection. Default: all. */
  readonly limit?: number | undefined
  /**
   * What happens to a document that is not valid or has a number that the export would change. A function is called once for
   * each. Default: the export fails with `ValidationError`.
   */
  readonly onInvalid?: OnInvalid | undefined
  /** Called as documents are written. */
  readonly onProgress?: ExportOptions["onProgress"]
}

/**
 * The formats of `exportText`: CSV with a header, NDJSON with one document per line, or one JSON array.
 *
 * @since 0.1.0
 * @category models
 */
export type TextFormat = "csv" | "ndjson" | "json"

/**
 * Options of `exportText`. NDJSON and JSON ignore the options of CSV.
 *
 * @since 0.1.0
 * @category options
 */
export interface TextOptions extends ExportOptions, Omit<CsvEncodingOptions, "columns"> {}

/** A collection at one commit: a second read returns the same documents. */
export interface DocumentSource {
  readonly name: string
  readonly all: (options?: Pick<ExportOptions, "limit" | "onInvalid">) => Stream.Stream<JsonObject, ReadError>
}

/** The collections at one commit. */
export interface DatabaseSource {
  readonly collections: Effect.Effect<ReadonlyArray<string>, ReadError>
  readonly collection: (name: string) => DocumentSource
}

/**
 * An export as an effect: its result, its errors, and a file system if the destination is a path.
 *
 * @since 0.1.0
 * @category models
 */
export type Exported<D, A> = Effect.Effect<
  A,
  ReadError | DestinationError | DestinationFailure<D>,
  DestinationContext<D>
>

const readDestination = optionsReader(destinationArgument[1])
const readSheet = optionsReader(Schema.Struct(sheetFields))

/**
 * Writes records to a workbook with one sheet, in constant memory. Returns the columns. Values that JSON cannot
 * represent are written as an import would store them.
 */
export const writeXlsx = <D extends Destination<unknown, unknown>, E = never, R = never>(
  destination: D,
  records: RecordSource<E, R>,
  options: SheetOptions = {}
) =>
  Effect.gen(function* () {
    yield* readDestination("writeXlsx", destination, destinationArgument[0])
    yield* readSheet("writeXlsx", options)
    const documents = Stream.mapChunksEffect(batchedElements(records), (chunk) =>
      Effect.try({ try: () => Chunk.map(chunk, normaliseRecord), catch: sourceError("writeXlsx") })
    )
    const found = yield* withColumns(documents, options.columns)
    const sheet = { name: options.sheetName ?? "Sheet1", columns: found.columns, rows: found.documents }
    yield* writeTo(destination, encodeXlsx([sheet]), "writeXlsx")
    return found.columns
  })

/** Writes a collection at one commit to a workbook with one sheet, in constant memory. Returns the columns. */
export const exportExcel = <D extends Destination<unknown, unknown>>(
  collection: DocumentSource,
  destination: D,
  options: ExcelOptions = {}
): Exported<D, ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const sheet = yield* sheetOf(collection, options, options.columns)
    const name = options.sheetName ?? collection.name
    yield* writeTo(destination, encodeXlsx([{ ...sheet, name }]), "exportExcel")
    return sheet.columns
  })

/** Writes one worksheet per collection, all of the same commit. Returns the columns of each. */
export const exportDatabaseExcel = <D extends Destination<unknown, unknown>>(
  view: DatabaseSource,
  destination: D,
  options: DatabaseExcelOptions = {}
): Exported<D, { readonly [collection: string]: ReadonlyArray<string> }> =>
  Effect.gen(function* () {
    const present = yield* view.collections
    const names = options.collections?.map(nameIn) ?? present
    const missing = names.find((name) => !present.includes(name))
    if (missing !== undefined) {
      return yield* new NotFoundError({
        operation: "exportExcel",
        collection: missing,
        message: `there is no collection ${missing}`,
        hint: present.length === 0 ? "the store is empty" : `there are ${present.join(", ")}`
      })
    }
    const columns: Record<string, ReadonlyArray<string>> = Object.create(null)
    const sheets: Array<Sheet<ReadError>> = []
    for (const name of names) {
      const given = Object.hasOwn(options.columns ?? {}, name) ? options.columns?.[name] : undefined
      const sheet = yield* sheetOf(view.collection(name), options, given)
      columns[name] = sheet.columns
      sheets.push(sheet)
    }
    yield* writeTo(destination, encodeXlsx(sheets), "exportExcel")
    return columns
  })

/** Writes a collection at one commit as text, in constant memory. Returns the number of documents. */
export const exportText = <D extends Destination<unknown, unknown>>(
  collection: DocumentSource,
  destination: D,
  format: TextFormat,
  options: TextOptions = {}
): Exported<D, number> =>
  Effect.gen(function* () {
    let count = 0
    const tally = <E>(documents: Stream.Stream<JsonObject, E>) =>
      withProgress(collection.name, documents, (progress) => {
        count = progress.documents
        return options.onProgress?.(progress) ?? Effect.void
      })
    const documents = documentsOf(collection, options)
    if (format === "csv") {
      const found = yield* withColumns(documents, options.columns)
      yield* writeTo(
        destination,
        encodeCsv(tally(found.documents), { ...options, columns: found.columns }),
        "export"
      )
    } else {
      const chosen = Stream.map(documents, (document) => selectColumns(document, options.columns))
      const encode = format === "json" ? encodeJson : encodeNdjson
      yield* writeTo(destination, encode(tally(chosen)), "export")
    }
    return count
  })

const selectColumns = (document: JsonObject, columns: ReadonlyArray<string> | undefined): JsonObject =>
  columns === undefined
    ? document
    : Object.fromEntries(
        columns.flatMap((column) => (Object.hasOwn(document, column) ? [[column, document[column]!]] : []))
      )

/** The documents. They may be read twice; `onInvalid` is called by the first read only. */
const documentsOf = (
  collection: DocumentSource,
  { limit, onInvalid }: Pick<ExportOptions, "limit" | "onInvalid">
): Stream.Stream<JsonObject, ReadError> => {
  let next = onInvalid
  return Stream.suspend(() => {
    const now = next
    if (typeof next === "function") next = "skip"
    return collection.all({ limit, onInvalid: now })
  })
}

/** A collection as a worksheet with these columns, or with every field of its documents. */
const sheetOf = (
  collection: DocumentSource,
  options: Pick<ExportOptions, "limit" | "onInvalid" | "onProgress">,
  columns: ReadonlyArray<string> | undefined
): Effect.Effect<Sheet<ReadError>, ReadError> =>
  Effect.map(withColumns(documentsOf(collection, options), columns), (found) => ({
    name: collection.name,
    columns: found.columns,
    rows: withProgress(collection.name, found.documents, options.onProgress)
  }))

/** Calls `onProgress` after each chunk. */
const withProgress = <E, R>(
  collection: string,
  documents: Stream.Stream<JsonObject, E, R>,
  onProgress: ExportOptions["onProgress"]
): Stream.Stream<JsonObject, E, R> =>
  onProgress === undefined
    ? documents
    : Stream.suspend(() => {
        let count = 0
        return Stream.mapChunksEffect(documents, (chunk) => {
          count += chunk.length
          return Effect.as(onProgress({ collection, documents: count }), chunk)
        })
      })
