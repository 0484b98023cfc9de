import * as Effect from "effect/Effect"
import { useEffect, useRef, useState } from "preact/hooks"
import { Announcer, announce } from "../Announcer.js"
import { RunButton } from "../Busy.js"
import { copyText } from "../Clipboard.js"
import { Icon } from "../Icon.js"
import { Menu } from "../Menu.js"
import { ProblemCard } from "../ProblemCard.js"
import * as Settings from "../Settings.js"
import { ShortcutsButton, useShortcuts } from "../Shortcuts.js"
import { ShortcutsDialog } from "../ShortcutsDialog.js"
import { nextTheme, ThemeButton, TopBar } from "../TopBar.js"
import { useTask } from "../useTask.js"
import { executeAdHoc, executeTriage, type Ran } from "./Compose.js"
import { Composer } from "./Composer.js"
import { copyAs, languages } from "./CopyAs.js"
import { bodyOf, type Draft, fromBody, fromHash, pathOf, toHash } from "./Draft.js"
import { type Example, examples } from "./Examples.js"
import { Report } from "./Report.js"
import * as Service from "./Service.js"
import { TicketFields } from "./TicketFields.js"
import { TriageChart } from "./TriageChart.js"

const initial = () => fromHash(location.hash) ?? fromBody("own", examples[0]!.body)

const shortcuts = [
  { keys: "?", what: "This list" },
  { keys: "r", what: "Run the chain" },
  { keys: "n", what: "Add a handler" },
  { keys: "g", what: "Go to the result" },
  { keys: "t", what: "Change the theme" },
  { keys: "Alt ↑ ↓", what: "Inside a handler: move it" },
  { keys: "Esc", what: "Cancel the run, or close what is open" }
]

/** Compose a chain, run it here or at the service, and see what every step did. */
export const Playground = ({ service }: { readonly service: boolean }) => {
  const [draft, setDraft] = useState<Draft>(initial)
  const [ran, setRan] = useState<
    { readonly ran: Ran; readonly of: string; readonly where: string } | undefined
  >(undefined)
  const [at, setAt] = useState<"browser" | "service">("browser")
  const [settings, setSettings] = useState(Settings.load)
  const [help, setHelp] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  const task = useTask()

  /** Shows another chain, without the result of the last one. */
  const show = (next: Draft) => {
    task.reset()
    setDraft(next)
    setRan(undefined)
  }

  const change = (part: Partial<Settings.Settings>) => setSettings(Settings.save(part))

  useEffect(() => {
    Settings.applyTheme(settings.theme)
  }, [settings.theme])

  useEffect(() => {
    const follow = () => show(initial())
    addEventListener("popstate", follow)
    return () => removeEventListener("popstate", follow)
  }, [])

  const edit = (part: Partial<Draft>) =>
    setDraft((before) => {
      const next = { ...before, ...part }
      try {
        history.replaceState(null, "", toHash(next))
      } catch {
        // A browser may allow no more than so many addresses in half a minute.
      }
      return next
    })

  const load = (example: Example) => {
    const next = fromBody(example.mode, example.body)
    history.pushState(null, "", toHash(next))
    show(next)
    announce(`Loaded the example “${example.name}”.`)
  }

  const turn = (mode: Draft["mode"]) => {
    if (mode !== draft.mode) load(examples.find((example) => example.mode === mode)!)
  }

  const run = () => {
    const body = bodyOf(draft)
    const here = draft.mode === "triage" ? executeTriage(body) : executeAdHoc(body)
    const there = Effect.zipWith(Service.execute(pathOf(draft), body), here, (answer, { steps }) => ({
      ...answer,
      steps: answer.status === 400 ? [] : steps
    }))
    task.run(at === "service" ? there : here, {
      success: (result) => {
        setRan({
          ran: result,
          of: JSON.stringify(body),
          where: at === "service" ? "at the service" : "in this browser"
        })
        announce(
          "response" in result.body
            ? `Handled by ${result.body.handledBy}: ${result.body.response}`
            : `${result.status} ${result.body.error}: ${result.body.message}`
        )
        requestAnimationFrame(() => heading.current?.focus())
      }
    })
  }

  useShortcuts(
    settings.shortcuts,
    () => {
      if (task.running) {
        task.cancel()
        announce("The run was cancelled.")
      }
      return false
    },
    {
      "?": () => setHelp(true),
      r: run,
      n: () => document.querySelector<HTMLElement>("[data-add]")?.click(),
      g: () => heading.current?.focus(),
      t: () => change({ theme: nextTheme[settings.theme] })
    }
  )

  const origin = service ? location.origin : "http://127.0.0.1:3000"
  const { ticket } = draft
  return (
    <div class="app">
      <TopBar title="Chain playground">
        <span class="grow" />
        <nav class="links" aria-label="Elsewhere">
          <a href={service ? "/" : "../"}>Console</a>
          {service ? <a href="/docs">API</a> : null}
        </nav>
        <ShortcutsButton onClick={() => setHelp(true)} />
        <ThemeButton theme={settings.theme} onTheme={(theme) => change({ theme })} />
      </TopBar>
      <main class="play">
        <section class="play-compose" aria-labelledby="compose-title">
          <h1 id="compose-title">Chain playground</h1>
          <p class="quiet-text">
            Handlers are tried in order; the first whose condition matches answers. Everything can run in this
            page: nothing leaves the browser.
          </p>
          <div class="play-bar">
            <fieldset class="switch">
              <legend class="sr-only">Which chain</legend>
              {(["own", "triage"] as const).map((mode) => (
                <label key={mode}>
                  <input type="radio" name="mode" checked={draft.mode === mode} onChange={() => turn(mode)} />
                  <span>{mode === "own" ? "Your own chain" : "Ticket triage"}</span>
                </label>
              ))}
            </fieldset>
            <span class="grow" />
            <Menu label="Examples" icon="table">
              {(close) =>
                examples
                  .filter(({ mode }) => mode === draft.mode)
                  .map((example) => (
                    <button
                      type="button"
                      class="button small quiet start"
                      key={example.name}
                      onClick={() => {
                        close()
                        load(example)
                      }}
                    >
                      {example.name}
                    </button>
                  ))
              }
            </Menu>
          </div>
          <form
            class="play-form"
            method="post"
            onSubmit={(event) => {
              event.preventDefault()
              if (!task.running) run()
            }}
          >
            {draft.mode === "own" ? (
              <>
                <label class="field request">
                  <span>Request (a number)</span>
                  <input
                    inputMode="decimal"
                    value={draft.request}
                    onInput={(event) => edit({ request: event.currentTarget.value })}
                  />
                </label>
                <Composer draft={draft} onChange={edit} />
              </>
            ) : (
              <TicketFields
                ticket={ticket}
                onChange={(change) => edit({ ticket: { ...ticket, ...change } })}
              />
            )}
            <div class="play-run">
              {service ? (
                <fieldset class="switch">
                  <legend class="sr-only">Where it runs</legend>
                  {(["browser", "service"] as const).map((place) => (
                    <label key={place}>
                      <input type="radio" name="where" checked={at === place} onChange={() => setAt(place)} />
                      <span>{place === "browser" ? "In this browser" : "At the service"}</span>
                    </label>
                  ))}
                </fieldset>
              ) : null}
              <span class="grow" />
              <Menu label="Copy as" icon="copy">
                {(close) =>
                  languages.map((language) => (
                    <button
                      type="button"
                      class="button small quiet start"
                      key={language}
                      onClick={() => {
                        copyText(copyAs(language, draft, origin), `the chain as ${language}`)
                        close()
                      }}
                    >
                      {language}
                    </button>
                  ))
                }
              </Menu>
              {task.running ? (
                <button type="button" class="button quiet" onClick={task.cancel}>
                  Cancel
                </button>
              ) : null}
              <RunButton type="submit" kind="primary" icon="play" running={task.running}>
                Run
              </RunButton>
            </div>
          </form>
        </section>
        <section class="play-result" aria-labelledby="result-title">
          <h2 id="result-title" ref={heading} tabIndex={-1}>
            Result
          </h2>
          {task.problem === undefined ? null : <ProblemCard problem={task.problem} />}
          {ran === undefined || ran.of === JSON.stringify(bodyOf(draft)) ? null : (
            <p class="banner">Changed since it ran: run it again to see what it does now.</p>
          )}
          {draft.mode === "triage" ? <TriageChart steps={ran?.ran.steps ?? []} /> : null}
          {ran === undefined ? (
            draft.mode === "triage" ? null : (
              <div class="empty">
                <Icon name="chain" />
                <p>Run the chain to see what each step did.</p>
              </div>
            )
          ) : (
            <Report ran={ran.ran} where={ran.where} withSteps={draft.mode === "own"} />
          )}
        </section>
      </main>
      <Announcer />
      {help ? (
        <ShortcutsDialog
          shortcuts={shortcuts}
          enabled={settings.shortcuts}
          onEnabled={(enabled) => change({ shortcuts: enabled })}
          onClose={() => setHelp(false)}
        />
      ) : null}
    </div>
  )
}
