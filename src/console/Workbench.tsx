import type { ComponentChildren } from "preact"
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { SessionView } from "../http/console/Api.js"
import { alarmProblem, announce, counted } from "./components/Announcer.js"
import { passFocus } from "./components/Focus.js"
import { Icon } from "./components/Icon.js"
import { part } from "./components/Part.js"
import { useTask } from "./components/useTask.js"
import { draftsOf, forget, repositoryDraftsOf, useDraftCount } from "./drafts/DraftCount.js"
import type { Settings } from "./page/Settings.js"
import { ShortcutsButton, useShortcuts } from "./page/Shortcuts.js"
import { nextTheme, ThemeButton, TopBar } from "./page/TopBar.js"
import { stepRow } from "./palette/RowSteps.js"
import { leave } from "./place/Leave.js"
import { type Place, start } from "./place/Place.js"
import type { Go } from "./place/usePlace.js"
import { focusFilter, QueryForm } from "./query/QueryForm.js"
import { useQuery } from "./query/useQuery.js"
import { Results } from "./results/Results.js"
import { RateMeter } from "./session/RateMeter.js"
import { SignOutDialog } from "./session/SignOutDialog.js"
import type { DataSourceService, RateBudget } from "./source/DataSource.js"
import { useNewer } from "./time/useNewer.js"

const Commits = part(() => import("./Panels.js").then((found) => found.Commits))
const DocumentPanel = part(() => import("./Panels.js").then((found) => found.DocumentPanel))
const Editing = part(() => import("./edit/Editing.js").then((found) => found.Editing))
const TimelinePanel = part(() => import("./time/TimePanels.js").then((found) => found.TimelinePanel))
const BranchesPanel = part(() => import("./time/TimePanels.js").then((found) => found.BranchesPanel))
const ProposalsPanel = part(() => import("./time/TimePanels.js").then((found) => found.ProposalsPanel))
const Palette = part(() => import("./palette/Palette.js").then((found) => found.Palette))
const WorkbenchShortcuts = part(() =>
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
  readonly place: Place
  /** What the address named, where that is not what is signed in to. */
  readonly elsewhere: Place | undefined
  readonly onElsewhere: (there: boolean) => void
  readonly go: Go
  readonly settings: Settings
  readonly onSettings: (change: Partial<Settings>) => void
  readonly onSession: (session: SessionView) => void
  /** Signs out, to the sign-in form of another place if one is given. */
  readonly onSignOut: (to?: Place) => void
}) => {
  const { go, place, session, settings, source } = props
  const [collections, setCollections] = useState(session.collections)
  const [budgets, setBudgets] = useState<ReadonlyArray<RateBudget> | undefined>(undefined)
  const [help, setHelp] = useState(false)
  const [narrow, setNarrow] = useState(() => matchMedia("(max-width: 900px)").matches)
  const heading = useRef<HTMLHeadingElement>(null)
  const rate = useTask()
  const listing = useTask()
  const switching = useTask()
  const [palette, setPalette] = useState(false)
  const newer = useNewer(source, session.head)

  const measure = useCallback(
    () => rate.run(source.rate, { success: setBudgets, failure: () => setBudgets(undefined) }),
    [source]
  )
  const query = useQuery(source, place, (asked) => {
    measure()
    if (asked !== undefined) requestAnimationFrame(() => passFocus(asked.from, heading.current))
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
    if (place.table === table) query.again()
    else
      go({
        ...start,
        api: place.api,
        repo: place.repo,
        branch: place.branch,
        root: place.root,
        table,
        at: place.at
      })
  }

  /** The ids of the rows that are chosen in the table. */
  const [chosen, setChosen] = useState<ReadonlyArray<string>>([])
  const drafts = draftsOf(session)
  const staged = useDraftCount(drafts)
  const left = useDraftCount(repositoryDraftsOf(session))
  const [asksToSignOut, setAsksToSignOut] = useState(false)

  const closePanel = () =>
    leave(() => {
      const opener =
        place.document !== undefined
          ? `open-${place.document}`
          : place.panel === "edit"
            ? "new"
            : (place.panel ?? "commits")
      go({ document: undefined, panel: undefined })
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
  const barren = collections.length === 0 && place.table === undefined
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
    at: place.at,
    readOnly: session.readOnly,
    onClose: closePanel,
    onChanged: changed
  }
  const panel =
    place.panel === "review" ||
    ((place.panel === "edit" || place.panel === "import" || place.panel === "change") &&
      place.table !== undefined &&
      !session.readOnly) ? (
      <Editing
        frame={frame}
        source={source}
        session={session}
        drafts={drafts}
        place={place}
        documents={query.outcome?.answer.documents ?? []}
        fields={query.outcome?.columns.all ?? []}
        chosen={chosen}
        go={go}
        onPublished={() => {
          changed()
          relist()
        }}
        onClose={closePanel}
      />
    ) : place.panel === "timeline" ? (
      <TimelinePanel {...common} onAt={(at) => go({ at })} />
    ) : place.panel === "branches" ? (
      <BranchesPanel
        {...common}
        switching={switching.running}
        onSwitch={(branch) =>
          switching.run(source.switchBranch(branch), {
            success: (entered) => {
              const there = { ...place, branch, at: undefined, document: undefined, version: undefined }
              go(there)
              props.onSession(entered)
              go(there, "replace")
            },
            failure: alarmProblem
          })
        }
      />
    ) : place.panel === "proposals" ? (
      <ProposalsPanel {...common} />
    ) : place.table === undefined ? null : place.document !== undefined ? (
      <DocumentPanel
        key={`${place.table}/${place.document}`}
        frame={frame}
        source={source}
        collection={place.table}
        id={place.document}
        at={place.version ?? place.at}
        tableAt={place.at}
        tab={place.panel === "history" ? "history" : "document"}
        readOnly={session.readOnly}
        onTab={(tab) => go({ panel: tab === "history" ? "history" : undefined })}
        onVersion={(version) => go({ version, panel: undefined })}
        onNow={() => go({ version: undefined, at: undefined, panel: undefined })}
        onClose={closePanel}
        onEdit={() => go({ document: place.document, panel: "edit" })}
        onChanged={changed}
      />
    ) : place.panel === "commits" ? (
      <Commits
        key={place.table}
        frame={frame}
        source={source}
        collection={place.table}
        branch={session.branch}
        at={place.at}
        onAt={(at) => go({ at })}
        onAll={() => go({ panel: "timeline" })}
        onClose={closePanel}
      />
    ) : null

  const actions = {
    "?": () => setHelp(true),
    "/": focusFilter,
    r: () => place.table !== undefined && !query.running && reload(),
    g: () => heading.current?.focus(),
    c: () => press("columns"),
    e: () => press("export"),
    h: () => (place.document === undefined ? press("commits") : go({ panel: "history" })),
    j: () => stepRow(place.document, 1),
    k: () => stepRow(place.document, -1),
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
            onClick={() => go({ panel: "review", document: undefined })}
          >
            Review {counted(staged, "draft")}
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
                    aria-current={place.table === name ? "true" : undefined}
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
            onClick={() => relist((found) => announce(`${counted(found.length, "collection")} found.`))}
          >
            Refresh
          </button>
          {ofRepository.map(([name, words]) => (
            <button
              key={name}
              type="button"
              class="button small quiet refresh"
              id={name}
              onClick={() => go({ panel: name, document: undefined })}
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
              place={place}
              fields={query.outcome?.columns.all ?? []}
              running={query.running}
              onRun={(next) => {
                query.expectFocus()
                newer.accept()
                const same = next.table === place.table
                const asked = { ...next, misread: [] }
                go(
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
            place={place}
            go={go}
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
              props.onSignOut({ ...start, api: session.api, repo: session.repo, branch: session.branch })
            }
            known={place.table === undefined || collections.includes(place.table)}
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
            leave(() => {
              if (!keepsDrafts) forget(repositoryDraftsOf(session))
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
