import type { SessionView } from "../../http/console/Api.js"
import { Icon } from "../components/Icon.js"
import { plural } from "../components/Plural.js"
import type { Settings } from "../page/Settings.js"
import { ShortcutsButton } from "../page/Shortcuts.js"
import { ThemeButton, TopBar } from "../page/TopBar.js"
import { RateMeter } from "../session/RateMeter.js"
import type { RateBudget } from "../source/DataSource.js"

/** The top bar of a signed-in page: the repository, the drafts, newer commits, and the session. */
export const WorkbenchBar = (props: {
  readonly session: SessionView
  readonly settings: Settings
  readonly onSettings: (change: Partial<Settings>) => void
  readonly drafts: number
  readonly onReview: () => void
  /** "3 newer commits", if the branch has moved since the page read it. */
  readonly newerCommits: string | undefined
  readonly onReload: () => void
  readonly budgets: ReadonlyArray<RateBudget> | undefined
  readonly onShortcuts: () => void
  readonly onSignOut: () => void
}) => {
  const { drafts, newerCommits, session, settings } = props
  const root = session.root === "" ? "/" : session.root
  return (
    <TopBar title="Console">
      <p class="where" title={`${session.repo}, branch ${session.branch}, root ${root}`}>
        <bdi class="where-repo">{session.repo}</bdi>
        <span class="where-rest">
          <bdi>{session.branch}</bdi> · <bdi>{root}</bdi>
        </span>
        {session.readOnly ? <span class="badge read-only">read-only</span> : null}
      </p>
      <span class="grow" />
      {drafts === 0 ? null : (
        <button type="button" class="button plain" id="review" onClick={props.onReview}>
          Review {plural(drafts, "draft")}
        </button>
      )}
      {newerCommits === undefined ? null : (
        <button
          type="button"
          class="button small plain"
          id="newer"
          title="Reload the page's data from the newest commit"
          onClick={props.onReload}
        >
          {newerCommits}: reload
        </button>
      )}
      <RateMeter budgets={props.budgets} />
      <ShortcutsButton onClick={props.onShortcuts} />
      <ThemeButton theme={settings.theme} onTheme={(theme) => props.onSettings({ theme })} />
      <button type="button" class="button quiet" aria-label="Sign out" onClick={props.onSignOut}>
        <Icon name="out" />
        <span class="label">Sign out</span>
      </button>
    </TopBar>
  )
}
