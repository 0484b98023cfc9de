import * as Schema from "effect/Schema"
import type { StagedEdit } from "../../store/browse/StagedEdits.js"
import { draftKeys, notifyTabs } from "./DraftKeys.js"

const text = Schema.String

/** An edit that lies in the browser's storage until it is published. */
const Draft = Schema.Struct({
  collection: text,
  id: text,
  /** The version that the edit began with, and its text; null where there was no document. */
  base: Schema.NullOr(Schema.Struct({ sha: text, commit: text, text })),
  /** The document as it is to be, valid or not; null deletes it. */
  text: Schema.NullOr(text),
  /** Of a deletion: the text of the draft that it took the place of. */
  replaced: Schema.optional(text),
  settled: Schema.optional(
    Schema.Struct({
      against: text,
      theirs: Schema.Array(Schema.Array(Schema.Union(Schema.String, Schema.Number)))
    })
  ),
  /** Another one with each change. */
  stamp: text,
  /** The stamps of the last change by each of the tabs that changed it last, as whoever saved it knew them. */
  tabs: Schema.optional(Schema.Record({ key: text, value: text }))
})
export type Draft = typeof Draft.Type

const decode = Schema.decodeUnknownOption(Schema.parseJson(Draft))

/** Where a draft lies, of the drafts that `draftsOf` names. */
export const draftKey = (drafts: string, { collection, id }: Pick<Draft, "collection" | "id">): string =>
  `${drafts}${JSON.stringify([collection, id])}`

/** What lies at a key; without a draft where it cannot be read as one. */
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

/** The stamp of what lies in a draft's place, also where that cannot be read; undefined where there is nothing. */
export const stampOf = (drafts: string, document: Pick<Draft, "collection" | "id">): string | undefined =>
  stored(drafts, draftKey(drafts, document))?.stamp

/** All drafts, by collection and id. */
export const list = (drafts: string): ReadonlyArray<Draft> =>
  draftKeys(drafts).flatMap((key) => stored(drafts, key)?.draft ?? [])

/** What lies where a draft should, and cannot be read as one. */
export interface UnreadableDraft {
  readonly key: string
  /** The document that the key names. */
  readonly name: string
  readonly stamp: string
}

const decodeDocumentKey = Schema.decodeUnknownOption(Schema.parseJson(Schema.Tuple(text, text)))

/** What counts as a draft and is none. */
export const listUnreadable = (drafts: string): ReadonlyArray<UnreadableDraft> =>
  draftKeys(drafts).flatMap((key) => {
    const found = stored(drafts, key)
    if (found === undefined || found.draft !== undefined) return []
    const documentPart = key.slice(drafts.length)
    const read = decodeDocumentKey(documentPart)
    return [{ key, name: read._tag === "Some" ? read.value.join("/") : documentPart, stamp: found.stamp }]
  })

/** What is saved of a draft; the rest is made. */
export type DraftContent = Omit<Draft, "stamp" | "tabs">

/** `elsewhere`: another tab has changed the draft since; `full`: the browser did not take it. */
export type SaveResult = { readonly draft: Draft } | "elsewhere" | "full"

const random = (words: number): string => crypto.getRandomValues(new Uint32Array(words)).join("-")

/** Stands for this tab, as long as its page is shown. */
const tab = random(2)

/** How many tabs a draft remembers. */
const maxTabs = 8

/**
 * Whether a draft was saved by this tab, and another one has saved `found` without having seen that. Each tab reads a copy of
 * the storage, which hears of the others later: of two that save in the same moment, both find what they have seen.
 */
export const isOverwritten = (mine: Draft | undefined, found: Draft | undefined): boolean =>
  mine !== undefined &&
  found !== undefined &&
  mine.tabs?.[tab] === mine.stamp &&
  found.tabs?.[tab] !== mine.stamp

/** Keeps a draft, unless another tab has changed it since it had the stamp that was `seen`; none: since there was none. */
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

/** Removes what still has the stamp that was seen, and tells whether nothing is left. */
const remove = (drafts: string, seen: ReadonlyArray<Pick<UnreadableDraft, "key" | "stamp">>): boolean => {
  const same = seen.filter(({ key, stamp }) => stored(drafts, key)?.stamp === stamp)
  for (const { key } of same) localStorage.removeItem(key)
  if (same.length > 0) notifyTabs()
  return seen.every(({ key }) => stored(drafts, key) === undefined)
}

/** Forgets drafts, unless another tab has changed them since; tells whether none of them is left. */
export const discard = (
  drafts: string,
  ...seen: ReadonlyArray<Pick<Draft, "collection" | "id" | "stamp">>
): boolean =>
  remove(
    drafts,
    seen.map(({ stamp, ...document }) => ({ key: draftKey(drafts, document), stamp }))
  )

/** Forgets what cannot be read. */
export const discardUnreadable = (drafts: string, seen: UnreadableDraft): boolean => remove(drafts, [seen])

/** A draft as it is reviewed and published. */
export const toStagedEdit = ({ base, collection, id, settled, stamp, text }: Draft): StagedEdit => ({
  collection,
  id,
  base: base && { sha: base.sha, commit: base.commit },
  text,
  settled,
  stamp
})
