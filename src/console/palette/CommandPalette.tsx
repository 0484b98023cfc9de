import "./palette.css"
import { useMemo, useRef, useState } from "preact/hooks"
import { ModalDialog } from "../components/ModalDialog.js"
import { shortcuts } from "../page/WorkbenchShortcuts.js"
import { type Match, rank } from "./FuzzyMatch.js"
import { menuCommands } from "./MenuCommands.js"

interface Command {
  readonly name: string
  /** The kind of data, if the command is not an action: data may have the name of an action. */
  readonly kind?: string | undefined
  readonly keys?: string | undefined
  readonly run: () => void
}

/** The maximum number of commands shown. */
const maxShown = 40

const nameOf = (button: HTMLElement): string =>
  (button.getAttribute("aria-label") ?? button.textContent ?? "").replace(/\s+/g, " ").trim()

const press = (button: HTMLElement) => () => {
  button.focus()
  button.click()
}

const kindOf = (button: HTMLElement): string | undefined =>
  button.classList.contains("collection") ? "collection" : undefined

/** Identifies a command. */
const keyOf = ({ keys, kind, name }: Command): string => JSON.stringify([keys, kind, name])

/** A command for every enabled button of the page. */
const buttons = (): ReadonlyArray<Command> => {
  const seen = new Set<string>()
  return [...document.querySelectorAll<HTMLElement>(".bench button:not(:disabled)")].flatMap((button) => {
    const command: Command = { name: nameOf(button), kind: kindOf(button), run: press(button) }
    const key = keyOf(command)
    if (command.name === "" || seen.has(key) || button.closest("dialog, [inert]") !== null) return []
    if (!button.checkVisibility()) return []
    seen.add(key)
    return [command]
  })
}

/** Finds an action, a collection or a row by letters of its name. */
export const CommandPalette = (props: {
  readonly actions: Readonly<Record<string, () => void>>
  readonly onClose: () => void
}) => {
  const [text, setText] = useState("")
  const [chosen, setChosen] = useState(0)
  const commands = useMemo((): ReadonlyArray<Command> => {
    const keyed = shortcuts.flatMap(({ keys, what }): ReadonlyArray<Command> => {
      const run = props.actions[keys]
      // Without the key of the palette itself, and `?`, which also has a button.
      return run === undefined || keys === "Ctrl+k" || keys === "?" ? [] : [{ name: what, keys, run }]
    })
    return [...keyed, ...buttons(), ...menuCommands()]
  }, [])
  const found: ReadonlyArray<Match<Command>> = useMemo(
    () => rank(text, commands, ({ name }) => name).slice(0, maxShown),
    [text, commands]
  )
  const before = useRef(document.activeElement)

  const run = (command: Command | undefined) => {
    if (command === undefined) return
    props.onClose()
    // Runs after the dialog has returned the focus, so that the command can move it.
    requestAnimationFrame(() => requestAnimationFrame(command.run))
  }

  const keys = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      const next = (chosen + step + found.length) % Math.max(found.length, 1)
      setChosen(next)
      document.getElementById(`command-${next}`)?.scrollIntoView({ block: "nearest" })
    } else if (event.key === "Enter") {
      event.preventDefault()
      run(found[chosen]?.item)
    }
  }

  return (
    <ModalDialog label="Find an action" class="palette" opener={() => before.current} onClose={props.onClose}>
      <input
        class="input"
        role="combobox"
        aria-label="Action, collection or row"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={found.length === 0 ? undefined : `command-${chosen}`}
        autocomplete="off"
        spellcheck={false}
        placeholder="Search"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={keys}
      />
      <div id="commands" role="listbox" aria-label="Actions">
        {found.map(({ item: of }, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field that has the focus handles the keys
          <div
            key={keyOf(of)}
            id={`command-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen}
            onClick={() => run(of)}
          >
            <bdi>{of.name}</bdi>
            {of.kind === undefined ? null : <span class="quiet-text">{of.kind}</span>}
            {of.keys === undefined ? null : <kbd>{of.keys}</kbd>}
          </div>
        ))}
      </div>
      <p class="quiet-text">{found.length === 0 ? "No results." : ""}</p>
    </ModalDialog>
  )
}
