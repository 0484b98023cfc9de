import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { SessionView } from "../../http/console/Api.js"
import { alarmProblem, announce } from "../components/Announcer.js"
import { moveFocus } from "../components/Focus.js"
import { lazyComponent } from "../components/LazyComponent.js"
import { plural } from "../components/Plural.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import { deleteDrafts, draftPrefix, repositoryDraftPrefix, useDraftCount } from "../drafts/DraftKeys.js"
import { guardNavigation } from "../navigation/NavigationGuard.js"
import { initialRoute, type Route } from "../navigation/Route.js"
import type { Navigate } from "../navigation/useRoute.js"
import type { Settings } from "../page/Settings.js"
import { useShortcuts } from "../page/Shortcuts.js"
import { nextTheme } from "../page/TopBar.js"
import { focusFilter, QueryForm } from "../query/QueryForm.js"
import { useQuery } from "../query/useQuery.js"
import { useNewerCommits } from "../repository/useNewerCommits.js"
import { Results } from "../results/Results.js"
import type { RowStep } from "../results/table/RowSteps.js"
import type { DataSourceService, RateBudget } from "../source/DataSource.js"
import { CollectionNav } from "./CollectionNav.js"
import { panelOf, SidePanel } from "./SidePanel.js"
import { WorkbenchBar } from "./WorkbenchBar.js"

const CommandPalette = lazyComponent(() =>
  import("../palette/CommandPalette.js").then((module) => module.CommandPalette)
)
const SignOutDialog = lazyComponent(() =>
  import("../session/SignOutDialog.js").then((module) => module.SignOutDialog)
)
const WorkbenchShortcuts = lazyComponent(() =>
  import("../page/WorkbenchShortcuts.js").then((module) => module.WorkbenchShortcuts)
)

/** Whether the window is so narrow that a panel covers the table. */
const useIsNarrow = (): boolean => {
  const [isNarrow, setNarrow] = useState(() => matchMedia("(max-width: 900px)").matches)
  useEffect(() => {
    const media = matchMedia("(max-width: 900px)")
    const follow = () => setNarrow(media.matches)
    media.addEventListener("change", follow)
    return () => media.removeEventListener("change", follow)
  }, [])
  return isNarrow
}

const clickById = (id: string) => {
  const button = document.getElementById(id)
  button?.focus()
  button?.click()
}

/** The page after sign-in: collections, query, results and a side panel. */
export const Workbench = (props: {
  readonly source: DataSourceService
  readonly session: SessionView
  readonly route: Route
  /** The route of the address, if it names another repository, branch or root than the session. */
  readonly otherRoute: Route | undefined
  /** Opens `otherRoute`, or dismisses it. */
  readonly onOtherRoute: (open: boolean) => void
  readonly navigate: Navigate
  readonly settings: Settings
  readonly onSettings: (change: Partial<Settings>) => void
  readonly onSession: (session: SessionView) => void
  /** Signs out, to the sign-in form filled in for another route if one is given. */
  readonly onSignOut: (to?: Route) => void
}) => {
  const { navigate, otherRoute, route, session, settings, source } = props
  const [collections, setCollections] = useState(session.collections)
  const [budgets, setBudgets] = useState<ReadonlyArray<RateBudget> | undefined>(undefined)
  const [showsShortcuts, setShowsShortcuts] = useState(false)
  const [showsPalette, setShowsPalette] = useState(false)
  const [asksToSignOut, setAsksToSignOut] = useState(false)
  const [selectedIds, setSelectedIds] = useState<ReadonlyArray<string>>([])
  const isNarrow = useIsNarrow()
  const heading = useRef<HTMLHeadingElement>(null)
  const step = useRef<RowStep>(null)
  const rate = useEffectRunner()
  const listing = useEffectRunner()
  const switching = useEffectRunner()
  const newer = useNewerCommits(source, session.head)
  const drafts = draftPrefix(session)
  const draftCount = useDraftCount(drafts)
  const repositoryDraftCount = useDraftCount(repositoryDraftPrefix(session))

  const readRate = useCallback(
    () => rate.run(source.rate, { success: setBudgets, failure: () => setBudgets(undefined) }),
    [source]
  )
  const query = useQuery(source, route, (request) => {
    readRate()
    if (request !== undefined) requestAnimationFrame(() => moveFocus(request.from, heading.current))
  })

  // A layout effect runs before the next key press, which then goes into the form.
  useLayoutEffect(() => {
    const first = document.querySelector<HTMLElement>('[data-first="true"]')
    // On a narrow page the folded form has no input that can have the focus.
    ;(first?.checkVisibility() === true ? first : heading.current)?.focus()
  }, [])
  useEffect(readRate, [])

  const listCollections = (done?: (found: ReadonlyArray<string>) => void) =>
    listing.run(source.collections, {
      success: (found) => {
        setCollections(found)
        done?.(found)
      },
      failure: alarmProblem
    })

  const openCollection = (collection: string) => {
    query.expectFocus()
    if (route.collection === collection) query.again()
    else {
      const { api, at, branch, repo, root } = route
      navigate({ ...initialRoute, api, repo, branch, root, collection, at })
    }
  }

  const runQuery = (next: Pick<Route, "collection" | "filters" | "limit" | "whole" | "at">) => {
    query.expectFocus()
    newer.accept()
    const asked = { ...next, invalidFilters: [] }
    const isSame = next.collection === route.collection
    navigate(
      isSame ? asked : { ...asked, sort: [], columns: undefined, document: undefined, panel: undefined }
    )
    query.again()
  }

  const switchBranch = (branch: string) =>
    switching.run(source.switchBranch(branch), {
      success: (entered) => {
        const target = { ...route, branch, at: undefined, document: undefined, version: undefined }
        navigate(target)
        props.onSession(entered)
        navigate(target, "replace")
      },
      failure: alarmProblem
    })

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

  const reload = () => {
    newer.accept()
    query.again()
  }
  const onCommitted = () => newer.follow(query.renew)
  const panel = panelOf(route, session.readOnly)
  const hasNoCollections = collections.length === 0 && route.collection === undefined

  const actions = {
    "?": () => setShowsShortcuts(true),
    "/": focusFilter,
    r: () => route.collection !== undefined && !query.running && reload(),
    g: () => heading.current?.focus(),
    c: () => clickById("columns"),
    e: () => clickById("export"),
    h: () => (route.document === undefined ? clickById("commits") : navigate({ panel: "history" })),
    j: () => step.current?.(1),
    k: () => step.current?.(-1),
    t: () => props.onSettings({ theme: nextTheme[settings.theme] }),
    "Ctrl+k": () => setShowsPalette(true)
  }
  const onEscape = () => {
    if (query.running) query.cancel()
    else if (panel !== undefined && document.querySelector("dialog[open]") === null) closePanel()
    else return false
    return true
  }
  useShortcuts(settings.shortcuts, onEscape, actions)

  return (
    <div class={`bench ${panel === undefined ? "" : "with-panel"}`}>
      <WorkbenchBar
        session={session}
        settings={settings}
        onSettings={props.onSettings}
        drafts={draftCount}
        onReview={() => navigate({ panel: "review", document: undefined })}
        newerCommits={newer.words}
        onReload={reload}
        budgets={budgets}
        onShortcuts={() => setShowsShortcuts(true)}
        onSignOut={() => (repositoryDraftCount === 0 ? props.onSignOut() : setAsksToSignOut(true))}
      />
      <div class="bench-body" inert={isNarrow && panel !== undefined}>
        <CollectionNav
          collections={collections}
          current={route.collection}
          root={session.root}
          isQuerying={query.running}
          isRefreshing={listing.running}
          onChoose={openCollection}
          onHome={() => {
            query.cancel()
            const { api, at, branch, repo, root } = route
            navigate({ ...initialRoute, api, repo, branch, root, at })
            heading.current?.focus()
          }}
          onRefresh={() =>
            listCollections((found) => announce(`${plural(found.length, "collection")} found.`))
          }
          navigate={navigate}
        />
        <main class="work">
          <h1 class="sr-only">Documents of {session.repo}</h1>
          {otherRoute === undefined ? null : (
            <p class="banner">
              <span>
                This link opens{" "}
                <bdi>{[otherRoute.repo, otherRoute.branch, otherRoute.root].filter(Boolean).join(" · ")}</bdi>
                , but you are signed in to <bdi>{session.repo}</bdi>.
              </span>
              <button type="button" class="button small quiet" onClick={() => props.onOtherRoute(true)}>
                Sign in there
              </button>
              <button type="button" class="button small quiet" onClick={() => props.onOtherRoute(false)}>
                Stay here
              </button>
            </p>
          )}
          {hasNoCollections ? null : (
            <QueryForm
              collections={collections}
              route={route}
              fields={query.outcome?.columns.all ?? []}
              running={query.running}
              onRun={runQuery}
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
            onSelected={setSelectedIds}
            step={step}
            source={source}
            collections={collections}
            hasNoCollections={hasNoCollections}
            onChoose={openCollection}
            onOpenRepository={(target) => props.onSignOut({ ...initialRoute, ...target })}
            onSession={props.onSession}
            onSignOut={() => {
              const { api, branch, repo } = session
              props.onSignOut({ ...initialRoute, api, repo, branch })
            }}
            exists={route.collection === undefined || collections.includes(route.collection)}
          />
        </main>
      </div>
      {panel === undefined ? null : (
        <SidePanel
          panel={panel}
          route={route}
          navigate={navigate}
          source={source}
          session={session}
          drafts={drafts}
          outcome={query.outcome}
          onStep={(by) => step.current?.(by)}
          selectedIds={selectedIds}
          isSwitching={switching.running}
          onSwitch={switchBranch}
          onCommitted={onCommitted}
          onPublished={() => {
            onCommitted()
            listCollections()
          }}
          onClose={closePanel}
        />
      )}
      {showsPalette ? (
        <CommandPalette
          frame={{ waiting: null, failed: (card) => card }}
          actions={actions}
          onClose={() => setShowsPalette(false)}
        />
      ) : null}
      {asksToSignOut ? (
        <SignOutDialog
          frame={{ waiting: null, failed: (card) => card }}
          repo={session.repo}
          drafts={repositoryDraftCount}
          onClose={() => setAsksToSignOut(false)}
          onSignOut={(keepsDrafts) =>
            guardNavigation(() => {
              if (!keepsDrafts) deleteDrafts(repositoryDraftPrefix(session))
              props.onSignOut()
            })
          }
        />
      ) : null}
      {showsShortcuts ? (
        <WorkbenchShortcuts
          frame={{ waiting: null, failed: (card) => card }}
          enabled={settings.shortcuts}
          onEnabled={(enabled) => props.onSettings({ shortcuts: enabled })}
          onClose={() => setShowsShortcuts(false)}
        />
      ) : null}
    </div>
  )
}
