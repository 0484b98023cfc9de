import type { ComponentChildren } from "preact"
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { SessionView } from "../http/console/Api.js"
import { alarmProblem, announce } from "./components/Announcer.js"
import { moveFocus } from "./components/Focus.js"
import { Icon } from "./components/Icon.js"
import { lazyComponent } from "./components/LazyComponent.js"
import { plural } from "./components/Plural.js"
import { useEffectRunner } from "./components/useEffectRunner.js"
import { deleteDrafts, draftPrefix, repositoryDraftPrefix, useDraftCount } from "./drafts/DraftKeys.js"
import { guardNavigation } from "./navigation/NavigationGuard.js"
import { initialRoute, type Route } from "./navigation/Route.js"
import type { Navigate } from "./navigation/useRoute.js"
import type { Settings } from "./page/Settings.js"
import { ShortcutsButton, useShortcuts } from "./page/Shortcuts.js"
import { nextTheme, ThemeButton, TopBar } from "./page/TopBar.js"
import { moveToRow } from "./palette/RowNavigation.js"
import { focusFilter, QueryForm } from "./query/QueryForm.js"
import { useQuery } from "./query/useQuery.js"
import { useNewerCommits } from "./repository/useNewerCommits.js"
import { Results } from "./results/Results.js"
import { RateMeter } from "./session/RateMeter.js"
import { SignOutDialog } from "./session/SignOutDialog.js"
import type { DataSourceService, RateBudget } from "./source/DataSource.js"

const Commits = lazyComponent(() => import("./document/DocumentPanels.js").then((found) => found.Commits))
const DocumentPanel = lazyComponent(() =>
  import("./document/DocumentPanels.js").then((found) => found.DocumentPanel)
)
const Editing = lazyComponent(() => import("./edit/EditPanels.js").then((found) => found.EditPanels))
const TimelinePanel = lazyComponent(() =>
  import("./repository/RepositoryPanels.js").then((found) => found.TimelinePanel)
)
const BranchesPanel = lazyComponent(() =>
  import("./repository/RepositoryPanels.js").then((found) => found.BranchesPanel)
)
const ProposalsPanel = lazyComponent(() =>
  import("./repository/RepositoryPanels.js").then((found) => found.ProposalsPanel)
)
const Palette = lazyComponent(() =>
  import("./palette/CommandPalette.js").then((found) => found.CommandPalette)
)
const WorkbenchShortcuts = lazyComponent(() =>
  import("./page/WorkbenchShortcuts.js").then((found) => found.WorkbenchShortcuts)
)

/** Panels of the whole repository. */
const ofRepository = [
  ["timeline", "Timeline"],
  ["branches", "Branches"],
  ["proposals", "Proposals"]
] as const

/** The page of somebody who is signed in. */
export const Workbench = (props: {
  readonly source: DataSourceService
  readonly session: SessionView
  readonly route: Route
  /** What the address named, where that is not what is signed in to. */
  readonly elsewhere: Route | undefined
  readonly onElsewhere: (there: boolean) => void
  readonly navigate: Navigate
  readonly settings: Settings
  readonly onSettings: (change: Partial<Settings>) => void
  readonly onSession: (session: SessionView) => void
  /** Signs out, to the sign-in form of another place if one is given. */
  readonly onSignOut: (to?: Route) => void
}) => {
  const { navigate, route, session, settings, source } = props
  const [collections, setCollections] = useState(session.collections)
  const [budgets, setBudgets] = useState<ReadonlyArray<RateBudget> | undefined>(undefined)
  const [help, setHelp] = useState(false)
  const [narrow, setNarrow] = useState(() => matchMedia("(max-width: 900px)").matches)
  const heading = useRef<HTMLHeadingElement>(null)
  const rate = useEffectRunner()
  const listing = useEffectRunner()
  const switching = useEffectRunner()
  const [palette, setPalette] = useState(false)
  const newer = useNewerCommits(source, session.head)

  const measure = useCallback(
    () => rate.run(source.rate, { success: setBudgets, failure: () => setBudgets(undefined) }),
    [source]
  )
  const query = useQuery(source, route, (asked) => {
    measure()
    if (asked !== undefined) requestAnimationFrame(() => moveFocus(asked.from, heading.current))
  })

  // A layout effect, so that what is typed next goes into the form.
  useLayoutEffect(() => {
    const first = document.querySelector<HTMLElement>('[data-first="true"]')
    ;(first ?? heading.current)?.focus()
  }, [])

  useEffect(() => {
    measure()
    const media = matchMedia("(max-width: 900px)")
    const follow = () => setNarrow(media.matches)
    media.addEventListener("change", follow)
    return () => media.removeEventListener("change", follow)
  }, [])

  const relist = (done?: (found: ReadonlyArray<string>) => void) =>
    listing.run(source.collections, {
      success: (found) => {
        setCollections(found)
        done?.(found)
      },
      failure: alarmProblem
    })

  const choose = (table: string) => {
    query.expectFocus()
    if (route.table === table) query.again()
    else
      navigate({
        ...initialRoute,
        api: route.api,
        repo: route.repo,
        branch: route.branch,
        root: route.root,
        table,
        at: route.at
      })
  }

  /** The ids of the rows that are chosen in the table. */
  const [chosen, setChosen] = useState<ReadonlyArray<string>>([])
  const drafts = draftPrefix(session)
  const staged = useDraftCount(drafts)
  const left = useDraftCount(repositoryDraftPrefix(session))
  const [asksToSignOut, setAsksToSignOut] = useState(false)

  const closePanel = () =>
    guardNavigation(() => {
      const opener =
        route.document !== undefined
          ? `open-${route.document}`
          : route.panel === "edit"
            ? "new"
            : (route.panel ?? "commits")
      navigate({ document: undefined, panel: undefined })
      requestAnimationFrame(() => (document.getElementById(opener) ?? heading.current)?.focus())
    })

  const press = (id: string) => {
    const button = document.getElementById(id)
    button?.focus()
    button?.click()
  }

  const frame = {
    waiting: <aside class="panel" aria-busy="true" aria-label="Loading" />,
    failed: (card: ComponentChildren) => (
      <aside class="panel" aria-label="What did not load">
        <div class="panel-body">
          {card}
          <button type="button" class="button plain" onClick={closePanel}>
            Close
          </button>
        </div>
      </aside>
    )
  }
  const there = props.elsewhere
  const barren = collections.length === 0 && route.table === undefined
  const changed = () => newer.follow(query.renew)
  const reload = () => {
    newer.accept()
    query.again()
  }
  const common = {
    frame,
    source,
    repository: session.repo,
    branch: session.branch,
    at: route.at,
    readOnly: session.readOnly,
    onClose: closePanel,
    onChanged: changed
  }
  const panel =
    route.panel === "review" ||
    ((route.panel === "edit" || route.panel === "import" || route.panel === "change") &&
      route.table !== undefined &&
      !session.readOnly) ? (
      <Editing
        frame={frame}
        source={source}
        session={session}
        drafts={drafts}
        route={route}
        documents={query.outcome?.answer.documents ?? []}
        fields={query.outcome?.columns.all ?? []}
        chosen={chosen}
        navigate={navigate}
        onPublished={() => {
          changed()
          relist()
        }}
        onClose={closePanel}
      />
    ) : route.panel === "timeline" ? (
      <TimelinePanel {...common} onAt={(at) => navigate({ at })} />
    ) : route.panel === "branches" ? (
      <BranchesPanel
        {...common}
        switching={switching.running}
        onSwitch={(branch) =>
          switching.run(source.switchBranch(branch), {
            success: (entered) => {
              const there = { ...route, branch, at: undefined, document: undefined, version: undefined }
              navigate(there)
              props.onSession(entered)
              navigate(there, "replace")
            },
            failure: alarmProblem
          })
        }
      />
    ) : route.panel === "proposals" ? (
      <ProposalsPanel {...common} />
    ) : route.table === undefined ? null : route.document !== undefined ? (
      <DocumentPanel
        key={`${route.table}/${route.document}`}
        frame={frame}
        source={source}
        collection={route.table}
        id={route.document}
        at={route.version ?? route.at}
        tableAt={route.at}
        tab={route.panel === "history" ? "history" : "document"}
        readOnly={session.readOnly}
        onTab={(tab) => navigate({ panel: tab === "history" ? "history" : undefined })}
        onVersion={(version) => navigate({ version, panel: undefined })}
        onNow={() => navigate({ version: undefined, at: undefined, panel: undefined })}
        onClose={closePanel}
        onEdit={() => navigate({ document: route.document, panel: "edit" })}
        onChanged={changed}
      />
    ) : route.panel === "commits" ? (
      <Commits
        key={route.table}
        frame={frame}
        source={source}
        collection={route.table}
        branch={session.branch}
        at={route.at}
        onAt={(at) => navigate({ at })}
        onAll={() => navigate({ panel: "timeline" })}
        onClose={closePanel}
      />
    ) : null

  const actions = {
    "?": () => setHelp(true),
    "/": focusFilter,
    r: () => route.table !== undefined && !query.running && reload(),
    g: () => heading.current?.focus(),
    c: () => press("columns"),
    e: () => press("export"),
    h: () => (route.document === undefined ? press("commits") : navigate({ panel: "history" })),
    j: () => moveToRow(route.document, 1),
    k: () => moveToRow(route.document, -1),
    t: () => props.onSettings({ theme: nextTheme[settings.theme] }),
    "Ctrl+k": () => setPalette(true)
  }

  useShortcuts(
    settings.shortcuts,
    () => {
      if (query.running) query.cancel()
      else if (panel !== null && document.querySelector("dialog[open]") === null) closePanel()
      else return false
      return true
    },
    actions
  )

  return (
    <div class={`bench ${panel === null ? "" : "with-panel"}`}>
      <TopBar title="Console">
        <p class="where" title={`${session.repo}, branch ${session.branch}, root ${session.root || "/"}`}>
          <bdi class="where-repo">{session.repo}</bdi>
          <span class="where-rest">
            <bdi>{session.branch}</bdi> · <bdi>{session.root === "" ? "/" : session.root}</bdi>
          </span>
          {session.readOnly ? <span class="badge read-only">read-only</span> : null}
        </p>
        <span class="grow" />
        {staged === 0 ? null : (
          <button
            type="button"
            class="button plain"
            id="review"
            onClick={() => navigate({ panel: "review", document: undefined })}
          >
            Review {plural(staged, "draft")}
          </button>
        )}
        {newer.words === undefined ? null : (
          <button
            type="button"
            class="button small plain"
            id="newer"
            title="Reads what is shown again"
            onClick={reload}
          >
            {newer.words}: reload
          </button>
        )}
        <RateMeter budgets={budgets} />
        <ShortcutsButton onClick={() => setHelp(true)} />
        <ThemeButton theme={settings.theme} onTheme={(theme) => props.onSettings({ theme })} />
        <button
          type="button"
          class="button quiet"
          aria-label="Sign out"
          onClick={() => (left === 0 ? props.onSignOut() : setAsksToSignOut(true))}
        >
          <Icon name="out" />
          <span class="label">Sign out</span>
        </button>
      </TopBar>
      <div class="bench-body" inert={narrow && panel !== null}>
        <nav class="side" aria-label="Collections">
          <h2 class="side-title">Collections</h2>
          {collections.length === 0 ? (
            <p class="quiet-text">
              No collections below <code>{session.root === "" ? "/" : session.root}</code> yet.
            </p>
          ) : (
            <ul class="collections">
              {collections.map((name) => (
                <li key={name}>
                  <button
                    type="button"
                    class="collection"
                    aria-current={route.table === name ? "true" : undefined}
                    disabled={query.running}
                    aria-busy={query.running}
                    onClick={() => choose(name)}
                  >
                    <Icon name="table" />
                    <bdi class="collection-name">{name}</bdi>
                  </button>
                </li>
              ))}
            </ul>
          )}
          <button
            type="button"
            class="button small quiet refresh"
            disabled={listing.running}
            aria-busy={listing.running}
            onClick={() => relist((found) => announce(`${plural(found.length, "collection")} found.`))}
          >
            Refresh
          </button>
          {ofRepository.map(([name, words]) => (
            <button
              key={name}
              type="button"
              class="button small quiet refresh"
              id={name}
              onClick={() => navigate({ panel: name, document: undefined })}
            >
              {words}
            </button>
          ))}
        </nav>
        <main class="work">
          <h1 class="sr-only">Documents of {session.repo}</h1>
          {there === undefined ? null : (
            <p class="banner">
              <span>
                The address named{" "}
                <bdi>{[there.repo, there.branch, there.root].filter(Boolean).join(" · ")}</bdi>, which is not
                what you are signed in to.
              </span>
              <button type="button" class="button small quiet" onClick={() => props.onElsewhere(true)}>
                Sign in there
              </button>
              <button type="button" class="button small quiet" onClick={() => props.onElsewhere(false)}>
                Stay here
              </button>
            </p>
          )}
          {barren ? null : (
            <QueryForm
              collections={collections}
              route={route}
              fields={query.outcome?.columns.all ?? []}
              running={query.running}
              onRun={(next) => {
                query.expectFocus()
                newer.accept()
                const same = next.table === route.table
                const asked = { ...next, misread: [] }
                navigate(
                  same
                    ? asked
                    : { ...asked, sort: [], columns: undefined, document: undefined, panel: undefined }
                )
                query.again()
              }}
              onCancel={query.cancel}
            />
          )}
          <Results
            route={route}
            navigate={navigate}
            session={session}
            query={query}
            heading={heading}
            budgets={budgets}
            shortcuts={settings.shortcuts}
            onChosen={setChosen}
            source={source}
            barren={barren}
            onSession={props.onSession}
            onSignOut={() =>
              props.onSignOut({
                ...initialRoute,
                api: session.api,
                repo: session.repo,
                branch: session.branch
              })
            }
            known={route.table === undefined || collections.includes(route.table)}
          />
        </main>
      </div>
      {panel}
      {palette ? (
        <Palette
          frame={{ waiting: null, failed: (card) => card }}
          actions={actions}
          onClose={() => setPalette(false)}
        />
      ) : null}
      {asksToSignOut ? (
        <SignOutDialog
          repo={session.repo}
          drafts={left}
          onClose={() => setAsksToSignOut(false)}
          onSignOut={(keepsDrafts) =>
            guardNavigation(() => {
              if (!keepsDrafts) deleteDrafts(repositoryDraftPrefix(session))
              props.onSignOut()
            })
          }
        />
      ) : null}
      {help ? (
        <WorkbenchShortcuts
          frame={{ waiting: null, failed: (card) => card }}
          enabled={settings.shortcuts}
          onEnabled={(enabled) => props.onSettings({ shortcuts: enabled })}
          onClose={() => setHelp(false)}
        />
      ) : null}
    </div>
  )
}
