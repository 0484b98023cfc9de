import { Effect } from "effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import * as GitCommand from "../repository/GitCommand.js"
import { seconds } from "./RepositoryView.js"

/** A filter of commits. An empty path means all paths. */
export interface CommitFilter {
  readonly path: string
  readonly since: string | undefined
  readonly until: string | undefined
  readonly author: string | undefined
}

/** The last second of 2099, which is Git's maximum date. */
const latest = 4_102_444_799_000

/** Formats a time in milliseconds as a date for Git. */
export const gitDate = (millis: number): string =>
  seconds(new Date(Math.max(0, Math.min(millis, latest))).toISOString())

/** Counts the commits that are reachable from `from`, including itself. */
export const countCommits = (git: GitRepository, from: Oid, { author, path, since, until }: CommitFilter) =>
  Effect.map(
    GitCommand.text(
      git,
      ["rev-list", "--count"].concat(
        since === undefined ? [] : [`--since=${since}`],
        until === undefined ? [] : [`--until=${until}`],
        author === undefined ? [] : ["--fixed-strings", `--author=${author}`],
        [from, "--"],
        path === "" ? [] : [path]
      )
    ),
    (count) => Number(count.trim()) || 0
  )
