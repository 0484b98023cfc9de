import * as Effect from "effect/Effect"
import { useCallback, useEffect, useState } from "preact/hooks"
import type { SessionView } from "../../http/console/Api.js"
import type { ChangesSince } from "../../store/browse/Overview.js"
import type { HistoryEntry } from "../../store/Collection.js"
import type { Problem } from "../components/Problem.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { DataSourceService } from "../source/DataSource.js"
import { beginVisit, type Visit } from "./LastVisit.js"

/** The number of commits that are shown. */
const commitCount = 6

/** The collections that are counted without a request by the user: each may cost a request to GitHub. */
const countedFirst = 6
/** The collections that one press of the button counts. */
const countedNext = 50

/** The number of documents of a collection, or why they could not be counted. */
export type CollectionCount = number | Problem

/** The failures that concern one collection and not the connection, the session or the limit. */
const kindsOfCollection: ReadonlySet<Problem["kind"]> = new Set([
  "commit",
  "conflict",
  "invalid",
  "missing",
  "server",
  "unreadable"
])

/** Counts collections together; if one of them fails, each by itself. */
const countsOf = (
  source: DataSourceService,
  names: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<readonly [string, CollectionCount]>, Problem> => {
  const one = (name: string): Effect.Effect<CollectionCount, Problem> =>
    Effect.catchAll(
      source.timeline(({ counts }) => Effect.map(counts([name]), ([count = 0]): CollectionCount => count)),
      (problem) => (kindsOfCollection.has(problem.kind) ? Effect.succeed(problem) : Effect.fail(problem))
    )
  const together: Effect.Effect<ReadonlyArray<CollectionCount>, Problem> = names.length === 0
    ? Effect.succeed([])
    : source.timeline(({ counts }) => counts(names))
  const each = Effect.catchAll(together, (problem) =>
    kindsOfCollection.has(problem.kind)
      ? Effect.forEach(names, one, { concurrency: 4 })
      : Effect.fail(problem)
  )
  return Effect.map(each, (counts) => names.map((name, at) => [name, counts[at] ?? 0] as const))
}

/** What the home page shows of one head of the branch. */
export interface RepositoryOverview {
  /** Null for a branch without commits. */
  readonly head: string | null
  readonly commits: ReadonlyArray<HistoryEntry>
  /** The number of documents, or why it is unknown, by collection. */
  readonly counts: ReadonlyMap<string, CollectionCount>
  readonly visit: Visit | undefined
  /** Undefined if the head is that of the last visit; `gone` if the repository no longer has the earlier commit. */
  readonly changes: ChangesSince | "gone" | undefined
}

const read = (
  source: DataSourceService,
  session: SessionView,
  collections: ReadonlyArray<string>,
  known: RepositoryOverview | undefined
): Effect.Effect<RepositoryOverview, Problem> =>
  Effect.gen(function* () {
    const { head } = yield* source.newer(undefined)
    if (known !== undefined && known.head === head) return known
    if (head === null) return { head, commits: [], counts: new Map(), visit: undefined, changes: undefined }
    const visit = yield* Effect.sync(() => beginVisit(session, head))
    const counted = collections.slice(0, countedFirst)
    const [commits, counts, changes] = yield* Effect.all(
      [
        source.timeline((timeline) => timeline.commits(commitCount)),
        countsOf(source, counted),
        visit === undefined || visit.head === head
          ? Effect.succeed<ChangesSince | "gone" | undefined>(undefined)
          : source
              .timeline(({ changesSince }) => changesSince(visit.head))
              .pipe(
                // A forced push can remove the earlier commit.
                Effect.catchIf(
                  ({ kind }) => kind === "missing" || kind === "commit",
                  () => Effect.succeed("gone" as const)
                )
              )
      ],
      { concurrency: 3 }
    )
    return {
      head,
      commits,
      counts: new Map(counts),
      visit,
      changes
    }
  })

/** The overview of the last session, so that a return to the home page costs one conditional request. */
let cached: { readonly session: SessionView; readonly overview: RepositoryOverview } | undefined

/** Reads the overview of a repository, and counts more collections on request. */
export const useOverview = (
  source: DataSourceService,
  session: SessionView,
  collections: ReadonlyArray<string>
) => {
  const before = cached?.session === session ? cached.overview : undefined
  const [overview, setOverview] = useState(before)
  const task = useEffectRunner()
  const counting = useEffectRunner()

  const keep = (found: RepositoryOverview) => {
    cached = { session, overview: found }
    setOverview(found)
  }
  const again = useCallback(
    () => task.run(read(source, session, collections, overview), { success: keep }),
    [source, session, collections, overview]
  )
  useEffect(again, [source, session])

  const uncounted = collections.filter((name) => overview?.counts.has(name) === false)
  const countMore = () => {
    const next = uncounted.slice(0, countedNext)
    counting.run(countsOf(source, next), {
      success: (added) => {
        if (overview !== undefined) keep({ ...overview, counts: new Map([...overview.counts, ...added]) })
      }
    })
  }

  return {
    overview,
    problem: task.problem ?? counting.problem,
    running: task.running,
    again,
    /** The number of collections without a count. */
    uncounted: overview === undefined ? 0 : uncounted.length,
    counting: counting.running,
    countMore
  }
}
