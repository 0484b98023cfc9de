import "./home.css"
import { useState } from "preact/hooks"
import type { SessionView } from "../../http/console/Api.js"
import { announce } from "../components/Announcer.js"
import { Icon } from "../components/Icon.js"
import {
  forgetRepository,
  isSameRepository,
  type RecentRepository,
  recentRepositories
} from "./RecentRepositories.js"

/** The name of a repository in a button: its branch and root distinguish several entries. */
const detailsOf = ({ api, branch, root }: RecentRepository): string =>
  `${api} · ${branch} · ${root === "" ? "/" : root}`

/** The repositories that were opened in this browser. */
const RecentList = (props: {
  readonly recent: ReadonlyArray<RecentRepository>
  readonly onOpen: (repository: RecentRepository) => void
  readonly onForget: (repository: RecentRepository) => void
}) => (
  <ul class="home-list">
    {props.recent.map((repository) => (
      <li key={JSON.stringify(repository)}>
        <button
          type="button"
          class="button quiet"
          aria-label={`Open ${repository.repo}, ${detailsOf(repository)}`}
          onClick={() => props.onOpen(repository)}
        >
          <bdi>{repository.repo}</bdi>
        </button>
        <bdi class="quiet-text">{detailsOf(repository)}</bdi>
        <button
          type="button"
          class="button quiet small icon-only"
          aria-label={`Remove ${repository.repo}, ${detailsOf(repository)} from the list`}
          onClick={() => props.onForget(repository)}
        >
          <Icon name="close" />
        </button>
      </li>
    ))}
  </ul>
)

/** The list with its state: removing an entry moves the focus to the heading. */
const RecentSection = (props: {
  readonly shown: (repository: RecentRepository) => boolean
  readonly onOpen: (repository: RecentRepository) => void
  readonly class: string
  readonly empty: string | undefined
}) => {
  const [recent, setRecent] = useState(recentRepositories)
  const shown = recent.filter(props.shown)
  if (shown.length === 0 && props.empty === undefined) return null
  return (
    <section class={props.class} aria-labelledby="recent-title">
      <h2 id="recent-title" class="card-title" tabIndex={-1}>
        Recent repositories
      </h2>
      {shown.length === 0 ? (
        <p class="quiet-text">{props.empty}</p>
      ) : (
        <>
          <RecentList
            recent={shown}
            onOpen={props.onOpen}
            onForget={(gone) => {
              forgetRepository(gone)
              setRecent(recentRepositories())
              announce(`${gone.repo} is removed from the list.`)
              document.getElementById("recent-title")?.focus()
            }}
          />
          <p class="quiet-text">Tokens are not stored: opening one asks for its token again.</p>
        </>
      )}
    </section>
  )
}

/** The other repositories that were opened in this browser, on the home page. */
export const RecentCard = (props: {
  readonly session: SessionView
  readonly onOpen: (repository: RecentRepository) => void
}) => (
  <RecentSection
    class="card home-card"
    shown={(one) => !isSameRepository(one, props.session)}
    onOpen={props.onOpen}
    empty="Other repositories that you open in this browser are listed here."
  />
)

/** The repositories that can be opened again, beside the sign-in form. */
export const RecentSignIns = (props: {
  readonly apis: ReadonlyArray<string>
  readonly onOpen: (repository: RecentRepository) => void
}) => (
  <RecentSection
    class="recent-sign-ins"
    shown={({ api }) => props.apis.includes(api)}
    onOpen={props.onOpen}
    empty={undefined}
  />
)
