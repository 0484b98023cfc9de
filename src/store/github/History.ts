import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Oid } from "../../domain/Oid.js"
import type { RemoteError } from "../../domain/StoreError.js"
import { compareNames } from "../GitObject.js"
import type { CommitInfo, Head, PathChange, TreeEntry } from "../GitRemote.js"
import * as Api from "./Api.js"
import { isMissing } from "./ApiFailure.js"
import type { CallFailure, Client } from "./Client.js"
import type { Listing } from "./Listing.js"
import { patiently } from "./Retry.js"
import type { Trees } from "./Trees.js"

const perPage = 100

const person = (given: Api.Commit["commit"]["author"]) => ({
  name: given?.name ?? "",
  email: given?.email ?? "",
  date: given?.date ?? ""
})

/** A commit as an object, as the port tells it. */
export const toCommitInfo = (found: typeof Api.getGitCommit.reply.Type): CommitInfo => ({
  commit: found.sha,
  tree: found.tree.sha,
  parents: found.parents.map((parent) => parent.sha),
  message: found.message.trimEnd(),
  author: found.author,
  committer: found.committer,
  url: found.html_url
})

/**
 * Commits as the port tells them, page by page, from one that `exists` for sure or perhaps. The host's `Link` is never
 * followed: it may lead elsewhere.
 */
export const makeLog =
  (client: Client) =>
  (at: Oid, path: string, limit: number, exists: boolean): Stream.Stream<CommitInfo, CallFailure> =>
    Stream.paginateChunkEffect(1, (page) =>
      patiently(
        client.call(Api.listCommits, {
          path: {},
          query: {
            sha: at,
            path: path === "" ? undefined : path,
            per_page: Math.min(perPage, limit),
            page: page === 1 ? undefined : page
          }
        }),
        (error) => exists && isMissing(error)
      ).pipe(
        Effect.map((reply) => {
          const commits = Option.getOrElse(reply.value, () => [])
          const link = reply.headers["link"]
          const more =
            page * perPage < limit &&
            (link === undefined ? commits.length === perPage : /rel="next"/.test(link))
          const infos = commits.map(
            ({ commit, html_url, parents, sha }): CommitInfo => ({
              commit: sha,
              tree: commit.tree.sha,
              parents: parents.map((parent) => parent.sha),
              message: commit.message.trimEnd(),
              author: person(commit.author),
              committer: person(commit.committer),
              url: html_url
            })
          )
          return [Chunk.fromIterable(infos), more ? Option.some(page + 1) : Option.none()] as const
        })
      )
    ).pipe((all) => (limit === Number.POSITIVE_INFINITY ? all : Stream.take(all, limit)))

const same = (a: TreeEntry | undefined, b: TreeEntry | undefined) =>
  a?.oid === b?.oid && a?.path === b?.path && a?.kind === b?.kind

/** What is left of two lists without the entries that are the same at their beginnings and at their ends. */
const middles = (left: ReadonlyArray<TreeEntry>, right: ReadonlyArray<TreeEntry>) => {
  const most = Math.min(left.length, right.length)
  let from = 0
  while (from < most && same(left[from], right[from])) from++
  let end = 0
  while (end < most - from && same(left.at(-1 - end), right.at(-1 - end))) end++
  return [left.slice(from, left.length - end), right.slice(from, right.length - end)] as const
}

/** Every file that differs between two listings; directories that are the same tree are not looked into. */
const differences = (left: Listing | undefined, right: Listing | undefined): Array<PathChange> => {
  const found: Array<PathChange> = []
  const visit = (directory: string, isLeft: boolean, isRight: boolean) => {
    const [before, after] = middles(
      (isLeft ? left?.directories.get(directory) : undefined) ?? [],
      (isRight ? right?.directories.get(directory) : undefined) ?? []
    )
    const byName = new Map(after.map((entry) => [entry.path, entry]))
    const compare = (name: string, was: TreeEntry | undefined, is: TreeEntry | undefined) => {
      if (was?.oid === is?.oid && was?.kind === is?.kind) return
      const path = directory === "" ? name : `${directory}/${name}`
      const fileOf = (entry: TreeEntry | undefined) =>
        entry === undefined || entry.kind === "tree" ? Option.none() : Option.some(entry.oid)
      const change: PathChange = { path, before: fileOf(was), after: fileOf(is) }
      if (Option.isSome(change.before) || Option.isSome(change.after)) found.push(change)
      if (was?.kind === "tree" || is?.kind === "tree") visit(path, was?.kind === "tree", is?.kind === "tree")
    }
    for (const entry of before) {
      compare(entry.path, entry, byName.get(entry.path))
      byName.delete(entry.path)
    }
    for (const [name, entry] of byName) compare(name, undefined, entry)
  }
  visit("", left !== undefined, right !== undefined)
  return found
}

/**
 * Every path whose blob differs, from two whole listings: a commit's own list of files ends at 3,000. Below a
 * directory alone, only that directory is listed.
 */
export const makeDiff =
  (trees: Trees) =>
  (
    before: Option.Option<Head | Oid>,
    after: Head | Oid,
    under: string
  ): Effect.Effect<ReadonlyArray<PathChange>, CallFailure | RemoteError> => {
    const listed = (at: Option.Option<Head | Oid>) =>
      Option.isNone(at)
        ? Effect.succeed(undefined)
        : Effect.map(trees.list(at.value, under, true), Option.getOrUndefined)
    return Effect.map(Effect.all([listed(before), listed(Option.some(after))]), ([left, right]) =>
      differences(left, right)
        .map((change) => (under === "" ? change : { ...change, path: `${under}/${change.path}` }))
        .sort((a, b) => compareNames(a.path, b.path))
    )
  }
