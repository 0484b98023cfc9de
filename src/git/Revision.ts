/** One step from an object: to an ancestor, so many times back by the nth parent, or to an object of a type below. */
export type RevisionStep =
  | { readonly _tag: "Ancestor"; readonly back: number; readonly nth: number }
  | { readonly _tag: "Peel"; readonly type: "commit" | "tree" | "tag" | "blob" | "object" | "any" }

/** A revision as `git rev-parse` takes it: a name or an id, and steps from it (`main~2`, `v1^{}`, `HEAD^2`). */
export interface Revision {
  readonly name: string
  readonly steps: ReadonlyArray<RevisionStep>
}

const step = /~(\d{0,9})|\^(?:\{(commit|tree|tag|blob|object|)\}|(\d{0,9}))/y

/** No name is longer, and so many steps as a body can hold would be walked for seconds. */
const longest = 4096

/** Reads a revision; undefined where a step is not one of Git's, or where it has more than 4,096 characters. */
export const parseRevision = (text: string): Revision | undefined => {
  if (text.length > longest) return undefined
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

/** The commit that steps from a commit lead to; undefined where there is none. */
export const commitAfter = <Commit>(
  { steps }: Revision,
  from: Commit | undefined,
  parentOf: (commit: Commit, nth: number) => Commit | undefined
): Commit | undefined => {
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
