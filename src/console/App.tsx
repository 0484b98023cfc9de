import { lazy, Suspense } from "preact/compat"
import { useCallback, useEffect, useMemo, useState } from "preact/hooks"
import type { LoginRequest, SessionView, Setup } from "../http/console/Api.js"
import { Announcer, alarm, announce } from "./Announcer.js"
import { type DataSourceService, watched } from "./DataSource.js"
import { start } from "./Place.js"
import type { Problem } from "./Problem.js"
import { ProblemCard } from "./ProblemCard.js"
import * as Settings from "./Settings.js"
import { SignIn } from "./SignIn.js"
import { ThemeButton, TopBar } from "./TopBar.js"
import { usePlace } from "./usePlace.js"
import { useTask } from "./useTask.js"

const Workbench = lazy(() => import("./Workbench.js").then((part) => part.Workbench))

/** The console over any source of data. */
export const App = ({ source }: { readonly source: DataSourceService }) => {
  const [place, go] = usePlace()
  const [settings, setSettings] = useState(Settings.load)
  const [setup, setSetup] = useState<Setup | undefined>(undefined)
  const [session, setSession] = useState<SessionView | undefined>(undefined)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  const task = useTask()

  const fail = useCallback((failure: Problem) => {
    setProblem(failure)
    alarm(`${failure.title}. ${failure.message}`)
  }, [])

  const watchedSource = useMemo(
    () =>
      watched(source, (ended) => {
        setSession(undefined)
        fail(ended)
      }),
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

  // The address names what is looked at, so that it can be sent to somebody else; the token is never part of it.
  useEffect(() => {
    if (session === undefined) return
    const { api, branch, repo, root } = session
    if (place.api !== api || place.repo !== repo || place.branch !== branch || place.root !== root) {
      const same = place.repo === undefined || place.repo === repo
      go({ ...(same ? {} : start), api, repo, branch, root }, "replace")
    }
  }, [session, place])

  const change = (part: Partial<Settings.Settings>) => setSettings(Settings.save(part))

  const signIn = (request: LoginRequest) =>
    task.run(source.signIn(request), {
      success: (signedIn) => {
        setProblem(undefined)
        const { api, branch, repo, root } = signedIn
        change({ api, branch, repo, root })
        setSession(signedIn)
        announce(
          `Signed in to ${repo}${signedIn.readOnly ? ", read-only" : ""}: ${signedIn.collections.length} collections.`
        )
      },
      failure: fail
    })

  const signOut = () => {
    setSession(undefined)
    setProblem(undefined)
    go(start)
    task.run(source.signOut, { success: () => announce("Signed out."), failure: fail })
  }

  return (
    <div class="app">
      {session !== undefined ? (
        <Suspense fallback={<main class="skeleton-card" aria-busy="true" aria-label="Loading" />}>
          <Workbench
            key={`${session.api} ${session.repo} ${session.branch} ${session.root}`}
            source={watchedSource}
            session={session}
            place={place}
            go={go}
            settings={settings}
            onSettings={change}
            onSignOut={signOut}
          />
        </Suspense>
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
              problem={problem}
              onSignIn={signIn}
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
