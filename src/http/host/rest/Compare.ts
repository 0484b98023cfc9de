import { Effect, Option } from "effect"
import type { Oid } from "../../../domain/Oid.js"
import type { GitRepository } from "../../../git/disk/GitRepository.js"
import * as Api from "../../../store/remote/github/api/Commits.js"
import * as Links from "../reply/Links.js"
import { notFound, Problem } from "../reply/Problem.js"
import * as Git from "../repository/Git.js"
import * as Programs from "../repository/Programs.js"
import * as Revision from "../repository/Revision.js"
import * as Conditional from "../request/Conditional.js"
import * as Pages from "../request/Pages.js"
import * as Route from "../request/Route.js"
import * as CommitView from "./CommitView.js"
import * as Differ from "./Differ.js"
import * as Patches from "./Patches.js"

/** How many commits, and how many files (on the first page alone), a comparison shows. */
const mostCommits = 250
const mostFiles = 300

const revList = (git: GitRepository, ...args: ReadonlyArray<string>) =>
  Effect.map(Git.text(git, ["rev-list", ...args, "--"]), (text) => text.trim())

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.compare, function* (call, { fullName, git }) {
    const basehead = call.parameters["basehead"] ?? ""
    const parts = basehead.split("...")
    if (parts.length !== 2) return yield* notFound
    // `OWNER:REF` names the same repository here: there are no forks.
    const [baseName, headName] = parts.map((name) => name.slice(name.lastIndexOf(":") + 1)) as [
      string,
      string
    ]
    const base = yield* Revision.commitOf(git, baseName)
    const head = yield* Revision.commitOf(git, headName)
    if (Option.isNone(base) || Option.isNone(head)) return yield* notFound
    const [from, to] = [base.value.commit, head.value.commit]
    const merge = yield* Programs.history(git.mergeBase(from, to))
    const mergeBase = Option.isSome(merge) ? yield* git.commit(merge.value) : Option.none()
    if (Option.isNone(mergeBase)) {
      return yield* new Problem({
        status: 404,
        message: `No common ancestor between ${baseName} and ${headName}.`
      })
    }
    const before = Option.some(mergeBase.value.commit)
    if (Patches.isAsked(call)) {
      const text = Patches.reply(call, git, before, to, [`${mergeBase.value.commit}..${to}`])
      return yield* Conditional.keyed(call, `compare ${from} ${to}`, text)
    }
    const paged = call.query.has("page") || call.query.has("per_page")
    const page = paged ? Pages.asked(call) : { number: 1, size: mostCommits, skip: 0 }
    const [counts, changes] = yield* Effect.all(
      [
        revList(git, "--left-right", "--count", `${from}...${to}`),
        page.number === 1 ? Differ.changes(git, before, to) : Effect.succeed([])
      ],
      { concurrency: 2 }
    )
    const [behind = 0, ahead = 0] = counts.split("\t").map(Number)
    const [oldest, files] = yield* Effect.all(
      [
        // GitHub counts the pages from the oldest commit.
        commitsBetween(git, from, to, ahead, page),
        Differ.view(call, fullName, git, { before, after: to, ref: to }, changes.slice(0, mostFiles))
      ],
      { concurrency: 2 }
    )
    const self = `${Links.repository(call.links, fullName)}/compare/${Links.encodePath(basehead)}`
    const html = Links.html(call.links, fullName, "compare", basehead)
    const view = (info: Parameters<typeof CommitView.commit>[2]) =>
      CommitView.commit(call.links, fullName, info)
    return Conditional.json(
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
      Pages.links(
        call,
        page,
        page.skip + page.size < ahead,
        Option.some(Math.max(1, Math.ceil(ahead / page.size)))
      )
    )
  })
]

const commitsBetween = (git: GitRepository, from: Oid, to: Oid, count: number, page: Pages.Page) =>
  Effect.gen(function* () {
    const end = count - page.skip
    const start = Math.max(0, end - page.size)
    if (end <= 0) return []
    const names = (yield* revList(
      git,
      `--skip=${start}`,
      `--max-count=${end - start}`,
      to,
      `^${from}`
    )).split("\n")
    const newestLast = names.filter((name) => name !== "").reverse()
    const infos = yield* Effect.forEach(newestLast, (name) => git.commit(name as Oid))
    return infos.flatMap(Option.toArray)
  })
