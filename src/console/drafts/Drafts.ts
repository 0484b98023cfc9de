import * as Schema from "effect/Schema"
import type { StagedEdit } from "../../store/browse/StagedEdits.js"
import { draftKeys, notifyTabs } from "./DraftKeys.js"

const text = Schema.String

/** An edit that is stored in the browser until it is published. */
const Draft = Schema.Struct({
  collection: text,
  id: text,
  /** The version that the edit is based on, and its text; null for a new document. */
  base: Schema.NullOr(Schema.Struct({ sha: text, commit: text, text })),
  /** The edited text, valid or not; null deletes the document. */
  text: Schema.NullOr(text),
  /** The draft's text before the document was marked for deletion. */
  replaced: Schema.optional(text),
  settled: Schema.optional(
    Schema.Struct({
      against: text,
      theirs: Schema.Array(Schema.Array(Schema.Union(Schema.String, Schema.Number)))
    })
  ),
  /** Changes with every save. */
  stamp: text,
  /** The last stamp of each tab that saved the draft, as known by the last one. */
  tabs: Schema.optional(Schema.Record({ key: text, value: text }))
})
export type Draft = typeof Draft.Type

const decode = Schema.decodeUnknownOption(Schema.parseJson(Draft))

/** The storage key of a draft. */
export const draftKey = (drafts: string, { collection, id }: Pick<Draft, "collection" | "id">): string =>
  `${drafts}${JSON.stringify([collection, id])}`

/** A stored entry; `draft` is absent if it cannot be parsed. */
interface Stored {
  readonly draft?: Draft
  /** Another one with each change, also of what cannot be read. */
  readonly stamp: string
}

const stored = (drafts: string, key: string): Stored | undefined => {
  try {
    const raw = localStorage.getItem(key)
    if (raw === null) return undefined
    const found = decode(raw)
    return found._tag === "Some" && draftKey(drafts, found.value) === key
      ? { draft: found.value, stamp: found.value.stamp }
      : { stamp: `unreadable ${raw}` }
  } catch {
    return undefined
  }
}

export const read = (drafts: string, document: Pick<Draft, "collection" | "id">): Draft | undefined =>
  stored(drafts, draftKey(drafts, document))?.draft

/** The stamp of a stored entry, also of an unreadable one; undefined if there is none. */
export const stampOf = (drafts: string, document: Pick<Draft, "collection" | "id">): string | undefined =>
  stored(drafts, draftKey(drafts, document))?.stamp

/** All drafts, sorted by collection and id. */
export const list = (drafts: string): ReadonlyArray<Draft> =>
  draftKeys(drafts).flatMap((key) => stored(drafts, key)?.draft ?? [])

/** A stored draft that cannot be parsed. */
export interface UnreadableDraft {
  readonly key: string
  /** The collection and id in the key. */
  readonly name: string
  readonly stamp: string
}

const decodeDocumentKey = Schema.decodeUnknownOption(Schema.parseJson(Schema.Tuple(text, text)))

/** The drafts that cannot be parsed. */
export const listUnreadable = (drafts: string): ReadonlyArray<UnreadableDraft> =>
  draftKeys(drafts).flatMap((key) => {
    const found = stored(drafts, key)
    if (found === undefined || found.draft !== undefined) return []
    const documentPart = key.slice(drafts.length)
    const read = decodeDocumentKey(documentPart)
    return [{ key, name: read._tag === "Some" ? read.value.join("/") : documentPart, stamp: found.stamp }]
  })

/** The content of a draft; saving adds the stamps. */
export type DraftContent = Omit<Draft, "stamp" | "tabs">

/** `elsewhere`: another tab changed the draft; `full`: the browser's storage is full. */
export type SaveResult = { readonly draft: Draft } | "elsewhere" | "full"

const random = (words: number): string => crypto.getRandomValues(new Uint32Array(words)).join("-")

/** Identifies this tab while its page is loaded. */
const tab = random(2)

/** The maximum number of tabs stored in a draft. */
const maxTabs = 8

/**
 * Whether another tab saved `found` without having seen this tab's save. Each tab has a copy of the storage that is
 * updated later, so two tabs can both pass the stamp check when they save at the same moment.
 */
export const isOverwritten = (mine: Draft | undefined, found: Draft | undefined): boolean =>
  mine !== undefined &&
  found !== undefined &&
  mine.tabs?.[tab] === mine.stamp &&
  found.tabs?.[tab] !== mine.stamp

/** Saves a draft if its stored stamp is still `seen` (undefined: no draft was stored). */
export const save = (drafts: string, edit: DraftContent, seen: string | undefined): SaveResult => {
  const key = draftKey(drafts, edit)
  const before = stored(drafts, key)
  const stamp = random(4)
  const others = Object.entries(before?.draft?.tabs ?? {}).filter(([other]) => other !== tab)
  const tabs = Object.fromEntries([...others.slice(1 - maxTabs), [tab, stamp]])
  const draft: Draft = { ...edit, stamp, tabs }
  try {
    if (before?.stamp !== seen) return "elsewhere"
    localStorage.setItem(key, JSON.stringify(draft))
  } catch {
    return "full"
  }
  notifyTabs()
  return { draft }
}

/** Removes entries whose stamp has not changed, and returns whether none is left. */
const remove = (drafts: string, seen: ReadonlyArray<Pick<UnreadableDraft, "key" | "stamp">>): boolean => {
  const same = seen.filter(({ key, stamp }) => stored(drafts, key)?.stamp === stamp)
  for (const { key } of same) localStorage.removeItem(key)
  if (same.length > 0) notifyTabs()
  return seen.every(({ key }) => stored(drafts, key) === undefined)
}

/** Deletes drafts that no other tab has changed, and returns whether none is left. */
export const discard = (
  drafts: string,
  ...seen: ReadonlyArray<Pick<Draft, "collection" | "id" | "stamp">>
): boolean =>
  remove(
    drafts,
    seen.map(({ stamp, ...document }) => ({ key: draftKey(drafts, document), stamp }))
  )

/** Deletes an unreadable draft. */
export const discardUnreadable = (drafts: string, seen: UnreadableDraft): boolean => remove(drafts, [seen])

/** Converts a draft to the edit that is reviewed and published. */
export const toStagedEdit = ({ base, collection, id, settled, stamp, text }: Draft): StagedEdit => ({
  collection,
  id,
  base: base && { sha: base.sha, commit: base.commit },
  text,
  settled,
  stamp
})
