import type { Oid } from "../../domain/Oid.js"
import { isRefName } from "../GitName.js"
import { MissingObject } from "./Fault.js"
import type { ObjectDatabase } from "./ObjectDatabase.js"
import type { RefStore } from "./RefStore.js"

/** The commit, tree or blob that an id, its beginning, a branch, a tag or a whole ref name stands for; tags are followed. */
export const revisionOf = (objects: ObjectDatabase, refs: RefStore, revision: string): Oid | undefined => {
  if (/^[0-9a-f]{40}$/.test(revision)) return objects.peel(revision as Oid)
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
  if (!/^[0-9a-f]{4,39}$/.test(revision)) return undefined
  const found = objects.startingWith(revision)
  if (found.length === 1) return objects.peel(found[0]!)
  const commits = found.filter((oid) => objects.info(oid)?.type === "commit")
  return commits.length === 1 ? commits[0] : undefined
}
