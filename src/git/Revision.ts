import type { Oid } from "../domain/identifiers/Oid.js"
import { isRefName } from "./Names.js"

/** A suffix of a revision: `Ancestor` follows the nth parent `back` times, `Peel` dereferences to an object of a type. */
export type RevisionStep =
  | { readonly _tag: "Ancestor"; readonly back: number; readonly nth: number }
  | { readonly _tag: "Peel"; readonly type: "commit" | "tree" | "tag" | "blob" | "object" | "any" }

/** A revision in the syntax of `git rev-parse`: a name or an id, and suffixes (`main~2`, `v1^{}`, `HEAD^2`). */
export interface Revision {
  readonly name: string
  readonly steps: ReadonlyArray<RevisionStep>
}

const step = /~(\d{0,9})|\^(?:\{(commit|tree|tag|blob|object|)\}|(\d{0,9}))/y

/** The largest length of a revision. The steps of a longer one could take seconds. */
const maxLength = 4096

/** Parses a revision; undefined if a suffix is not valid or the text has more than 4,096 characters. */
export const parseRevision = (text: string): Revision | undefined => {
  if (text.length > maxLength) return undefined
  const first = text.search(/[~^]|$/)
  const steps: Array<RevisionStep> = []
  for (let next = first; next < text.length; ) {
    step.lastIndex = next
    const found = step.exec(text)
    if (found === null) return undefined
    next = step.lastIndex
    const [, generations, type, parent] = found
    if (type !== undefined) {
      steps.push({ _tag: "Peel", type: type === "" ? "any" : (type as "commit") })
    } else if (generations !== undefined) {
      steps.push({ _tag: "Ancestor", back: Number(generations || 1), nth: 1 })
    } else {
      const nth = Number(parent || 1)
      steps.push({ _tag: "Ancestor", back: nth === 0 ? 0 : 1, nth })
    }
  }
  return { name: text.slice(0, first), steps }
}

/** Follows the suffixes of a revision from a commit; undefined if there is no such commit. */
const commitAfter = (
  { steps }: Revision,
  from: Oid | undefined,
  parentOf: (commit: Oid, nth: number) => Oid | undefined
): Oid | undefined => {
  let at = from
  for (const one of steps) {
    if (one._tag === "Peel") {
      if (one.type !== "any" && one.type !== "commit" && one.type !== "object") return undefined
      continue
    }
    for (let left = one.back; left > 0 && at !== undefined; left--) at = parentOf(at, one.nth)
  }
  return at
}

/** The refs and objects against which a revision is resolved. */
export interface RevisionSource {
  /** The object that a ref points to, by the ref's full name or `HEAD`. Annotated tags are peeled. */
  readonly ref: (name: string) => Oid | undefined
  /** Peels an object; undefined if it does not exist. */
  readonly peel: (oid: Oid) => Oid | undefined
  /** The ids that begin with `digits`. */
  readonly startingWith: (digits: string) => ReadonlyArray<Oid>
  /** The parents of a commit; undefined for anything else. */
  readonly parents: (oid: Oid) => ReadonlyArray<Oid> | undefined
}

/**
 * Resolves a full or abbreviated id, a branch, a tag or a full ref name, with suffixes, to a commit, tree or blob. Tags are
 * peeled.
 */
export const resolveRevision = (source: RevisionSource, text: string): Oid | undefined => {
  const revision = parseRevision(text)
  if (revision === undefined) return undefined
  const named = objectNamed(source, revision.name)
  if (revision.steps.length === 0 || named === undefined) return named
  const commit = (oid: Oid | undefined) =>
    oid === undefined || source.parents(oid) === undefined ? undefined : oid
  return commitAfter(revision, commit(named), (oid, nth) => commit(source.parents(oid)?.[nth - 1]))
}

const objectNamed = (source: RevisionSource, name: string): Oid | undefined => {
  const id = name.toLowerCase()
  if (/^[0-9a-f]{40}$/.test(id)) return source.peel(id as Oid)
  if (!isRefName(name)) return undefined
  const names =
    name === "HEAD" || name.startsWith("refs/")
      ? [name]
      : [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`]
  for (const ref of names) {
    const oid = source.ref(ref)
    if (oid !== undefined) return oid
  }
  if (!/^[0-9a-f]{4,39}$/.test(id)) return undefined
  const found = source.startingWith(id)
  if (found.length === 1) return source.peel(found[0]!)
  const commits = found.filter((oid) => source.parents(oid) !== undefined)
  return commits.length === 1 ? commits[0] : undefined
}
