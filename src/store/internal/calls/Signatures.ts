import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../../../domain/json/Json.js"
import {
  above,
  callback,
  type FieldsOf,
  flag,
  object,
  oneOf,
  optional,
  text,
  texts,
  valueKind,
  wholeNumber
} from "../../../domain/options/Options.js"
import type { Batch, BatchOptions } from "../../Batch.js"
import type {
  Collection,
  CollectionReader,
  EditOptions,
  GuardedWriteOptions,
  JsonSchemaOptions,
  ListOptions,
  MergingWriteOptions,
  OnInvalid,
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

/** Checked by the method itself. */
const anything = Schema.Unknown

const id = ["id", text] as const
/** The name of a collection, or its definition. */
const like = valueKind<CollectionLike>(
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

const list = { limit: optional(wholeNumber(1)), after: optional(text) } satisfies FieldsOf<ListOptions>
const onInvalid = optional(
  valueKind<OnInvalid>(
    '"fail", "skip" or a function',
    (value) => value === "fail" || value === "skip" || typeof value === "function"
  )
)
const many = optionsOf({ ...list, onInvalid } satisfies FieldsOf<ReadManyOptions>)
const message = { message: optional(text) } satisfies FieldsOf<WriteOptions>
const guarded = optionsOf({
  ...message,
  expectedRev: optional(wholeNumber(0))
} satisfies FieldsOf<GuardedWriteOptions>)
const rules = { rules: optional(object) }
const merging = optionsOf({
  ...message,
  ...rules,
  expectedRev: optional(wholeNumber(0)),
  // Checked where they are used.
  base: optional(anything),
  onConflict: optional(anything)
} satisfies FieldsOf<MergingWriteOptions>)
const insert = { id: optional(text) }
const onProgress = optional(callback())

const reindexOptions = optionsOf({ ...message, onProgress } satisfies FieldsOf<ReindexOptions>)

const columns = { columns: optional(texts), limit: optional(wholeNumber(1)), onInvalid, onProgress }

const textFormat = valueKind<string>(
  "csv, ndjson or json",
  (value) => value === "csv" || value === "ndjson" || value === "json",
  {
    shown: true,
    hint: "use csv, ndjson or json; exportExcel writes workbooks"
  }
)

const readerSignatures = {
  get: effect(id, optionsOf({ fresh: optional(flag) })),
  version: effect(id),
  exists: effect(id),
  list: effect(optionsOf(list)),
  all: stream(many),
  find: stream(["predicate", callback()], many),
  findBy: effect(["field", text], ["value", anything], many),
  page: effect(many),
  pages: stream(optionsOf({ size: optional(wholeNumber(1)), after: optional(text) })),
  history: effect(id, optionsOf({ limit: optional(wholeNumber(1)) })),
  explain: effect(["field", text], ["value", anything]),
  // A query is checked as a whole when it is read.
  query: effect(["query", anything]),
  queryAll: stream(["query", anything]),
  explainQuery: effect(["query", anything], optionsOf({ run: optional(flag) })),
  countWhere: effect(["where", anything]),
  distinct: effect(["path", text]),
  exportExcel: effect(
    destination,
    optionsOf({ ...columns, sheetName: optional(text) } satisfies FieldsOf<ExcelOptions>)
  ),
  exportText: effect(
    destination,
    ["format", textFormat],
    optionsOf({
      ...columns,
      delimiter: optional(text),
      guardFormulas: optional(flag)
    } satisfies FieldsOf<TextOptions>)
  )
}

/** Checks the arguments of a collection's reads. */
export const guardReader = guard<CollectionReader<any>>("Collection", readerSignatures, [
  "count",
  "jsonSchema"
])

/** Checks the arguments of a collection's methods. */
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
        expectedRev: optional(Schema.NullOr(wholeNumber(0)))
      } satisfies FieldsOf<RestoreOptions>)
    ),
    importRecords: effect(
      ["records", anything],
      optionsOf({
        idField: optional(text),
        chunkSize: optional(wholeNumber(1)),
        dryRun: optional(flag),
        validate: optional(oneOf("each", "first")),
        importId: optional(text),
        message: optional(text),
        onProgress,
        onRow: optional(callback())
      } satisfies FieldsOf<ImportOptions>)
    ),
    reindex: effect(reindexOptions),
    createIndex: effect(["index", anything], reindexOptions),
    dropIndex: effect(["name", text], optionsOf(message)),
    writeJsonSchema: effect(
      optionsOf({
        ...message,
        schema: optional(
          valueKind<Schema.Schema.All | JsonObject>(
            "a Schema of Effect or a JSON Schema",
            (value) =>
              Schema.isSchema(value) || (typeof value === "object" && value !== null && !Array.isArray(value))
          )
        )
      } satisfies FieldsOf<JsonSchemaOptions>)
    ),
    estimate: effect(
      optionsOf({
        documents: optional(wholeNumber(0)),
        indexes: optional(wholeNumber(0)),
        manifest: optional(flag)
      } satisfies FieldsOf<EstimateOptions>)
    )
  },
  ["count", "jsonSchema"]
)

const expectation = valueKind<any>('one of { rev: 3 }, { sha: "..." } and { absent: true }', (value) => {
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

/** Checks the arguments of a batch. */
export const guardBatch = guard<Batch>("Batch", {
  ...queue,
  expect: effect(collectionName, id, ["the expectation", expectation])
})

/** Checks the arguments of a writer. */
export const guardWriter = guard<Writer>("Writer", queue)

const collection = direct(
  ["name", like],
  ["schema", Schema.UndefinedOr(valueKind<any>("a Schema of Effect", Schema.isSchema))]
)

const viewSignatures = {
  collection,
  exportExcel: effect(
    destination,
    optionsOf({
      collections: optional(
        valueKind<ReadonlyArray<CollectionLike>>(
          "a list of strings or definitions",
          (value) =>
            Array.isArray(value) && value.every((one) => typeof one === "string" || isDefinition(one))
        )
      ),
      columns: optional(Schema.Record({ key: Schema.String, value: texts })),
      limit: optional(wholeNumber(1)),
      onInvalid,
      onProgress
    } satisfies FieldsOf<DatabaseExcelOptions>)
  )
}

/** Checks the arguments of a view. */
export const guardView = guard<StoreView>("Store", viewSignatures, ["commitSha", "collections"])

const batch = effect(requiredOf(message satisfies FieldsOf<BatchOptions>), body)

/** Checks the arguments of a transaction. */
export const guardTransaction = guard<Pick<StoreService, "collection" | "batch">>("Transaction", {
  collection,
  batch
})

const operation = Schema.Struct({
  _tag: oneOf("Read", "List", "Commit", "PutFile", "Propose", "Lookup"),
  documents: optional(wholeNumber(0)),
  entries: optional(wholeNumber(0)),
  changes: optional(wholeNumber(0)),
  bytes: optional(wholeNumber(0)),
  labels: optional(wholeNumber(0)),
  warm: optional(flag)
})

/** Checks the arguments of a store. */
export const guardStore = guard<StoreService>(
  "Store",
  {
    ...viewSignatures,
    batch,
    writer: effect(
      requiredOf({
        ...message,
        maxOperations: optional(wholeNumber(1)),
        maxSeconds: optional(above(0))
      } satisfies FieldsOf<WriterOptions>),
      body
    ),
    transaction: effect(
      requiredOf({ ...message, branch: optional(text) } satisfies FieldsOf<TransactionOptions>),
      body
    ),
    withTransaction: effect(
      ["effect", valueKind("an Effect", Effect.isEffect)],
      optionsOf({ ...message, branch: optional(text) } satisfies FieldsOf<TransactionOptions>)
    ),
    removeTransaction: effect(["branch", text]),
    at: effect(["ref", text]),
    onBranch: direct(["branch", text]),
    resolveRef: effect(["ref", text]),
    // Their options are checked by the modules that are loaded on use.
    createBranch: effect(["name", text]),
    deleteBranch: effect(["name", text]),
    compare: stream(["a", text], ["b", text]),
    merge: effect(["from", text]),
    propose: effect(["options", object], ["edits", callback()]),
    proposals: effect(),
    proposal: direct(["id", text]),
    revert: effect(["commitSha", text], optionsOf({ ...message, force: optional(flag) })),
    reindex: effect(
      optionsOf({
        ...message,
        onProgress,
        format: optional(Schema.Literal(1, 2))
      } satisfies FieldsOf<StoreReindexOptions>)
    ),
    preview: effect(body),
    invalidate: effect(["path", Schema.UndefinedOr(text)]),
    estimate: direct(["operation", operation]),
    doctorWith: effect(requiredOf({ deep: optional(flag), onProgress } satisfies FieldsOf<DoctorOptions>))
  },
  ["commitSha", "collections", "branches", "snapshot", "staleTransactions", "rateLimit", "doctor"]
)
