import * as Either from "effect/Either"
import type { DerivedFormat, Settings } from "../../../domain/settings/Settings.js"
import { parseSettings, printSettings } from "../../../domain/settings/Settings.js"
import type { RecordedSettings } from "../snapshot/RepositorySettings.js"

/** The contents of a settings file: one text for each independently changeable setting. */
export type SettingValues = ReadonlyMap<string, string>

/** A value that equals no other one: for conflicts between merge bases. */
export const noSetting = "\0"

/** The values of settings; empty if a repository has no settings file. */
export const valuesOf = ({ recorded, settings }: RecordedSettings): SettingValues => {
  const values = new Map<string, string>()
  if (!recorded) return values
  const file = JSON.parse(new TextDecoder().decode(printSettings(settings))) as {
    readonly indexes: Readonly<Record<string, ReadonlyArray<unknown>>>
    readonly manifests: Readonly<Record<string, unknown>>
    readonly merge?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }
  const { shardBy, shardDepth, shardWidth } = settings
  values.set("layout", JSON.stringify({ shardBy, shardDepth, shardWidth }))
  values.set("format", JSON.stringify(settings.format))
  for (const [collection, list] of settings.indexes) {
    for (const [at, { name }] of list.entries()) {
      values.set(`index ${collection} ${name}`, JSON.stringify(file.indexes[collection]![at]))
    }
  }
  for (const collection of settings.manifests.keys()) {
    values.set(`manifest ${collection}`, JSON.stringify(file.manifests[collection]))
  }
  for (const [collection, fields] of Object.entries(file.merge ?? {})) {
    for (const [path, rule] of Object.entries(fields)) {
      values.set(`merge ${collection} ${path}`, JSON.stringify(rule))
    }
  }
  return values
}

/** The settings with these values, or why they cannot be combined. */
export const settingsOf = (values: SettingValues): Either.Either<Settings, string> => {
  const indexes: Record<string, Array<unknown>> = Object.create(null)
  const manifests: Record<string, unknown> = Object.create(null)
  const merge: Record<string, Record<string, unknown>> = Object.create(null)
  for (const [key, value] of values) {
    const [kind, collection = "", ...path] = key.split(" ")
    if (kind === "index") indexes[collection] = [...(indexes[collection] ?? []), JSON.parse(value)]
    if (kind === "manifest") manifests[collection] = JSON.parse(value)
    if (kind === "merge") {
      merge[collection] = { ...merge[collection], [path.join(" ")]: JSON.parse(value) }
    }
  }
  const layout = JSON.parse(values.get("layout") ?? "{}") as object
  const format = JSON.parse(values.get("format") ?? "1") as DerivedFormat
  const file = new TextEncoder().encode(JSON.stringify({ format, ...layout, indexes, manifests, merge }))
  return Either.map(parseSettings(file), ({ settings }) => settings)
}

/** A setting that both sides changed differently. */
export interface SettingConflict {
  readonly name: string
  readonly base: string | undefined
  readonly ours: string | undefined
  readonly theirs: string | undefined
}

/** Merges settings; conflicts keep our value. */
export const mergeSettings = (
  base: SettingValues,
  ours: SettingValues,
  theirs: SettingValues
): { readonly values: Map<string, string>; readonly conflicts: ReadonlyArray<SettingConflict> } => {
  const values = new Map<string, string>()
  const conflicts: Array<SettingConflict> = []
  for (const name of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const [before, left, right] = [base.get(name), ours.get(name), theirs.get(name)]
    if (left !== right && before !== left && before !== right) {
      conflicts.push({ name, base: before === noSetting ? undefined : before, ours: left, theirs: right })
    }
    const value = before === left ? right : left
    if (value !== undefined) values.set(name, value)
  }
  return { values, conflicts }
}

const namesOf = <A>(map: ReadonlyMap<string, A>): Iterable<string> => map.keys()

/** The collections whose indexes or manifests differ between two settings. */
export const collectionsChanged = (before: SettingValues, after: SettingValues): ReadonlyArray<string> => {
  const changed = new Set<string>()
  for (const name of new Set([...namesOf(before), ...namesOf(after)])) {
    const [kind, collection] = name.split(" ")
    if (kind === "index" || kind === "manifest") {
      if (before.get(name) !== after.get(name)) changed.add(collection!)
    }
  }
  return [...changed].sort()
}

/** The indexes and manifests that the first settings have and the second ones do not. */
export const removedDerived = (
  before: Settings,
  after: Settings
): Pick<Settings, "indexes" | "manifests"> => ({
  indexes: new Map(
    [...before.indexes].flatMap(([collection, list]) => {
      const kept = new Set((after.indexes.get(collection) ?? []).map(({ name }) => name))
      const gone = list.filter(({ name }) => !kept.has(name))
      return gone.length === 0 ? [] : [[collection, gone] as const]
    })
  ),
  manifests: new Map([...before.manifests].filter(([collection]) => !after.manifests.has(collection)))
})

/** The merge rules without conflicts, which do not depend on which side is ours. */
export const rulesAgreed = (
  base: SettingValues,
  ours: SettingValues,
  theirs: SettingValues
): Settings["merge"] => {
  const { conflicts, values } = mergeSettings(base, ours, theirs)
  for (const { name } of conflicts) values.delete(name)
  const rules = new Map([...values].filter(([name]) => name.startsWith("merge ")))
  return Either.match(settingsOf(rules), { onLeft: () => new Map(), onRight: ({ merge }) => merge })
}
