import type * as Schema from "effect/Schema"
import { ValidationError } from "../domain/errors/StoreError.js"
import { collectionNameProblem } from "../domain/identifiers/CollectionName.js"
import type { JsonObject } from "../domain/json/Json.js"
import type { MergeRules } from "../domain/merge/MergeRules.js"
import type { SettingsOptions } from "../domain/settings/Settings.js"

/**
 * @since 0.1.0
 * @category symbols
 */
export const TypeId: unique symbol = Symbol.for("chainstore/store/CollectionDefinition")

/**
 * A schema whose encoded side is a JSON object.
 *
 * @since 0.1.0
 * @category type-level
 */
export type DocumentSchema = Schema.Schema<any, any, unknown>

type Fields<S extends DocumentSchema> = Extract<keyof Schema.Schema.Encoded<S>, string>

type Index = NonNullable<SettingsOptions["indexes"]>[string][number]

/**
 * The definition of a collection, which is accepted in place of its name.
 *
 * @since 0.1.0
 * @category models
 */
export interface CollectionDefinition<
  Name extends string = string,
  S extends DocumentSchema = DocumentSchema
> {
  readonly [TypeId]: typeof TypeId
  /** The collection's name. */
  readonly name: Name
  /** The schema of its documents, without the metadata. */
  readonly schema: S
  /** See the option `indexes`. */
  readonly indexes: ReadonlyArray<Index> | undefined
  /** The fields that the collection's manifest contains; undefined if it has no manifest. */
  readonly manifest: ReadonlyArray<string> | undefined
  /** Rules for merging versions of a document. They take precedence over the annotations of the schema. */
  readonly merge?: MergeRules | undefined
}

/**
 * A definition, or the name of a collection of plain JSON documents.
 *
 * @since 0.1.0
 * @category models
 */
export type CollectionLike = string | CollectionDefinition

/**
 * The schema that may be given with a name; a definition has its own.
 *
 * @since 0.1.0
 * @category type-level
 */
export type NamedSchema<C, S> = C extends string ? S : undefined

/**
 * The schema of a definition, or the schema that was given with a name.
 *
 * @since 0.1.0
 * @category type-level
 */
export type SchemaOf<C, S = undefined> = C extends CollectionDefinition<string, infer Own> ? Own : S

/**
 * The type of documents that callers write for a schema: fields with a default are optional, and a class accepts a
 * plain object too.
 *
 * @since 0.1.0
 * @category type-level
 */
export type InsertOf<S> = S extends { readonly fields: infer F extends Schema.Struct.Fields }
  ? Schema.Simplify<Schema.Struct.Constructor<F>>
  : Schema.Schema.Type<S>

/**
 * The type of documents that callers write for a definition or a name.
 *
 * @since 0.1.0
 * @category type-level
 */
export type InputOf<C> = C extends CollectionDefinition<string, infer S> ? InsertOf<S> : JsonObject

/**
 * The requirements of a definition's schema; never for a name.
 *
 * @since 0.1.0
 * @category type-level
 */
export type ContextOf<C> = C extends CollectionDefinition<string, infer S> ? Schema.Schema.Context<S> : never

/**
 * Defines a collection: its name, schema, indexes and manifest. Stores that have the definition in their option
 * `collections` record its indexes and manifest.
 *
 * @example
 * ```ts
 * const people = Collection.define("people", Person, { indexes: ["city"], manifest: ["name"] })
 * const store = Store.layer({ collections: [people] })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const define = <const Name extends string, S extends DocumentSchema>(
  name: Name,
  schema: S,
  options: {
    readonly indexes?: ReadonlyArray<Exclude<Index, string> | Fields<S>> | undefined
    readonly manifest?: ReadonlyArray<Fields<S>> | undefined
    readonly merge?: MergeRules | undefined
  } = {}
): CollectionDefinition<Name, S> => {
  const problem = collectionNameProblem(name)
  if (problem !== undefined) {
    throw new ValidationError({
      operation: "Collection.define",
      message: `collection ${JSON.stringify(name)}: ${problem}`
    })
  }
  const { indexes, manifest, merge } = options
  return { [TypeId]: TypeId, name, schema, indexes, manifest, merge }
}

/**
 * Whether a value is a definition of a collection.
 *
 * @since 0.1.0
 * @category refinements
 */
export const isDefinition = (value: unknown): value is CollectionDefinition =>
  typeof value === "object" && value !== null && TypeId in value

/** The name of a collection, given by name or by definition. */
export const nameIn = (collection: CollectionLike): string =>
  isDefinition(collection) ? collection.name : collection
