import { useEffect, useRef, useState } from "preact/hooks"
import { Announcer, alarm, announce } from "../components/Announcer.js"
import { copyText } from "../components/Clipboard.js"
import { Icon } from "../components/Icon.js"
import { Menu } from "../components/Menu.js"
import { RunButton } from "../components/RunButton.js"
import * as Settings from "../page/Settings.js"
import { ShortcutsButton, useShortcuts } from "../page/Shortcuts.js"
import { ShortcutsDialog } from "../page/ShortcutsDialog.js"
import { nextTheme, ThemeButton, TopBar } from "../page/TopBar.js"
import { chainCode, languagesFor } from "./ChainCode.js"
import { type ChainDraft, fromBody, isSupportedByService } from "./ChainDraft.js"
import { Composer } from "./Composer.js"
import { type Example, examples } from "./Examples.js"
import { RadioGroup } from "./RadioGroup.js"
import { ResultPanel } from "./ResultPanel.js"
import { shortResult } from "./RunResult.js"
import { maxAddress, toHash } from "./ShareLink.js"
import { TicketFields } from "./TicketFields.js"
import { useChainDraft } from "./useChainDraft.js"
import { useCommandKeys } from "./useCommandKeys.js"
import { usePaste } from "./usePaste.js"
import { useRun } from "./useRun.js"
import { CaseTable, CodePane, FirstMinute, frame, type View, views } from "./Views.js"

const shortcuts = [
  { keys: "?", what: "Show this list" },
  { keys: "r", what: "Run in this browser and go to the result" },
  { keys: "Ctrl ↵", what: "Run on the service, if there is one" },
  { keys: "Ctrl Z", what: "Undo; with Shift: redo" },
  { keys: "n", what: "Add a handler" },
  { keys: "g", what: "Go to the result" },
  { keys: "t", what: "Change the theme" },
  { keys: "Alt ↑ ↓", what: "Inside a step: move it" },
  { keys: "Esc", what: "Cancel the query, or close the open panel" }
]

const modes = { own: "Your own chain", triage: "Ticket triage" } as const

/** The playground: a chain that runs while it is edited, with its result and the trace of every step. */
export const Playground = ({ service }: { readonly service: boolean }) => {
  const { canRedo, canUndo, draft, edit, generation, load, redo, replace, undo } = useChainDraft()
  const run = useRun(draft, generation)
  const [view, setView] = useState<View>("result")
  const [settings, setSettings] = useState(Settings.load)
  const [help, setHelp] = useState(false)
  const [guided, setGuided] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)

  const change = (part: Partial<Settings.Settings>) => setSettings(Settings.save(part))

  useEffect(() => {
    Settings.applyTheme(settings.theme)
  }, [settings.theme])

  const open = (example: Example) => {
    load(fromBody(example.mode, example.body, example.cases))
    announce(`Loaded the example “${example.name}”.`)
  }

  const turn = (mode: ChainDraft["mode"]) => {
    if (mode !== draft.mode) open(examples.find((example) => example.mode === mode)!)
  }

  const served = isSupportedByService(draft)
  const toResult = () => {
    setView("result")
    requestAnimationFrame(() => heading.current?.focus())
  }
  const runHere = () => run.now("in this browser", toResult)
  const ask = () => {
    if (!service) return runHere()
    if (served) return run.now("at the service", toResult)
    alarm("The service knows no branches, fragments or work: this chain runs in this browser.")
  }

  const share = () => {
    const hash = toHash(draft)
    if (hash.length > maxAddress) {
      alarm(
        `This chain is too long for a link (${hash.length} of ${maxAddress} characters). Copy it as JSON.`
      )
      return
    }
    copyText(location.href.replace(/#.*$/, "") + hash, "a link that opens with this result")
  }

  useShortcuts(
    settings.shortcuts,
    () => {
      if (run.running !== undefined) {
        run.cancel()
        announce("Cancelled.")
      }
      return false
    },
    {
      "?": () => setHelp(true),
      r: runHere,
      n: () => document.querySelector<HTMLElement>(".composer > .adders [data-add]")?.click(),
      g: toResult,
      t: () => change({ theme: nextTheme[settings.theme] })
    }
  )
  useCommandKeys({ enter: ask, undo, redo })

  usePaste((text) => {
    import("./ReadDraft.js").then(
      ({ readDraft }) => {
        const found = readDraft(text, draft.cases)
        if ("problems" in found) alarm(`The pasted text is not a valid run: ${found.problems[0]}.`)
        else {
          load(found.draft)
          announce("Loaded the pasted run.")
        }
      },
      () => alarm("A part of this page could not be loaded: paste again.")
    )
  })

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
            Handlers are tried in order; the first whose condition matches answers. The chain runs in this
            page while you type: nothing leaves the browser.
          </p>
          <div class="play-bar">
            <RadioGroup legend="Which chain" name="mode" choices={modes} value={draft.mode} onChange={turn} />
            <span class="grow" />
            <button
              type="button"
              class="button quiet"
              aria-expanded={guided}
              onClick={() => setGuided(!guided)}
            >
              Tutorial
            </button>
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
                        open(example)
                      }}
                    >
                      {example.name}
                    </button>
                  ))
              }
            </Menu>
          </div>
          {guided ? (
            <FirstMinute
              frame={frame}
              draft={draft}
              onShow={(example) => open(example)}
              onEnd={() => setGuided(false)}
            />
          ) : null}
          <form
            class="play-form"
            method="post"
            onSubmit={(event) => {
              event.preventDefault()
              runHere()
            }}
          >
            {draft.mode === "own" ? (
              <>
                <label class="field request">
                  <span>Request (a number)</span>
                  <input
                    inputMode="decimal"
                    value={draft.request}
                    onInput={(event) => edit({ request: event.currentTarget.value }, "request")}
                  />
                </label>
                <Composer draft={draft} onChange={edit} />
              </>
            ) : (
              <TicketFields
                ticket={ticket}
                onChange={(change) => edit({ ticket: { ...ticket, ...change } }, Object.keys(change).join())}
              />
            )}
            <div class="play-run">
              {run.shown === undefined ? null : (
                <button type="button" class="button plain small live-answer" onClick={toResult}>
                  <span class="sr-only">Result: </span>
                  <code>{run.shown.ran.status}</code>
                  <bdi>{shortResult(run.shown.ran)}</bdi>
                </button>
              )}
              <button
                type="button"
                class="button icon-only quiet"
                aria-label="Undo"
                title="Undo (Ctrl Z)"
                disabled={!canUndo}
                onClick={undo}
              >
                <Icon name="undo" />
              </button>
              <button
                type="button"
                class="button icon-only quiet"
                aria-label="Redo"
                title="Redo (Ctrl Shift Z)"
                disabled={!canRedo}
                onClick={redo}
              >
                <Icon name="redo" />
              </button>
              <span class="grow" />
              <button type="button" class="button quiet" onClick={share}>
                Share
              </button>
              <Menu label="Copy as" icon="copy">
                {(close) =>
                  languagesFor(draft).map((language) => (
                    <button
                      type="button"
                      class="button small quiet start"
                      key={language}
                      onClick={() => {
                        copyText(chainCode(language, draft, origin), `the chain as ${language}`)
                        close()
                      }}
                    >
                      {language}
                    </button>
                  ))
                }
              </Menu>
              {run.running === "at the service" ? (
                <button type="button" class="button quiet" onClick={run.cancel}>
                  Cancel
                </button>
              ) : null}
              {service ? (
                <RunButton
                  kind="plain"
                  running={run.running === "at the service"}
                  disabled={!served}
                  onClick={ask}
                >
                  Run on the service
                </RunButton>
              ) : null}
              <button type="submit" class="button primary">
                <Icon name="play" />
                Run
              </button>
            </div>
          </form>
        </section>
        <section class="play-result" aria-labelledby="result-title">
          <div class="play-bar">
            <h2 id="result-title" ref={heading} tabIndex={-1}>
              {views[view]}
            </h2>
            <span class="grow" />
            <RadioGroup legend="View" name="view" choices={views} value={view} onChange={setView} />
          </div>
          {view === "result" ? (
            <ResultPanel draft={draft} run={run} />
          ) : view === "table" ? (
            <CaseTable frame={frame} draft={draft} onChange={edit} />
          ) : (
            <CodePane frame={frame} draft={draft} origin={origin} onApply={replace} />
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
