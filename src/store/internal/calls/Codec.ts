import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as Steps from "../../../domain/concurrency/Steps.js"
import type { DocumentMetadata, StoredDocument } from "../../../domain/document/Document.js"
import { metadataNames } from "../../../domain/document/DocumentBody.js"
import { ValidationError } from "../../../domain/errors/StoreError.js"
import { isPlainObject } from "../../../domain/json/CanonicalJson.js"
import type { Json, JsonObject } from "../../../domain/json/Json.js"
import {
  CopyError,
  type CopyRules,
  copyJson,
  isLiteral,
  mergeMembers
} from "../../../domain/json/JsonCopy.js"
import { appendToPath } from "../../../domain/json/JsonPath.js"
import type { Typed } from "../../Collection.js"
import type { CollectionLike } from "../../CollectionDefinition.js"
import type { StoredVersion } from "../commit/DocumentEdit.js"
import { type DocumentPlace, readDocument, unreadableError, withoutMetadata } from "../commit/VersionCodec.js"

/** Converts between the caller's documents and the contents of their files. */
export interface Codec<A, I> {
  /** Undefined if documents are plain JSON. */
  readonly schema: AnySchema | undefined
  readonly read: (place: DocumentPlace, content: Uint8Array) => Effect.Effect<A, ValidationError>
  /** `content` is the file from which the document was parsed, if it was. */
  readonly fromDocument: (
    place: DocumentPlace,
    document: StoredDocument,
    content?: Uint8Array
  ) => Effect.Effect<A, ValidationError>
  /** Copies the given document, so that later changes of it do not affect the write. */
  readonly copy: <D>(place: DocumentPlace, given: D) => Effect.Effect<D, ValidationError>
  /** `anyId`: an `_id` in the document is ignored, because the caller gave no id to compare it with. */
  readonly encode: (
    place: DocumentPlace,
    document: I,
    anyId?: boolean
  ) => Effect.Effect<JsonObject, ValidationError>
  /** Why a stored document does not match the schema; none if it does. */
  readonly problem: (document: JsonObject, context: Context.Context<never>) => Option.Option<string>
  /** Merges a patch into the stored document and validates the result. */
  readonly merge: (
    place: DocumentPlace,
    stored: StoredVersion,
    patch: Partial<I>
  ) => Effect.Effect<JsonObject, ValidationError>
  /** Fails unless readers of the collection can read the document as the next version of the stored one. */
  readonly validate: (
    place: DocumentPlace,
    stored: StoredVersion,
    document: JsonObject
  ) => Effect.Effect<JsonObject, ValidationError>
  /** Merges a whole document into the stored document and validates the result. */
  readonly mergeWhole: (
    place: DocumentPlace,
    stored: StoredVersion,
    document: I
  ) => Effect.Effect<JsonObject, ValidationError>
}

const notAnObject = (place: DocumentPlace) =>
  new ValidationError({ ...place, message: `${place.collection}/${place.id}: a document is a JSON object` })

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Fails if the document contains another id than the one under which it is written. */
const checkId = (place: DocumentPlace, document: unknown, anyId = false): ValidationError | undefined => {
  if (!isRecord(document)) return notAnObject(place)
  if (anyId) return undefined
  const id = Object.hasOwn(document, "_id") ? document["_id"] : undefined
  if (id === undefined || id === place.id) return undefined
  return new ValidationError({
    ...place,
    message: `the document's _id ${JSON.stringify(id)} contradicts the id ${place.id}`,
    hint: "omit _id, or give the same id",
    issues: [{ path: "_id", message: `is not ${place.id}` }]
  })
}

/** Removes undefined members, which the encoding of a schema may contain. */
const defined = (patch: { readonly [key: string]: unknown }): JsonObject =>
  Object.fromEntries(Object.entries(patch).filter((entry): entry is [string, Json] => entry[1] !== undefined))

const copied =
  (rules?: CopyRules) =>
  <D>(place: DocumentPlace, given: D): Effect.Effect<D, ValidationError> =>
    Effect.try({
      try: () => copyJson(given, rules) as D,
      catch: (cause) =>
        new ValidationError({
          ...place,
          message: `${place.collection}/${place.id}: ${cause instanceof CopyError ? cause.message : `the document cannot be read: ${cause}`}`,
          issues: cause instanceof CopyError ? [cause.problem] : undefined,
          cause
        })
    })

const stored = (place: DocumentPlace, version: StoredVersion): Either.Either<JsonObject, ValidationError> =>
  Either.fromOption(version.document, () => unreadableError(place, version.problem ?? "contains no document"))

const overlay = (place: DocumentPlace, version: StoredVersion, patch: JsonObject) =>
  Effect.flatMap(stored(place, version), (document) =>
    Steps.run(() => mergeMembers(document, withoutMetadata(patch)) as Steps.Steps<JsonObject>)
  )

const checked = (
  place: DocumentPlace,
  document: unknown,
  anyId = false
): Effect.Effect<JsonObject, ValidationError> =>
  Effect.suspend(() => {
    const problem = checkId(place, document, anyId)
    if (problem !== undefined) return Effect.fail(problem)
    // Another object, such as a Map, would be written without its contents.
    if (!isPlainObject(document as object)) return Effect.fail(notAnObject(place))
    return Effect.succeed(document as JsonObject)
  })

const plainMerge = (place: DocumentPlace, version: StoredVersion, patch: unknown) =>
  Effect.flatMap(checked(place, patch), (fields) => overlay(place, version, fields))

/** The codec of plain JSON documents. */
export const plain: Codec<StoredDocument, JsonObject> = {
  schema: undefined,
  read: readDocument,
  fromDocument: (_place, document) => Effect.succeed(document),
  copy: copied(),
  encode: checked,
  problem: () => Option.none(),
  merge: plainMerge,
  validate: (_place, _stored, document) => Effect.succeed(document),
  mergeWhole: plainMerge
}

const schemaError = (place: DocumentPlace, error: ParseResult.ParseError, what: string): ValidationError => {
  const issues = ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path }) => ({
    path: path.reduce<string>(
      (text, key) => appendToPath(text, typeof key === "symbol" ? String(key) : (key as string)),
      ""
    ),
    message
  }))
  const [first] = issues
  return new ValidationError({
    ...place,
    message: `${place.collection}/${place.id} ${what}: ${first === undefined ? error.message : `${first.path === "" ? "the document" : first.path}: ${first.message}`}`,
    issues
  })
}

const fieldsOf = (ast: AST.AST): ReadonlyArray<PropertyKey> =>
  AST.isTypeLiteral(ast) ? ast.propertySignatures.map(({ name }) => name) : []

export const attach = <A>(
  decoded: A,
  { _created_at, _id, _rev, _updated_at }: DocumentMetadata
): Typed<A> => {
  const metadata = { _id, _rev, _created_at, _updated_at }
  if (typeof decoded !== "object" || decoded === null) return decoded as Typed<A>
  if (isLiteral(decoded)) return { ...decoded, ...metadata }
  // A copy lacks the private members of its class. An object that already has the metadata of another document is a
  // shared instance of its schema and must be copied.
  const isNew =
    Object.isExtensible(decoded) &&
    metadataNames.every(
      (name) =>
        !Object.hasOwn(decoded, name) || (decoded as Partial<DocumentMetadata>)[name] === metadata[name]
    )
  const target = isNew
    ? decoded
    : (Object.create(Object.getPrototypeOf(decoded), Object.getOwnPropertyDescriptors(decoded)) as object)
  return Object.assign(target, metadata) as Typed<A>
}

/** The metadata fields that a schema declares on one of its sides. */
export const metadataIn = (ast: AST.AST, side: "encoded" | "type"): ReadonlySet<string> => {
  const declared = new Set(fieldsOf(side === "encoded" ? AST.encodedAST(ast) : AST.typeAST(ast)))
  return new Set(metadataNames.filter((name) => declared.has(name)))
}

/**
 * Removes the metadata that the schema does not declare. Keeps it all if the schema declares any, and on class
 * instances, because their schema ignores unknown members.
 */
export const detach = (value: object, declared: ReadonlySet<string>): object => {
  if (declared.size > 0 || !isLiteral(value)) return value
  const members = Object.getOwnPropertyDescriptors(value) as { [name: string]: PropertyDescriptor }
  for (const name of metadataNames) delete members[name]
  return Object.create(Object.getPrototypeOf(value) as object | null, members) as object
}

const partialOf = <A, I>(schema: Schema.Schema<A, I>) => {
  try {
    return Option.some(Schema.make<Partial<A>, Partial<I>>(AST.partial(schema.ast)))
  } catch {
    return Option.none()
  }
}

export type AnySchema = Schema.Schema<any, any, unknown>

/** The codec of a collection, given by its definition, or by name with or without a schema. */
export const codecOf = (collection: CollectionLike, schema?: AnySchema): Codec<any, any> => {
  const own = typeof collection === "string" ? schema : collection.schema
  return own === undefined ? plain : typed(own)
}

const codecs = new WeakMap<object, Codec<any, any>>()

/** Reads and writes the documents of a schema by a codec. */
export const setCodec = <S extends AnySchema>(schema: S, codec: Codec<any, any>): S => {
  codecs.set(schema, codec)
  return schema
}

/**
 * The codec of a schema: documents are written encoded and read decoded, with the store's metadata beside the schema's
 * fields. The effects that use it require the context of the schema.
 */
export const typed = <A, I extends object, R>(schema: Schema.Schema<A, I, R>): Codec<Typed<A>, A> => {
  const cached = codecs.get(schema)
  if (cached !== undefined) return cached
  const codec = make(schema as Schema.Schema<A, I>)
  codecs.set(schema, codec)
  return codec
}

const make = <A, I extends object>(schema: Schema.Schema<A, I>): Codec<Typed<A>, A> => {
  const decode = Schema.decodeUnknown(schema)
  const encode = Schema.encodeUnknown(schema)
  const patches = Option.map(partialOf(schema), (partial) => Schema.encodeUnknown(partial))
  const keepsMetadata = metadataIn(schema.ast, "encoded").size > 0
  const fill = defaultsOf(schema)

  const fromDocument = (place: DocumentPlace, document: StoredDocument, what = "does not fit its schema") =>
    decode(keepsMetadata ? document : withoutMetadata(document)).pipe(
      Effect.mapBoth({
        onFailure: (error) => schemaError(place, error, what),
        onSuccess: (decoded) => attach(decoded, document)
      })
    )
  const encoded = (place: DocumentPlace, document: unknown, anyId = false) =>
    Effect.flatMap(checkedInput(place, document, anyId), () =>
      Effect.mapError(encode(fill(document)), (error) => schemaError(place, error, "cannot be written"))
    ).pipe(
      Effect.flatMap((json) => checked(place, json)),
      Effect.map((json) => withoutMetadata(defined(json)))
    )
  const checkedInput = (place: DocumentPlace, document: unknown, anyId = false) =>
    Effect.suspend(() => {
      const problem = checkId(place, document, anyId)
      return problem === undefined ? Effect.void : Effect.fail(problem)
    })
  /** Fails unless readers of the schema can read the merged document. */
  const validated = (place: DocumentPlace, version: StoredVersion, merged: JsonObject) =>
    Effect.as(
      fromDocument(
        place,
        {
          ...merged,
          _id: place.id,
          _rev: version.rev + 1,
          _created_at: version.createdAt ?? "",
          _updated_at: ""
        } as StoredDocument,
        "would not fit its schema"
      ),
      merged
    )
  const encodePatch = (place: DocumentPlace, version: StoredVersion, patch: object) =>
    Effect.gen(function* () {
      const fields = defined(patch as { readonly [key: string]: unknown })
      const wrong = (error: ParseResult.ParseError) => schemaError(place, error, "cannot be patched")
      if (Option.isSome(patches)) {
        return (yield* Effect.mapError(patches.value(fields), wrong)) as JsonObject
      }
      const now = yield* stored(place, version)
      const before = yield* Effect.mapError(decode(withoutMetadata(now)), wrong)
      const same = (yield* Effect.mapError(encode(before), wrong)) as JsonObject
      const patchedWhole = yield* Effect.try({
        try: () => (isRecord(before) ? patched(before, fields) : fields),
        catch: (cause) =>
          new ValidationError({
            ...place,
            message: `${place.collection}/${place.id} cannot be patched: ${cause}`,
            hint: "replace the document",
            cause
          })
      })
      const whole = yield* Effect.mapError(encode(patchedWhole), wrong)
      return Object.fromEntries(
        Object.entries(whole).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(same[key]))
      ) as JsonObject
    })
  return {
    schema: schema as AnySchema,
    validate: validated,
    read: (place, content) =>
      Effect.flatMap(readDocument(place, content), (document) => fromDocument(place, document)),
    fromDocument: (place, document) => fromDocument(place, document),
    copy: copied({ isCopied: isLiteral, keepsUndefined: true }),
    encode: encoded,
    problem: (document, context) =>
      Effect.runSync(
        Effect.provide(decode(document), context).pipe(
          Effect.as(Option.none()),
          Effect.catchAll((error) => Effect.succeedSome(ParseResult.TreeFormatter.formatErrorSync(error)))
        )
      ),
    merge: (place, version, patch) =>
      Effect.gen(function* () {
        yield* checkedInput(place, patch)
        const fields = yield* encodePatch(place, version, patch as object)
        return yield* validated(place, version, yield* overlay(place, version, fields))
      }),
    mergeWhole: (place, version, document) =>
      Effect.gen(function* () {
        const whole = yield* encoded(place, document)
        // Defaults are for new documents: they do not replace stored values.
        const isWhole = fill(document) === document || !isPlainObject(document as object)
        const fields = isWhole ? whole : yield* encodePatch(place, version, document as object)
        return yield* validated(place, version, yield* overlay(place, version, fields))
      })
  }
}

/** Fills in the defaults of missing fields, and makes an instance if the schema is a class. */
const defaultsOf = (schema: Schema.Schema<any, any>): (<D>(document: D) => D) => {
  if (!("fields" in schema)) return (document) => document
  const defaults = Object.entries(schema.fields as Schema.Struct.Fields).flatMap(([name, field]) => {
    if (!Schema.isPropertySignature(field)) return []
    const { ast } = field
    const value = ast._tag === "PropertySignatureDeclaration" ? ast.defaultValue : ast.to.defaultValue
    return value === undefined ? [] : [{ name, value }]
  })
  const isClass = AST.isTransformation(schema.ast) && AST.isDeclaration(schema.ast.to)
  return (document) => {
    if (!isRecord(document)) return document
    const missing = defaults.filter(({ name }) => document[name] === undefined)
    const filled =
      missing.length === 0
        ? document
        : patched(
            document,
            Object.fromEntries(missing.map(({ name, value }) => [name, value()])) as JsonObject
          )
    const isMade = !isClass || document instanceof (schema as unknown as abstract new () => object)
    return (isMade ? filled : (schema as unknown as Constructing).make(filled, true)) as typeof document
  }
}

interface Constructing {
  readonly make: (fields: object, disableValidation: boolean) => object
}

/** Sets members of a decoded value. A class instance is modified itself, because a copy lacks its private members. */
const patched = (before: { readonly [key: string]: unknown }, fields: JsonObject): object =>
  Object.assign(
    isLiteral(before) || !Object.isExtensible(before)
      ? (Object.create(Object.getPrototypeOf(before), Object.getOwnPropertyDescriptors(before)) as object)
      : before,
    fields
  )
