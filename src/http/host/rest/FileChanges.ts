import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { HostError } from "../reply/HostError.js"
import * as Links from "../reply/Links.js"
import * as GitCommand from "../repository/GitCommand.js"
import type { HostCall } from "../request/HostCall.js"

/** A path that differs between two trees, with GitHub's status and line counts. */
export interface FileChange {
  readonly status: "added" | "removed" | "modified" | "renamed" | "changed"
  readonly path: string
  readonly previous: string | undefined
  readonly blob: string
  readonly additions: number
  readonly deletions: number
}

const statuses: Readonly<Record<string, FileChange["status"]>> = {
  A: "added",
  D: "removed",
  M: "modified",
  R: "renamed",
  T: "changed"
}

/** The size above which patches are omitted. GitHub also omits large patches. */
const patchBytes = 4 * 1024 * 1024

const between = (before: Option.Option<Oid>, after: Oid) => [Option.getOrElse(before, () => emptyTree), after]

/** Lists all changed paths with their line counts. Renames are detected. */
export const list = (
  git: GitRepository,
  before: Option.Option<Oid>,
  after: Oid
): Effect.Effect<ReadonlyArray<FileChange>, HostError | RemoteError> =>
  Effect.map(
    GitCommand.text(
      git,
      ["diff-tree", "-r", "-z", "-M", "-l1000", "--raw", "--numstat", "--no-ext-diff"].concat(
        between(before, after)
      ),
      { maxBytes: 256 * 1024 * 1024 }
    ),
    (text) => parse(text.split("\0"))
  )

const parse = (fields: ReadonlyArray<string>): ReadonlyArray<FileChange> => {
  const raw: Array<{ status: string; from: string; to: string; old: string; new: string }> = []
  let at = 0
  while (fields[at]?.startsWith(":")) {
    const [, , old = "", next = "", status = ""] = fields[at]!.split(" ")
    const from = fields[at + 1]!
    const moved = /^[RC]/.test(status)
    raw.push({ status: status[0]!, from, to: moved ? fields[at + 2]! : from, old, new: next })
    at += moved ? 3 : 2
  }
  const counts = new Map<string, readonly [number, number]>()
  while (at < fields.length && fields[at] !== "") {
    const [added = "", deleted = "", ...names] = fields[at]!.split("\t")
    const path = names.join("\t")
    // For a rename, the two paths follow the counts as separate fields.
    const name = path === "" ? fields[at + 2]! : path
    counts.set(name, [Number(added) || 0, Number(deleted) || 0])
    at += path === "" ? 3 : 1
  }
  return raw.map((change) => {
    const [additions, deletions] = counts.get(change.to) ?? [0, 0]
    const status = statuses[change.status] ?? "changed"
    return {
      status,
      path: change.to,
      previous: status === "renamed" ? change.from : undefined,
      blob: status === "removed" ? change.old : change.new,
      additions,
      deletions
    }
  })
}

/** The hunks of each path without Git's headers; empty if they are too large or Git fails. */
const patches = (
  git: GitRepository,
  before: Option.Option<Oid>,
  after: Oid,
  files: ReadonlyArray<FileChange>
) => {
  const paths = files.flatMap(({ path, previous }) => (previous === undefined ? [path] : [previous, path]))
  return GitCommand.text(
    git,
    ["-c", "core.quotePath=false", "diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-color"]
      .concat(between(before, after))
      .concat("--", paths),
    { maxBytes: patchBytes }
  ).pipe(
    Effect.map((all) => {
      const found = `\n${all}`
        .split("\ndiff --git ")
        .slice(1)
        .map((text) => {
          const start = text.indexOf("\n@@ ")
          return start < 0 ? undefined : text.slice(start + 1).replace(/\n$/, "")
        })
      return found.length === files.length ? found : []
    }),
    Effect.orElseSucceed((): ReadonlyArray<string | undefined> => [])
  )
}

/** The representation of changed files with their patches. */
export const view = (
  call: HostCall,
  fullName: string,
  git: GitRepository,
  between: { readonly before: Option.Option<Oid>; readonly after: Oid; readonly ref: string },
  files: ReadonlyArray<FileChange>
) =>
  Effect.map(
    files.length === 0 ? Effect.succeed([]) : patches(git, between.before, between.after, files),
    (texts) =>
      files.map((file, index) => ({
        sha: file.blob,
        filename: file.path,
        status: file.status,
        additions: file.additions,
        deletions: file.deletions,
        changes: file.additions + file.deletions,
        blob_url: Links.html(call.links, fullName, "blob", between.ref, file.path),
        raw_url: Links.raw(call.links, fullName, between.ref, file.path),
        contents_url: Links.contents(call.links, fullName, file.path, between.ref),
        ...(texts[index] === undefined ? {} : { patch: texts[index] }),
        ...(file.previous === undefined ? {} : { previous_filename: file.previous })
      }))
  )
