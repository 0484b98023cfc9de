import { useCallback, useEffect, useMemo, useState } from "preact/hooks"
import type { LoginRequest, SessionView, Setup } from "../http/console/Api.js"
import { Announcer, alarmProblem, announce, counted } from "./components/Announcer.js"
import { part } from "./components/Part.js"
import type { Problem } from "./components/Problem.js"
import { ProblemCard } from "./components/ProblemCard.js"
import { useTask } from "./components/useTask.js"
import * as Settings from "./page/Settings.js"
import { ThemeButton, TopBar } from "./page/TopBar.js"
import { leave } from "./place/Leave.js"
import { type Place, start } from "./place/Place.js"
import { usePlace } from "./place/usePlace.js"
import { SignIn } from "./session/SignIn.js"
import { type DataSourceService, watched } from "./source/DataSource.js"

const Workbench = part(() => import("./Workbench.js").then((found) => found.Workbench))

const parts = ["api", "repo", "branch", "root"] as const

/** Whether an address names another repository, branch or root than the one that is signed in to. */
const isElsewhere = (place: Place, session: SessionView): boolean =>
  parts.some((name) => place[name] !== undefined && place[name] !== session[name])

/** What the tab and the browser's history call a place. */
const titleOf = ({ document, table }: Place, session: SessionView | undefined): string =>
  [...(session === undefined ? [] : [document, table, session.repo]), "Chainstore console"]
    .filter((name) => name !== undefined)
    .join(" · ")

/** The console over any source of data. */
export const App = ({ source }: { readonly source: DataSourceService }) => {
  const [place, go] = usePlace()
  const [settings, setSettings] = useState(Settings.load)
  const [setup, setSetup] = useState<Setup | undefined>(undefined)
  const [session, setSession] = useState<SessionView | undefined>(undefined)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  const [elsewhere, setElsewhere] = useState<Place | undefined>(undefined)
  const task = useTask()
  const leaving = useTask()

  const fail = useCallback((failure: Problem) => {
    setProblem(failure)
    alarmProblem(failure)
  }, [])

  const watchedSource = useMemo(
    () =>
      watched(source, (ended) =>
        leave(() => {
          setSession(undefined)
          fail(ended)
        })
      ),
    [source, fail]
  )

  const begin = useCallback(() => {
    setProblem(undefined)
    task.run(source.setup, {
      success: (found) => {
        setSetup(found)
        if (found.session !== null) setSession(found.session)
      },
      failure: fail
    })
  }, [source])

  useEffect(begin, [begin])

  useEffect(() => {
    Settings.applyTheme(settings.theme)
  }, [settings.theme])

  // The address names the repository and the query, so that it can be sent to somebody else. It never has the token.
  useEffect(() => {
    if (session === undefined) return
    const { api, branch, repo, root } = session
    if (place.api !== api || place.repo !== repo || place.branch !== branch || place.root !== root) {
      const other = isElsewhere(place, session)
      if (other) {
        setElsewhere(place)
        announce(`The address names another place than ${repo}, which is signed in to.`)
      }
      go({ ...(other ? start : {}), api, repo, branch, root }, "replace")
    }
  }, [session, place])

  const title = titleOf(place, session)
  useEffect(() => {
    document.title = title
  }, [title])

  const change = (part: Partial<Settings.Settings>) => setSettings(Settings.save(part))

  const enter = (entered: SessionView) => {
    setProblem(undefined)
    const { api, branch, repo, root } = entered
    change({ api, branch, repo, root })
    // What the form said counts, whatever the address named before.
    const same = place.repo === undefined || (place.repo === repo && (place.branch ?? branch) === branch)
    go({ ...(same ? {} : start), api, repo, branch, root }, "replace")
    setSession(entered)
    announce(
      `Signed in to ${repo}${entered.readOnly ? ", read-only" : ""}: ${counted(entered.collections.length, "collection")}.`
    )
  }

  const signIn = (request: LoginRequest) =>
    task.run(source.signIn(request), { success: enter, failure: fail })

  const signOut = (to?: Place) =>
    leave(() => {
      setSession(undefined)
      setElsewhere(undefined)
      go(to ?? start)
      leaving.run(source.signOut, {
        success: () => {
          setProblem(undefined)
          announce("Signed out.")
        },
        failure: fail
      })
    })

  return (
    <div class="app">
      {session !== undefined ? (
        <Workbench
          frame={{
            waiting: <main class="skeleton-card" aria-busy="true" aria-label="Loading" />,
            failed: (card) => <main class="sign-in">{card}</main>
          }}
          key={`${session.api} ${session.repo} ${session.branch} ${session.root}`}
          source={watchedSource}
          session={session}
          place={place}
          elsewhere={elsewhere}
          onElsewhere={(there) => (there ? signOut(elsewhere) : setElsewhere(undefined))}
          go={go}
          settings={settings}
          onSettings={change}
          onSession={enter}
          onSignOut={signOut}
        />
      ) : (
        <>
          <TopBar title="Console">
            <span class="grow" />
            <ThemeButton theme={settings.theme} onTheme={(theme) => change({ theme })} />
          </TopBar>
          {setup !== undefined ? (
            <SignIn
              build={source.build}
              setup={setup}
              place={place}
              running={task.running}
              leaving={leaving.running}
              problem={problem}
              onSignIn={signIn}
              onSignOut={() => signOut()}
              onCancel={task.cancel}
            />
          ) : (
            <main class="sign-in" aria-busy={problem === undefined}>
              <h1 class="sr-only">Chainstore console</h1>
              {problem === undefined ? (
                <>
                  <div class="skeleton-words" aria-hidden="true" />
                  <div class="skeleton-card" aria-hidden="true" />
                </>
              ) : (
                <ProblemCard problem={problem}>
                  <button type="button" class="button primary" onClick={begin}>
                    Try again
                  </button>
                </ProblemCard>
              )}
            </main>
          )}
        </>
      )}
      <Announcer />
    </div>
  )
}
