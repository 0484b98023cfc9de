import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Steps from "../../../domain/concurrency/Steps.js"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import type { CommitInfo } from "../../Commit.js"
import { commitLog } from "../../CommitLog.js"
import { toIsoDate, withoutFinalNewline } from "../../GitObject.js"
import { mergeBases as mergeBasesOf } from "../../MergeBases.js"
import { segmentsOf } from "../../Names.js"
import { entryAt } from "../../TreeReading.js"
import { pathExists } from "../files/Directories.js"
import { attempt, MissingObject } from "../files/EngineError.js"
import { run, stream } from "../processes/GitExecution.js"
import { gitFailure } from "../processes/GitProcess.js"
import type { NativeReads } from "./NativeReads.js"
import type { ObjectDatabase } from "./ObjectDatabase.js"

const fields = ["%H", "%T", "%P", "%an", "%ae", "%at", "%cn", "%ce", "%ct", "%B"]

const commitOf = (values: ReadonlyArray<string>): CommitInfo => {
  const [
    oid = "",
    tree = "",
    parents = "",
    name = "",
    email = "",
    at = "",
    by = "",
    byEmail = "",
    byAt = "",
    body = ""
  ] = values
  return {
    commit: oid as Oid,
    tree: tree as Oid,
    parents: parents === "" ? [] : (parents.split(" ") as Array<Oid>),
    message: withoutFinalNewline(body),
    author: { name, email, date: toIsoDate(Number(at)) },
    committer: { name: by, email: byEmail, date: toIsoDate(Number(byAt)) }
  }
}

export interface LogOptions {
  readonly path?: string | undefined
  readonly limit?: number | undefined
  readonly skip?: number | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly author?: string | undefined
}

/** A history is walked in memory up to so many commits. */
const nativeSteps = 200

/** A walk in memory reads trees of up to so many bytes, because it does not pause while it compares commits. */
const nativeBytes = 1024 * 1024

/** A walk is too long, or the files do not have all of its objects. */
class NotNear extends Error {}

/** The log of a short history, walked in memory; undefined if Git has to do it. */
function* nearLog(
  objects: ObjectDatabase,
  directory: string,
  from: Oid,
  { author, limit = Number.POSITIVE_INFINITY, path = "", since, skip = 0, until }: LogOptions
): Steps.Steps<ReadonlyArray<CommitInfo> | undefined> {
  if (since !== undefined || until !== undefined || author !== undefined || path.endsWith("/"))
    return undefined
  // Git ends a shallow history at the commits that this file lists, also if it has their parents.
  if (pathExists(`${directory}/shallow`) || objects.namedCommit(from) === undefined) return undefined
  let steps = 0
  const find = (oid: Oid) => {
    const commit = ++steps > nativeSteps ? undefined : objects.commit(oid)
    if (commit === undefined) throw new NotNear()
    return commit
  }
  const read = new Set<Oid>()
  let bytes = 0
  const treeOf = (oid: Oid) => {
    if (bytes > nativeBytes) throw new NotNear()
    const tree = objects.tree(oid)
    if (!read.has(oid)) {
      read.add(oid)
      bytes += tree.weight
    }
    return tree
  }
  const entry = ({ tree }: CommitInfo) => {
    const found = entryAt((at, name) => treeOf(at).entryNamed(name), tree, path)
    return found === undefined || found.oid === emptyTree ? undefined : `${found.mode} ${found.oid}`
  }
  const age = ({ committer }: CommitInfo) => Date.parse(committer.date)
  const found: Array<CommitInfo> = []
  const end = Math.max(0, Math.floor(skip)) + Math.max(0, Math.floor(limit))
  if (end === 0) return found
  try {
    for (const commit of commitLog({ find, age, entry }, from, path !== "")) {
      found.push(commit)
      if (found.length >= end) break
      yield
    }
  } catch {
    // Git reports what is wrong with the objects, or reads them from elsewhere.
    return undefined
  }
  return found.slice(Math.max(0, Math.floor(skip)))
}

/** Walks a short history in memory, and runs `git log` for a longer one. It uses the changed-path filters of the commit-graph. */
export const log = (
  directory: string,
  objects: ObjectDatabase,
  native: NativeReads,
  from: Oid,
  options: LogOptions
): Stream.Stream<CommitInfo, RemoteError> =>
  Stream.unwrap(
    Effect.map(
      native.runSteps("GitRepository.log", () => nearLog(objects, directory, from, options)),
      (near) => (near === undefined ? stockLog(directory, from, options) : Stream.fromIterable(near))
    )
  )

const stockLog = (
  directory: string,
  from: Oid,
  options: LogOptions
): Stream.Stream<CommitInfo, RemoteError> =>
  Stream.suspend(() => {
    const path = options.path ?? ""
    // Git would read a path that no tree can have as a path of the file system.
    if (path.includes("\0") || segmentsOf(path.replace(/\/$/, "")) === undefined) return Stream.empty
    const decoder = new TextDecoder()
    let rest = ""
    let values: Array<string> = []
    const args = [
      "log",
      "-z",
      "--no-color",
      "--no-show-signature",
      "--no-ext-diff",
      "--no-textconv",
      "--no-renames",
      "--encoding=UTF-8",
      `--format=${fields.join("%x00")}`,
      ...(options.limit === undefined ? [] : [`--max-count=${Math.max(0, Math.floor(options.limit))}`]),
      ...(options.skip === undefined ? [] : [`--skip=${Math.max(0, Math.floor(options.skip))}`]),
      ...(options.since === undefined ? [] : [`--since=${options.since}`]),
      ...(options.until === undefined ? [] : [`--until=${options.until}`]),
      ...(options.author === undefined ? [] : ["--fixed-strings", `--author=${options.author}`]),
      from,
      "--",
      ...(path === "" ? [] : [path])
    ]
    return stream(directory, "GitRepository.log", args).pipe(
      Stream.mapChunks((chunk) => {
        const commits: Array<CommitInfo> = []
        for (const bytes of chunk) {
          const parts = (rest + decoder.decode(bytes, { stream: true })).split("\0")
          rest = parts.pop() ?? ""
          for (const part of parts) {
            values.push(part)
            if (values.length === fields.length) {
              commits.push(commitOf(values))
              values = []
            }
          }
        }
        return Chunk.unsafeFromArray(commits)
      })
    )
  })

/** Whether a commit is an ancestor of another one, by a short walk in memory; undefined if the walk is too long. */
const isNearAncestor = (objects: ObjectDatabase, ancestor: Oid, descendant: Oid): boolean | undefined => {
  if (objects.commit(ancestor) === undefined || objects.commit(descendant) === undefined) return false
  let level: Array<Oid> = [descendant]
  const seen = new Set<Oid>(level)
  for (let steps = 0; level.length > 0; ) {
    const next: Array<Oid> = []
    for (const oid of level) {
      if (oid === ancestor) return true
      if (++steps > nativeSteps) return undefined
      const commit = objects.commit(oid)
      if (commit === undefined) return undefined
      for (const parent of commit.parents) {
        if (!seen.has(parent)) {
          seen.add(parent)
          next.push(parent)
        }
      }
    }
    level = next
  }
  return false
}

/** Whether a commit is an ancestor of another one: a short walk in memory, and `git merge-base` if that is not enough. */
export const isAncestor = (
  directory: string,
  objects: ObjectDatabase,
  ancestor: Oid,
  descendant: Oid
): Effect.Effect<boolean, RemoteError> => {
  const operation = "GitRepository.isAncestor"
  return Effect.flatMap(
    attempt(operation, directory, () => isNearAncestor(objects, ancestor, descendant)),
    (known) =>
      known !== undefined
        ? Effect.succeed(known)
        : Effect.flatMap(
            run(directory, operation, ["merge-base", "--is-ancestor", ancestor, descendant]),
            ({ code, stderr }) =>
              code <= 1
                ? Effect.succeed(code === 0)
                : Effect.fail(gitFailure(directory, operation, code, stderr))
          )
  )
}

/** The best common ancestors of two commits. */
export const mergeBases = (
  native: NativeReads,
  objects: ObjectDatabase,
  a: Oid,
  b: Oid
): Effect.Effect<ReadonlyArray<Oid>, RemoteError> =>
  native.runSteps("GitRepository.mergeBases", () =>
    mergeBasesOf(
      (oid) => {
        const commit = objects.commit(oid)
        return commit && { parents: commit.parents, date: Date.parse(commit.committer.date) }
      },
      (oid) => new MissingObject(oid),
      a,
      b
    )
  )
