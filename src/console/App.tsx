import { useCallback, useEffect, useMemo, useState } from "preact/hooks"
import type { LoginRequest, SessionView, Setup } from "../http/console/Api.js"
import { Announcer, alarmProblem, announce } from "./components/Announcer.js"
import { lazyComponent } from "./components/LazyComponent.js"
import { plural } from "./components/Plural.js"
import type { Problem } from "./components/Problem.js"
import { ProblemCard } from "./components/ProblemCard.js"
import { useEffectRunner } from "./components/useEffectRunner.js"
import { rememberRepository } from "./home/RecentRepositories.js"
import { guardNavigation } from "./navigation/NavigationGuard.js"
import { initialRoute, type Route } from "./navigation/Route.js"
import { useRoute } from "./navigation/useRoute.js"
import * as Settings from "./page/Settings.js"
import { ThemeButton, TopBar } from "./page/TopBar.js"
import { SignIn } from "./session/SignIn.js"
import { type DataSourceService, withSessionEnd } from "./source/DataSource.js"

const Workbench = lazyComponent(() => import("./workbench/Workbench.js").then((found) => found.Workbench))

const parts = ["api", "repo", "branch", "root"] as const

/** Whether a route names another repository, branch or root than the session. */
const isElsewhere = (route: Route, session: SessionView): boolean =>
  parts.some((name) => route[name] !== undefined && route[name] !== session[name])

/** The page title of a route. */
const titleOf = ({ collection, document }: Route, session: SessionView | undefined): string =>
  [...(session === undefined ? [] : [document, collection, session.repo]), "Chainstore console"]
    .filter((name) => name !== undefined)
    .join(" · ")

/** The console over a data source. */
export const App = ({ source }: { readonly source: DataSourceService }) => {
  const [route, navigate] = useRoute()
  const [settings, setSettings] = useState(Settings.load)
  const [setup, setSetup] = useState<Setup | undefined>(undefined)
  const [session, setSession] = useState<SessionView | undefined>(undefined)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  const [otherRoute, setOtherRoute] = useState<Route | undefined>(undefined)
  const task = useEffectRunner()
  const leaving = useEffectRunner()

  const fail = useCallback((failure: Problem) => {
    setProblem(failure)
    alarmProblem(failure)
  }, [])

  const watchedSource = useMemo(
    () =>
      withSessionEnd(source, (ended) =>
        guardNavigation(() => {
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
        if (found.session === null) return
        rememberRepository(found.session)
        setSession(found.session)
      },
      failure: fail
    })
  }, [source])

  useEffect(begin, [begin])

  useEffect(() => {
    Settings.applyTheme(settings.theme)
  }, [settings.theme])

  // The address contains the repository and the query, so that it can be shared. It never contains the token.
  useEffect(() => {
    if (session === undefined) return
    const { api, branch, repo, root } = session
    if (route.api !== api || route.repo !== repo || route.branch !== branch || route.root !== root) {
      const other = isElsewhere(route, session)
      if (other) {
        setOtherRoute(route)
        announce(`This link opens another repository than ${repo}, which you are signed in to.`)
      }
      navigate({ ...(other ? initialRoute : {}), api, repo, branch, root }, "replace")
    }
  }, [session, route])

  const title = titleOf(route, session)
  useEffect(() => {
    document.title = title
  }, [title])

  const change = (part: Partial<Settings.Settings>) => setSettings(Settings.save(part))

  const enter = (entered: SessionView) => {
    setProblem(undefined)
    const { api, branch, repo, root } = entered
    change({ api, branch, repo, root })
    // The form takes precedence over the address.
    const same = route.repo === undefined || (route.repo === repo && (route.branch ?? branch) === branch)
    navigate({ ...(same ? {} : initialRoute), api, repo, branch, root }, "replace")
    rememberRepository(entered)
    setSession(entered)
    announce(
      `Signed in to ${repo}${entered.readOnly ? ", read-only" : ""}: ${plural(entered.collections.length, "collection")}.`
    )
  }

  const signIn = (request: LoginRequest) =>
    task.run(source.signIn(request), { success: enter, failure: fail })

  const signOut = (to?: Route) =>
    guardNavigation(() => {
      setSession(undefined)
      setOtherRoute(undefined)
      navigate(to ?? initialRoute)
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
          route={route}
          otherRoute={otherRoute}
          onOtherRoute={(open) => (open ? signOut(otherRoute) : setOtherRoute(undefined))}
          navigate={navigate}
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
              key={JSON.stringify(parts.map((name) => route[name]))}
              build={source.build}
              setup={setup}
              route={route}
              running={task.running}
              leaving={leaving.running}
              problem={problem}
              onSignIn={signIn}
              onSignOut={() => signOut()}
              onOpen={(repository) => navigate({ ...initialRoute, ...repository })}
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
