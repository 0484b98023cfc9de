import { useEffect, useId, useRef, useState } from "preact/hooks"
import { announce } from "../components/Announcer.js"
import { copyText } from "../components/Clipboard.js"
import { Icon } from "../components/Icon.js"
import { type CodeLanguage, chainCode, languagesFor } from "./ChainCode.js"
import type { ChainDraft } from "./ChainDraft.js"
import { RadioGroup } from "./RadioGroup.js"
import { readDraft } from "./ReadDraft.js"

/** Edits the JSON of a run and shows its problems while the user types. */
const JsonEditor = (props: { readonly draft: ChainDraft; readonly onApply: (draft: ChainDraft) => void }) => {
  const { draft, onApply } = props
  const current = chainCode("JSON", draft, "")
  // Undefined while the editor shows the current chain.
  const [written, setWritten] = useState<string | undefined>(undefined)
  const area = useRef<HTMLTextAreaElement>(null)
  const about = useId()
  const text = written ?? current
  const found = written === undefined || written === current ? undefined : readDraft(written, draft.cases)
  const problems = found !== undefined && "problems" in found ? found.problems : []
  const apply = () => {
    if (found === undefined) return
    if ("problems" in found) {
      announce(`Not applied: ${problems[0]}.`)
      return
    }
    onApply(found.draft)
    setWritten(undefined)
    announce("Applied.")
    area.current?.focus()
  }
  return (
    <>
      <label class="field">
        <span>JSON of the run (you can also paste a curl command)</span>
        <textarea
          class="code"
          ref={area}
          rows={Math.min(24, text.split("\n").length + 1)}
          spellcheck={false}
          value={text}
          aria-invalid={problems.length > 0}
          aria-describedby={about}
          onInput={(event) => setWritten(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            event.stopPropagation()
            apply()
          }}
        />
      </label>
      <ul class="problems" id={about}>
        {problems.slice(0, 20).map((problem) => (
          <li key={problem}>
            <bdi>{problem}</bdi>
          </li>
        ))}
      </ul>
      <div class="actions">
        <button
          type="button"
          class="button primary"
          disabled={found === undefined || problems.length > 0}
          onClick={apply}
        >
          Apply
        </button>
        <button
          type="button"
          class="button quiet"
          disabled={written === undefined}
          onClick={() => setWritten(undefined)}
        >
          Discard
        </button>
      </div>
    </>
  )
}

/** The chain as TypeScript, JSON and curl; the JSON can be edited. */
export const CodePane = (props: {
  readonly draft: ChainDraft
  readonly origin: string
  readonly onApply: (draft: ChainDraft) => void
}) => {
  const { draft, onApply, origin } = props
  const able = languagesFor(draft)
  const [chosen, setChosen] = useState<CodeLanguage>("TypeScript")
  const language = able.includes(chosen) ? chosen : "TypeScript"
  const choices = Object.fromEntries(able.map((one) => [one, one])) as Record<CodeLanguage, string>
  const text = chainCode(language, draft, origin)
  useEffect(() => {
    if (language !== chosen) setChosen(language)
  }, [language])
  return (
    <div class="code-pane">
      <div class="play-bar">
        <RadioGroup
          legend="Language"
          name="language"
          choices={choices}
          value={language}
          onChange={setChosen}
        />
        <span class="grow" />
        <button type="button" class="button quiet" onClick={() => copyText(text, `the chain as ${language}`)}>
          <Icon name="copy" />
          Copy
        </button>
      </div>
      {language === "JSON" ? (
        <JsonEditor draft={draft} onApply={onApply} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section class="code" tabIndex={0} aria-label={`The chain as ${language}`}>
          <pre>{text}</pre>
        </section>
      )}
      {able.includes("curl") ? null : (
        <p class="quiet-text">
          The service knows no branches, fragments or work, so this chain cannot be sent to it by curl.
        </p>
      )}
    </div>
  )
}
