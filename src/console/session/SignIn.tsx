import { useLayoutEffect, useRef } from "preact/hooks"
import type { LoginRequest, Setup } from "../../http/console/Api.js"
import { lazyComponent } from "../components/LazyComponent.js"
import type { Problem } from "../components/Problem.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { RunButton } from "../components/RunButton.js"
import { type RecentRepository, recentRepositories } from "../home/RecentRepositories.js"
import type { Route } from "../navigation/Route.js"
import * as Settings from "../page/Settings.js"

const RecentSignIns = lazyComponent(() =>
  import("../home/RecentCard.js").then((module) => module.RecentSignIns)
)

/** The sign-in form. The token is read from its field once and not kept in the page's state. */
export const SignIn = (props: {
  readonly build: "hosted" | "local"
  readonly setup: Setup
  readonly route: Route
  readonly running: boolean
  /** Whether the previous sign-out is still running. */
  readonly leaving: boolean
  readonly problem: Problem | undefined
  readonly onSignIn: (request: LoginRequest) => void
  readonly onSignOut: () => void
  /** Fills in the form for a repository that was opened before. */
  readonly onOpen: (repository: RecentRepository) => void
  readonly onCancel: () => void
}) => {
  const form = useRef<HTMLFormElement>(null)
  const remembered = Settings.load()
  const { leaving, route, running, setup } = props
  const repo = route.repo ?? remembered.repo ?? ""
  const apis = setup.apis
  const wanted = route.api ?? remembered.api
  const api = wanted !== undefined && apis.includes(wanted) ? wanted : apis[0]

  useLayoutEffect(() => {
    const field = form.current?.elements.namedItem(repo === "" ? "repo" : "token")
    // On a small screen the demo above the form stays visible.
    if (field instanceof HTMLElement) field.focus({ preventScroll: true })
  }, [])

  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (running || leaving || form.current === null) return
    const data = new FormData(form.current)
    const value = (name: string) => String(data.get(name) ?? "").trim()
    const token = value("token")
    const chosen = value("api") || api
    props.onSignIn({
      repo: value("repo"),
      branch: value("branch") || "main",
      root: value("root"),
      ...(token === "" ? {} : { token }),
      ...(chosen === undefined ? {} : { api: chosen })
    })
  }

  return (
    <main class="sign-in">
      <div class="sign-in-words">
        <h1>Documents in a Git repository</h1>
        <p>
          Each document is a JSON file and each change is a commit. Browse and query collections, edit
          documents, and restore earlier versions.
        </p>
        {setup.demo ? (
          <div class="card demo">
            <h2>Try the demo</h2>
            <p>The demo contains products, flags and articles. It runs on this machine and needs no token.</p>
            <RunButton
              running={running || leaving}
              kind="plain"
              icon="play"
              onClick={() =>
                props.onSignIn({ repo: "local/demo", api: "embedded", branch: "main", root: "data" })
              }
            >
              Open the demo
            </RunButton>
          </div>
        ) : null}
        {recentRepositories().length === 0 ? null : (
          <RecentSignIns
            frame={{ waiting: null, failed: (card) => card }}
            apis={apis}
            onOpen={props.onOpen}
          />
        )}
        <p>
          <a href={props.build === "hosted" ? "../playground/" : "/playground"}>Chain playground</a>
        </p>
      </div>
      <form class="card form" ref={form} method="post" onSubmit={submit} aria-labelledby="sign-in-title">
        <h2 id="sign-in-title">Sign in</h2>
        {props.problem === undefined ? null : (
          <ProblemCard problem={props.problem}>
            {props.problem.kind === "signOut" ? (
              <RunButton running={leaving} onClick={props.onSignOut}>
                Sign out again
              </RunButton>
            ) : null}
          </ProblemCard>
        )}
        {apis.length > 1 ? (
          <label class="field">
            <span>Server</span>
            <select name="api" defaultValue={api}>
              {apis.map((name) => (
                <option key={name} value={name} selected={name === api}>
                  {name === "embedded" ? "Embedded host" : name}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        <label class="field">
          <span>Repository</span>
          <input
            name="repo"
            required
            defaultValue={repo}
            placeholder="owner/name"
            pattern="[^\s\/]+\/[^\s\/]+"
            title="owner/name"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
          />
        </label>
        <div class="field">
          <label for="token">Token</label>
          <input
            id="token"
            name="token"
            type="password"
            autocomplete="off"
            spellcheck={false}
            aria-describedby="token-help"
          />
          <p class="help" id="token-help">
            Needs <b>Contents: read</b> to browse and <b>read and write</b> to restore (classic tokens: the{" "}
            <code>repo</code> scope). Leave it empty to read a public repository.{" "}
            {props.build === "hosted"
              ? "It is kept in this tab's memory and sent only to the selected server."
              : "It is kept in your local server's memory and is never sent back to the page."}
          </p>
        </div>
        <div class="pair">
          <label class="field">
            <span>Branch</span>
            <input
              name="branch"
              defaultValue={route.branch ?? remembered.branch ?? "main"}
              autocapitalize="none"
              spellcheck={false}
            />
          </label>
          <label class="field">
            <span>Data root</span>
            <input
              name="root"
              defaultValue={route.root ?? remembered.root ?? "data"}
              autocapitalize="none"
              spellcheck={false}
            />
          </label>
        </div>
        <div class="actions">
          <RunButton type="submit" kind="primary" running={running || leaving}>
            {running ? "Signing in…" : leaving ? "Signing out…" : "Sign in"}
          </RunButton>
          {running ? (
            <button type="button" class="button quiet" onClick={props.onCancel}>
              Cancel
            </button>
          ) : null}
        </div>
      </form>
    </main>
  )
}
