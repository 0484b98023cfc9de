import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../../../domain/Document.js"
import {
  above,
  callback,
  type FieldsOf,
  flag,
  kind,
  maybe,
  object,
  oneOf,
  text,
  texts,
  wholeNumber
} from "../../../domain/Options.js"
import type { Batch, BatchOptions } from "../../Batch.js"
import type {
  Collection,
  CollectionReader,
  EditOptions,
  GuardedWriteOptions,
  JsonSchemaOptions,
  ListOptions,
  MergingWriteOptions,
  ReadManyOptions,
  ReindexOptions,
  RestoreOptions,
  WriteOptions
} from "../../Collection.js"
import { type CollectionLike, isDefinition } from "../../CollectionDefinition.js"
import type { EstimateOptions } from "../../CollectionEstimate.js"
import type { DoctorOptions } from "../../Doctor.js"
import type { StoreReindexOptions, StoreService } from "../../StoreService.js"
import type { TransactionOptions } from "../../Transaction.js"
import type { DatabaseExcelOptions, ExcelOptions, TextOptions } from "../../transfer/Export.js"
import { destination } from "../../transfer/ExportArguments.js"
import type { ImportOptions } from "../../transfer/Import.js"
import type { StoreView } from "../../View.js"
import type { Writer, WriterOptions } from "../../Writer.js"
import { direct, effect, guard, stream } from "./Guard.js"

/** What is judged by the method itself. */
const anything = Schema.Unknown

const id = ["id", text] as const
/** The name of a collection, or a definition. */
const like = kind<CollectionLike>(
  "a string or a definition",
  (value) => typeof value === "string" || isDefinition(value)
)
const collectionName = ["collection", like] as const
const document = ["document", anything] as const
const body = ["body", callback()] as const

const optionsOf = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  ["options", Schema.UndefinedOr(Schema.Struct(fields))] as unknown as readonly [
    string,
    Schema.Schema<any, any>
  ]
const requiredOf = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  ["options", Schema.Struct(fields)] as unknown as readonly [string, Schema.Schema<any, any>]

const list = { limit: maybe(wholeNumber(1)), after: maybe(text) } satisfies FieldsOf<ListOptions>
const many = optionsOf({
  ...list,
  onInvalid: maybe(
    kind(
      '"fail", "skip" or a function',
      (value) => value === "fail" || value === "skip" || typeof value === "function"
    )
  )
} satisfies FieldsOf<ReadManyOptions>)
const message = { message: maybe(text) } satisfies FieldsOf<WriteOptions>
const guarded = optionsOf({
  ...message,
  expectedRev: maybe(wholeNumber(0))
} satisfies FieldsOf<GuardedWriteOptions>)
const rules = { rules: maybe(object) }
const merging = optionsOf({
  ...message,
  ...rules,
  expectedRev: maybe(wholeNumber(0)),
  // Judged where they are used.
  base: maybe(anything),
  onConflict: maybe(anything)
} satisfies FieldsOf<MergingWriteOptions>)
const insert = { id: maybe(text) }
const onProgress = maybe(callback())

const columns = { columns: maybe(texts), limit: maybe(wholeNumber(1)), onProgress }

const textFormat = kind<string>(
  "csv, ndjson or json",
  (value) => value === "csv" || value === "ndjson" || value === "json",
  {
    shown: true,
    hint: "use csv, ndjson or json; exportExcel writes workbooks"
  }
)

const readerSignatures = {
  get: effect(id, optionsOf({ fresh: maybe(flag) })),
  version: effect(id),
  exists: effect(id),
  list: effect(optionsOf(list)),
  all: stream(many),
  find: stream(["predicate", callback()], many),
  findBy: effect(["field", text], ["value", anything], many),
  page: effect(many),
  pages: stream(optionsOf({ size: maybe(wholeNumber(1)), after: maybe(text) })),
  history: effect(id, optionsOf({ limit: maybe(wholeNumber(1)) })),
  explain: effect(["field", text], ["value", anything]),
  // A query is judged as a whole where it is read.
  query: effect(["query", anything]),
  queryAll: stream(["query", anything]),
  explainQuery: effect(["query", anything], optionsOf({ run: maybe(flag) })),
  countWhere: effect(["where", anything]),
  distinct: effect(["path", text]),
  exportExcel: effect(
    destination,
    optionsOf({ ...columns, sheetName: maybe(text) } satisfies FieldsOf<ExcelOptions>)
  ),
  exportText: effect(
    destination,
    ["format", textFormat],
    optionsOf({
      ...columns,
      delimiter: maybe(text),
      guardFormulas: maybe(flag)
    } satisfies FieldsOf<TextOptions>)
  )
}

/** Checks what the reads of a collection are given. */
export const guardReader = guard<CollectionReader<any>>("Collection", readerSignatures, [
  "count",
  "jsonSchema"
])

/** Checks what the reads and writes of a collection are given. */
export const guardCollection = guard<Collection<any, any>>(
  "Collection",
  {
    ...readerSignatures,
    insert: effect(document, optionsOf({ ...message, ...insert })),
    update: effect(id, ["patch", anything], merging),
    replace: effect(id, document, merging),
    edit: effect(
      id,
      ["next", callback()],
      optionsOf({ ...message, ...rules } satisfies FieldsOf<EditOptions>)
    ),
    upsert: effect(id, document, guarded),
    delete: effect(id, guarded),
    restore: effect(
      id,
      ["commitSha", text],
      optionsOf({
        ...message,
        expectedRev: maybe(Schema.NullOr(wholeNumber(0)))
      } satisfies FieldsOf<RestoreOptions>)
    ),
    importRecords: effect(
      ["records", anything],
      optionsOf({
        idField: maybe(text),
        chunkSize: maybe(wholeNumber(1)),
        dryRun: maybe(flag),
        validate: maybe(oneOf("each", "first")),
        importId: maybe(text),
        message: maybe(text),
        onProgress,
        onRow: maybe(callback())
      } satisfies FieldsOf<ImportOptions>)
    ),
    reindex: effect(optionsOf({ ...message, onProgress } satisfies FieldsOf<ReindexOptions>)),
    writeJsonSchema: effect(
      optionsOf({
        ...message,
        schema: maybe(
          kind<Schema.Schema.All | JsonObject>(
            "a Schema of Effect or a JSON Schema",
            (value) =>
              Schema.isSchema(value) || (typeof value === "object" && value !== null && !Array.isArray(value))
          )
        )
      } satisfies FieldsOf<JsonSchemaOptions>)
    ),
    estimate: effect(
      optionsOf({
        documents: maybe(wholeNumber(0)),
        indexes: maybe(wholeNumber(0)),
        manifest: maybe(flag)
      } satisfies FieldsOf<EstimateOptions>)
    )
  },
  ["count", "jsonSchema"]
)

const expectation = kind<any>('one of { rev: 3 }, { sha: "..." } and { absent: true }', (value) => {
  if (typeof value !== "object" || value === null) return false
  const [only, ...more] = Object.entries(value).filter(([, one]) => one !== undefined)
  if (only === undefined || more.length > 0) return false
  const [name, one] = only
  return name === "rev"
    ? typeof one === "number"
    : name === "sha"
      ? typeof one === "string"
      : name === "absent" && one === true
})

const queue = {
  put: effect(collectionName, id, document),
  insert: effect(collectionName, document, optionsOf(insert)),
  delete: effect(collectionName, id)
}

/** Checks what a batch is given. */
export const guardBatch = guard<Batch>("Batch", {
  ...queue,
  expect: effect(collectionName, id, ["the expectation", expectation])
})

/** Checks what a writer is given. */
export const guardWriter = guard<Writer>("Writer", queue)

const collection = direct(
  ["name", like],
  ["schema", Schema.UndefinedOr(kind<any>("a Schema of Effect", Schema.isSchema))]
)

const viewSignatures = {
  collection,
  exportExcel: effect(
    destination,
    optionsOf({
      collections: maybe(
        kind<ReadonlyArray<CollectionLike>>(
          "a list of strings or definitions",
          (value) =>
            Array.isArray(value) && value.every((one) => typeof one === "string" || isDefinition(one))
        )
      ),
      columns: maybe(Schema.Record({ key: Schema.String, value: texts })),
      limit: maybe(wholeNumber(1)),
      onProgress
    } satisfies FieldsOf<DatabaseExcelOptions>)
  )
}

/** Checks what a view is given. */
export const guardView = guard<StoreView>("Store", viewSignatures, ["commitSha", "collections"])

const batch = effect(requiredOf(message satisfies FieldsOf<BatchOptions>), body)

/** Checks what a transaction is given. */
export const guardTransaction = guard<Pick<StoreService, "collection" | "batch">>("Transaction", {
  collection,
  batch
})

const operation = Schema.Struct({
  _tag: oneOf("Read", "List", "Commit", "PutFile", "Propose", "Lookup"),
  documents: maybe(wholeNumber(0)),
  entries: maybe(wholeNumber(0)),
  changes: maybe(wholeNumber(0)),
  bytes: maybe(wholeNumber(0)),
  labels: maybe(wholeNumber(0)),
  warm: maybe(flag)
})

/** Checks what a store is given. */
export const guardStore = guard<StoreService>(
  "Store",
  {
    ...viewSignatures,
    batch,
    writer: effect(
      requiredOf({
        ...message,
        maxOperations: maybe(wholeNumber(1)),
        maxSeconds: maybe(above(0))
      } satisfies FieldsOf<WriterOptions>),
      body
    ),
    transaction: effect(
      requiredOf({ ...message, branch: maybe(text) } satisfies FieldsOf<TransactionOptions>),
      body
    ),
    withTransaction: effect(
      ["effect", kind("an Effect", Effect.isEffect)],
      optionsOf({ ...message, branch: maybe(text) } satisfies FieldsOf<TransactionOptions>)
    ),
    removeTransaction: effect(["branch", text]),
    at: effect(["ref", text]),
    onBranch: direct(["branch", text]),
    resolveRef: effect(["ref", text]),
    // Their options are judged where they are loaded.
    createBranch: effect(["name", text]),
    deleteBranch: effect(["name", text]),
    compare: stream(["a", text], ["b", text]),
    merge: effect(["from", text]),
    propose: effect(["options", object], ["edits", callback()]),
    proposals: effect(),
    proposal: direct(["id", text]),
    revert: effect(["commitSha", text], optionsOf({ ...message, force: maybe(flag) })),
    reindex: effect(
      optionsOf({
        ...message,
        onProgress,
        format: maybe(Schema.Literal(1, 2))
      } satisfies FieldsOf<StoreReindexOptions>)
    ),
    preview: effect(body),
    invalidate: effect(["path", Schema.UndefinedOr(text)]),
    estimate: direct(["operation", operation]),
    doctorWith: effect(requiredOf({ deep: maybe(flag), onProgress } satisfies FieldsOf<DoctorOptions>))
  },
  ["commitSha", "collections", "branches", "snapshot", "staleTransactions", "rateLimit", "doctor"]
)
