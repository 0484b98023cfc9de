import { Either } from "effect"
import {
  decodeIndexDefinition,
  encodeIndexDefinition,
  type IndexOptions,
  isPlainIndex,
  sameIndex
} from "../../domain/indexes/IndexDefinition.js"
import { encodeInline } from "../../domain/json/CanonicalJson.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { settingsFileName } from "../../domain/settings/Settings.js"
import type { Event } from "../program/ProgramTrace.js"
import { type DerivedFields, definitionsOf, formatOf, uniqueProblems } from "./DerivedCheck.js"
import type { Snapshot } from "./HistoryReader.js"
import { type JudgedModel, judgedModel } from "./UniqueCheck.js"

type Indexes = DerivedFields["indexes"]

const decoded = (given: string | IndexOptions) => Either.getOrThrow(decodeIndexDefinition(given))

const without = (indexes: Indexes, collection: string, name: string): Indexes => ({
  ...indexes,
  [collection]: (indexes[collection] ?? []).filter((one) => decoded(one).name !== name)
})

const changedBy = (indexes: Indexes, event: Event | undefined): Indexes => {
  const operation = event?.operation
  if (operation?._tag === "dropIndex") return without(indexes, operation.collection, operation.name)
  if (operation?._tag !== "createIndex") return indexes
  const { collection, index } = operation
  return { ...indexes, [collection]: [...(indexes[collection] ?? []), index] }
}

/** The indexes of each commit: those that the store was given, changed by the calls that created and dropped some. */
export class IndexHistory {
  private readonly indexes: Array<Indexes> = []
  private readonly models = new Map<Indexes, JudgedModel>()

  constructor(
    private readonly history: ReadonlyArray<Snapshot>,
    private readonly given: DerivedFields,
    eventAt: (index: number) => Event | undefined
  ) {
    history.forEach((_, index) => {
      this.indexes.push(changedBy(this.at(index - 1), eventAt(index)))
    })
  }

  private at(index: number): Indexes {
    return index < 0 ? this.given.indexes : this.indexes[index]!
  }

  /** The indexes and manifests of a commit. */
  fieldsAt(index: number): DerivedFields {
    return { indexes: this.at(index), manifests: this.given.manifests }
  }

  /** The model of writes that begin at a commit. */
  modelAt(index: number): JudgedModel {
    const indexes = this.at(index)
    const known = this.models.get(indexes) ?? judgedModel({ indexes })
    this.models.set(indexes, known)
    return known
  }

  /** Whether a commit has a unique index. */
  get isUnique(): boolean {
    return [this.given.indexes, ...this.indexes].some((indexes) =>
      Object.keys(indexes).some((collection) =>
        definitionsOf(indexes, collection).some(({ unique }) => unique)
      )
    )
  }

  /** The collections that have indexes or manifests at a commit, or had them before. */
  get collections(): ReadonlySet<string> {
    return new Set([
      ...[this.given.indexes, ...this.indexes].flatMap((indexes) => Object.keys(indexes)),
      ...Object.keys(this.given.manifests)
    ])
  }

  /** Whether an index is at a commit as it is given, with another definition, or not at all. */
  state(index: number, collection: string, given: string | IndexOptions): "same" | "other" | "none" {
    const wanted = decoded(given)
    const found = definitionsOf(this.at(index), collection).find(({ name }) => name === wanted.name)
    return found === undefined ? "none" : sameIndex(found, wanted) ? "same" : "other"
  }

  hasName(index: number, collection: string, name: string): boolean {
    return definitionsOf(this.at(index), collection).some((one) => one.name === name)
  }

  /** Why an index cannot be created at a commit; undefined if it can. */
  refusal(
    index: number,
    collection: string,
    given: string | IndexOptions
  ): "ValidationError" | "ConflictError" | undefined {
    const snapshot = this.history[index]
    if (this.state(index, collection, given) === "other") return "ValidationError"
    if (snapshot === undefined) return undefined
    // Before the first settings the format is the one that the store was given.
    const isFirstFormat = snapshot.derived.has(settingsFileName) && formatOf(snapshot) !== 2
    if (isFirstFormat && !isPlainIndex(decoded(given))) return "ValidationError"
    const alone = { indexes: { [collection]: [given] } }
    return uniqueProblems(snapshot, collection, alone).length > 0 ? "ConflictError" : undefined
  }

  /** What the settings file of a commit gets wrong about its indexes. */
  settingsProblems(index: number): ReadonlyArray<string> {
    const settings = this.history[index]!.derived.get(settingsFileName) as JsonObject | undefined
    const expected = this.at(index)
    if (settings === undefined)
      return expected === this.given.indexes ? [] : ["an index was created, and no settings are recorded"]
    const wanted = textOf(expected)
    const found = textOf((settings["indexes"] ?? {}) as unknown as Indexes)
    return wanted === found ? [] : [`the settings have the indexes ${found}, and not ${wanted}`]
  }
}

const textOf = (indexes: Indexes): string => {
  const collections = Object.keys(indexes)
    .sort()
    .flatMap((collection) => {
      const list = [...definitionsOf(indexes, collection)].sort((a, b) => (a.name < b.name ? -1 : 1))
      return list.length === 0 ? [] : [[collection, list.map(encodeIndexDefinition)] as const]
    })
  return Either.getOrThrow(encodeInline(Object.fromEntries(collections) as Json))
}
