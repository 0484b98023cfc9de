import * as Schema from "effect/Schema"
import type { StagedEdit } from "../../store/browse/StagedEdits.js"

const text = Schema.String

/** An edit that lies in the browser's storage until it is published. */
const Draft = Schema.Struct({
  collection: text,
  id: text,
  /** The version that the edit began with, and its text; null where there was no document. */
  base: Schema.NullOr(Schema.Struct({ sha: text, commit: text, text })),
  /** The document as it is to be, valid or not; null deletes it. */
  text: Schema.NullOr(text),
  settled: Schema.optional(
    Schema.Struct({
      against: text,
      theirs: Schema.Array(Schema.Array(Schema.Union(Schema.String, Schema.Number)))
    })
  ),
  /** Another one with each change. */
  stamp: text
})
export type Draft = typeof Draft.Type

const decode = Schema.decodeUnknownOption(Schema.parseJson(Draft))

/** Where a draft lies, of the drafts that `draftsOf` names. */
export const keyOf = (drafts: string, { collection, id }: Pick<Draft, "collection" | "id">): string =>
  `${drafts}${JSON.stringify([collection, id])}`

/** The other tabs hear of a change from the browser, and this one from us. */
const tell = () => dispatchEvent(new Event("storage"))

const stored = (key: string): Draft | undefined => {
  try {
    const found = decode(localStorage.getItem(key))
    return found._tag === "Some" ? found.value : undefined
  } catch {
    return undefined
  }
}

export const read = (drafts: string, place: Pick<Draft, "collection" | "id">): Draft | undefined =>
  stored(keyOf(drafts, place))

/** All drafts, by collection and id. */
export const list = (drafts: string): ReadonlyArray<Draft> => {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(drafts))
      .sort()
      .flatMap((key) => stored(key) ?? [])
  } catch {
    return []
  }
}

/** `elsewhere`: another tab has changed the draft since; `full`: the browser did not take it. */
export type Saved = { readonly draft: Draft } | "elsewhere" | "full"

/** Keeps a draft, unless another tab has changed it since it had the stamp that was `seen`; none: since there was none. */
export const save = (drafts: string, edit: Omit<Draft, "stamp">, seen: string | undefined): Saved => {
  const key = keyOf(drafts, edit)
  const draft: Draft = { ...edit, stamp: crypto.getRandomValues(new Uint32Array(4)).join("-") }
  try {
    if (stored(key)?.stamp !== seen) return "elsewhere"
    localStorage.setItem(key, JSON.stringify(draft))
  } catch {
    return "full"
  }
  tell()
  return { draft }
}

/** Forgets a draft, unless another tab has changed it since. */
export const discard = (
  drafts: string,
  { stamp, ...place }: Pick<Draft, "collection" | "id" | "stamp">
): void => {
  const key = keyOf(drafts, place)
  if (stored(key)?.stamp !== stamp) return
  localStorage.removeItem(key)
  tell()
}

/** A draft as it is reviewed and published. */
export const editOf = ({ base, collection, id, settled, stamp, text }: Draft): StagedEdit => ({
  collection,
  id,
  base: base && { sha: base.sha, commit: base.commit },
  text,
  settled,
  stamp
})
