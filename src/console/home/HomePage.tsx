import "./home.css"
import type { SessionView } from "../../http/console/Api.js"
import { LoadingState } from "../components/LoadingState.js"
import { plural } from "../components/Plural.js"
import { RelativeTime } from "../components/RelativeTime.js"
import { RunButton } from "../components/RunButton.js"
import type { Route } from "../navigation/Route.js"
import type { Navigate } from "../navigation/useRoute.js"
import type { DataSourceService, RateBudget } from "../source/DataSource.js"
import { ChangesCard } from "./ChangesCard.js"
import { HealthCard } from "./HealthCard.js"
import { RecentCard } from "./RecentCard.js"
import { useOverview } from "./useOverview.js"

/** The overview of a repository, shown while no collection is chosen. */
export const HomePage = (props: {
  readonly source: DataSourceService
  readonly session: SessionView
  readonly collections: ReadonlyArray<string>
  readonly budgets: ReadonlyArray<RateBudget> | undefined
  readonly navigate: Navigate
  readonly onChoose: (collection: string) => void
  /** Signs out and opens the sign-in form of another repository. */
  readonly onOpen: (route: Pick<Route, "api" | "repo" | "branch" | "root">) => void
}) => {
  const { collections, navigate, session, source } = props
  const home = useOverview(source, session, collections)
  const { overview } = home

  return (
    <section
      class="home"
      aria-label="Home"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      aria-busy={overview === undefined && home.problem === undefined}
    >
      <LoadingState
        loaded={overview !== undefined}
        problem={home.problem}
        running={home.running}
        onRetry={home.again}
      />
      <div class="home-cards">
        {overview === undefined ? null : (
          <>
            <section class="card home-card" aria-labelledby="home-collections">
              <h3 id="home-collections">Collections</h3>
              <ul class="home-list">
                {collections.map((name) => {
                  const count = overview.counts.get(name)
                  return (
                    <li key={name}>
                      <button type="button" class="button quiet" onClick={() => props.onChoose(name)}>
                        <bdi>{name}</bdi>
                      </button>
                      <span class="quiet-text number">
                        {count === undefined
                          ? "not counted"
                          : typeof count === "number"
                            ? plural(count, "document")
                            : "cannot be counted"}
                      </span>
                      {count === undefined || typeof count === "number" ? null : (
                        <p class="home-problem">
                          <bdi>{count.message}</bdi>
                        </p>
                      )}
                    </li>
                  )
                })}
              </ul>
              {home.uncounted === 0 ? null : (
                <RunButton kind="plain" running={home.counting} onClick={home.countMore}>
                  Count {plural(home.uncounted, "more collection")}
                </RunButton>
              )}
            </section>
            <ChangesCard
              overview={overview}
              onOpen={(collection, document) => navigate({ collection, document, panel: undefined })}
              onTimeline={() => navigate({ panel: "timeline", document: undefined })}
            />
            <section class="card home-card" aria-labelledby="home-commits">
              <h3 id="home-commits">Recent commits</h3>
              {overview.commits.length === 0 ? <p>The branch has no commits.</p> : null}
              <ol class="home-list stacked">
                {overview.commits.map(({ author, date, message, sha }) => (
                  <li key={sha}>
                    <bdi class="home-message">{message.split("\n", 1)[0]}</bdi>
                    <span class="quiet-text">
                      <bdi>{author}</bdi> · <RelativeTime at={date} /> ·{" "}
                      <code title={sha}>{sha.slice(0, 7)}</code>
                    </span>
                  </li>
                ))}
              </ol>
              <button
                type="button"
                class="button plain"
                onClick={() => navigate({ panel: "timeline", document: undefined })}
              >
                All commits
              </button>
            </section>
          </>
        )}
        <HealthCard source={source} session={session} budgets={props.budgets} head={overview?.head} />
        <RecentCard session={session} onOpen={props.onOpen} />
      </div>
    </section>
  )
}
