import type { Oid } from "../../domain/Oid.js"
import { isRefName } from "../Names.js"
import { commitAfter, parseRevision } from "../Revision.js"
import { MissingObject } from "./Fault.js"
import type { ObjectDatabase } from "./ObjectDatabase.js"
import type { RefStore } from "./RefStore.js"

/**
 * The commit, tree or blob that an id, its beginning, a branch, a tag or a whole ref name stands for; tags are
 * followed, and so are steps to an earlier commit.
 */
export const revisionOf = (objects: ObjectDatabase, refs: RefStore, text: string): Oid | undefined => {
  const revision = parseRevision(text)
  if (revision === undefined) return undefined
  const named = objectNamed(objects, refs, revision.name)
  if (revision.steps.length === 0 || named === undefined) return named
  const found = commitAfter(revision, objects.commit(named), ({ parents }, nth) => {
    const parent = parents[nth - 1]
    return parent === undefined ? undefined : objects.commit(parent)
  })
  return found?.commit
}

const objectNamed = (objects: ObjectDatabase, refs: RefStore, revision: string): Oid | undefined => {
  const id = revision.toLowerCase()
  if (/^[0-9a-f]{40}$/.test(id)) return objects.peel(id as Oid)
  if (!isRefName(revision)) return undefined
  const names =
    revision === "HEAD"
      ? ["HEAD"]
      : revision.startsWith("refs/")
        ? [revision]
        : [`refs/heads/${revision}`, `refs/tags/${revision}`, `refs/${revision}`]
  for (const name of names) {
    const oid = refs.read(name)
    if (oid === undefined) continue
    const found = objects.peel(oid)
    if (found === undefined) throw new MissingObject(oid)
    return found
  }
  if (!/^[0-9a-f]{4,39}$/.test(id)) return undefined
  const found = objects.startingWith(id)
  if (found.length === 1) return objects.peel(found[0]!)
  const commits = found.filter((oid) => objects.info(oid)?.type === "commit")
  return commits.length === 1 ? commits[0] : undefined
}
