import { Effect, Option } from "effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import * as Api from "../../../store/remote/github/api/Commits.js"
import { HostError, notFound } from "../reply/HostError.js"
import * as Links from "../reply/Links.js"
import * as GitCommand from "../repository/GitCommand.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import * as Pagination from "../request/Pagination.js"
import * as Route from "../request/Route.js"
import * as CommitView from "./CommitView.js"
import * as FileChanges from "./FileChanges.js"
import * as PatchReply from "./PatchReply.js"

/** The maximum number of commits of a comparison, and of files, which are only on the first page. */
const mostCommits = 250
const mostFiles = 300

const revList = (git: GitRepository, ...args: ReadonlyArray<string>) =>
  Effect.map(GitCommand.text(git, ["rev-list", ...args, "--"]), (text) => text.trim())

/**
 * The commits from `to` back to `from`, excluding `from`, if none of them is a merge. Most comparisons are of this
 * kind and need no Git process. Undefined if there is a merge or there are too many commits.
 */
const straightLine = (git: GitRepository, from: Oid, to: Oid) =>
  Effect.gen(function* () {
    const line: Array<Oid> = []
    let at = to
    while (at !== from) {
      const info = yield* git.commit(at)
      if (Option.isNone(info) || info.value.parents.length !== 1 || line.length === mostCommits) {
        return undefined
      }
      line.push(at)
      at = info.value.parents[0]!
    }
    return line
  })

/** The merge base of two commits (none if there is none) and their distances from it. */
const relation = (git: GitRepository, from: Oid, to: Oid) =>
  Effect.gen(function* () {
    const ahead = yield* straightLine(git, from, to)
    if (ahead !== undefined) return { base: Option.some(from), ahead: ahead.length, behind: 0, newest: ahead }
    const behind = yield* straightLine(git, to, from)
    if (behind !== undefined) return { base: Option.some(to), ahead: 0, behind: behind.length, newest: [] }
    const base = Option.fromNullable((yield* git.mergeBases(from, to))[0])
    if (Option.isNone(base)) return { base, ahead: 0, behind: 0, newest: [] }
    const counts = yield* revList(git, "--left-right", "--count", `${from}...${to}`)
    const [left = 0, right = 0] = counts.split("\t").map(Number)
    return { base, ahead: right, behind: left, newest: undefined }
  })

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.compare, function* (call, { fullName, git }) {
    const basehead = call.parameters["basehead"] ?? ""
    const parts = basehead.split("...")
    if (parts.length !== 2) return yield* notFound
    // `OWNER:REF` names the same repository, because the host has no forks.
    const [baseName, headName] = parts.map((name) => name.slice(name.lastIndexOf(":") + 1)) as [
      string,
      string
    ]
    const base = yield* RevisionLookup.commitOf(git, baseName)
    const head = yield* RevisionLookup.commitOf(git, headName)
    if (Option.isNone(base) || Option.isNone(head)) return yield* notFound
    const [from, to] = [base.value.commit, head.value.commit]
    const { ahead, base: common, behind, newest } = yield* relation(git, from, to)
    const mergeBase = Option.isSome(common) ? yield* git.commit(common.value) : Option.none()
    if (Option.isNone(mergeBase)) {
      return yield* new HostError({
        status: 404,
        message: `No common ancestor between ${baseName} and ${headName}.`
      })
    }
    const before = Option.some(mergeBase.value.commit)
    if (PatchReply.isRequested(call)) {
      const text = PatchReply.reply(call, git, before, to, [`${from}..${to}`])
      return yield* ConditionalReply.cached(call, `compare ${from} ${to}`, text)
    }
    const paged = call.query.has("page") || call.query.has("per_page")
    const page = paged ? Pagination.requested(call) : { number: 1, size: mostCommits, skip: 0 }
    const changes = page.number === 1 ? yield* FileChanges.list(git, before, to) : []
    const [oldest, files] = yield* Effect.all(
      [
        // GitHub numbers pages from the oldest commit.
        commitsBetween(git, from, to, ahead, newest, page),
        FileChanges.view(call, fullName, git, { before, after: to, ref: to }, changes.slice(0, mostFiles))
      ],
      { concurrency: 2 }
    )
    const self = `${Links.repository(call.links, fullName)}/compare/${Links.encodePath(basehead)}`
    const html = Links.html(call.links, fullName, "compare", basehead)
    const view = (info: Parameters<typeof CommitView.commit>[2]) =>
      CommitView.commit(call.links, fullName, info)
    return ConditionalReply.json(
      call,
      {
        url: self,
        html_url: html,
        permalink_url: Links.html(call.links, fullName, "compare", `${from}...${to}`),
        diff_url: `${html}.diff`,
        patch_url: `${html}.patch`,
        base_commit: view(base.value),
        merge_base_commit: view(mergeBase.value),
        status: ahead > 0 ? (behind > 0 ? "diverged" : "ahead") : behind > 0 ? "behind" : "identical",
        ahead_by: ahead,
        behind_by: behind,
        total_commits: ahead,
        commits: oldest.map(view),
        files
      },
      Pagination.linkHeader(
        call,
        page,
        page.skip + page.size < ahead,
        Option.some(Math.max(1, Math.ceil(ahead / page.size)))
      )
    )
  })
]

/** One page of the commits between two commits, oldest first. `newest` has all of them if they are known. */
const commitsBetween = (
  git: GitRepository,
  from: Oid,
  to: Oid,
  count: number,
  newest: ReadonlyArray<Oid> | undefined,
  page: Pagination.Page
) =>
  Effect.gen(function* () {
    const end = count - page.skip
    const start = Math.max(0, end - page.size)
    if (end <= 0) return []
    const names =
      newest?.slice(start, end) ??
      (yield* revList(git, `--skip=${start}`, `--max-count=${end - start}`, to, `^${from}`)).split("\n")
    const newestLast = names.filter((name) => name !== "").reverse()
    const infos = yield* Effect.forEach(newestLast, (name) => git.commit(name as Oid))
    return infos.flatMap(Option.toArray)
  })
