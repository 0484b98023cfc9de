import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { printPath } from "../../store/browse/Difference.js"
import { alarmProblem, announce } from "../components/Announcer.js"
import { copyText } from "../components/Clipboard.js"
import { Icon } from "../components/Icon.js"
import { PartProblem } from "../components/PartProblem.js"
import { type Problem, partMissing } from "../components/Problem.js"
import type { JsonView } from "../json/JsonView.js"
import { truncated } from "./Cell.js"

type Path = ReadonlyArray<string | number>

/** Loads the viewer when a document opens: it is larger than the rest of the page. */
export const loadJsonView = () => import("../json/JsonView.js")

const valueAt = (document: JsonObject, path: Path): Json =>
  path.reduce<Json>((value, part) => (value as Record<string | number, Json>)[part]!, document)

const number = (n: number): string => n.toLocaleString("en")

const asText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2))

const steps = [
  { what: "Previous match", key: "Shift+Enter", icon: "up", step: -1 },
  { what: "Next match", key: "Enter", icon: "down", step: 1 }
] as const

/** A document as JSON with folding, search, and buttons that copy a value or a path. */
export const JsonViewer = ({
  document: shown,
  name
}: {
  readonly document: JsonObject
  readonly name: string
}) => {
  const [view, setView] = useState<JsonView | undefined>(undefined)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  const [retries, setRetries] = useState(0)
  const [path, setPath] = useState<Path>([])
  const [search, setSearch] = useState("")
  const [found, setFound] = useState({ total: 0, at: -1 })
  const host = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const text = useMemo(() => JSON.stringify(shown, null, 2), [shown])

  useEffect(() => {
    let gone = false
    let opened: JsonView | undefined
    loadJsonView().then(
      ({ open }) => {
        if (gone || host.current === null) return
        opened = open(host.current, {
          text,
          label: `JSON of ${name}`,
          onPath: setPath,
          onSearch: () => field.current?.select(),
          onAnnounce: announce
        })
        setProblem(undefined)
        setView(opened)
      },
      () => {
        if (gone) return
        const failure = partMissing("The part of this page that shows documents could not be loaded.")
        setProblem(failure)
        alarmProblem(failure)
      }
    )
    return () => {
      gone = true
      opened?.close()
    }
  }, [text, retries])

  const find = (wanted: string) => {
    setSearch(wanted)
    setFound({ total: view?.find(wanted) ?? 0, at: -1 })
  }

  const seek = (step: 1 | -1) => {
    const { at, total } = found
    if (view === undefined || search === "") return
    if (total === 0) return announce(`Nothing in ${name} matches “${search}”.`)
    const next = at < 0 && step < 0 ? total - 1 : (at + step + total) % total
    const where = view.goTo(next)
    setFound({ total, at: next })
    announce(`Match ${number(next + 1)} of ${number(total)}: ${printPath(where)}`)
  }

  const printed = printPath(path)
  const shut = view === undefined
  return (
    <div class="json">
      <div class="json-tools" role="toolbar" aria-label="Document tools">
        <label class="search">
          <span class="sr-only">Search in the document</span>
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            placeholder="Search keys and values"
            value={search}
            disabled={shut}
            onInput={(event) => find(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return
              event.preventDefault()
              seek(event.shiftKey ? -1 : 1)
            }}
          />
          {search === "" ? null : (
            <span class="count">
              {found.at < 0 ? "" : `${number(found.at + 1)}/`}
              {number(found.total)}
            </span>
          )}
        </label>
        {steps.map(({ icon, key, step, what }) => (
          <button
            key={icon}
            type="button"
            class="button small quiet icon-only"
            aria-label={what}
            title={`${what} (${key})`}
            disabled={found.total === 0}
            onClick={() => seek(step)}
          >
            <Icon name={icon} />
          </button>
        ))}
        <div class="together">
          <button type="button" class="button small quiet" disabled={shut} onClick={() => view?.foldAll()}>
            Fold all
          </button>
          <button type="button" class="button small quiet" disabled={shut} onClick={() => view?.unfoldAll()}>
            Unfold all
          </button>
        </div>
      </div>
      {problem === undefined ? null : (
        <PartProblem problem={problem} retries={retries} onRetry={setRetries} />
      )}
      <div class="json-text" ref={host} aria-busy={shut && problem === undefined} />
      <div class="json-place">
        <p class="json-path" title="Where the cursor is">
          {path.length === 0 ? "the whole document" : <bdi>{truncated(printed)}</bdi>}
        </p>
        <div class="together">
          <button
            type="button"
            class="button small quiet"
            disabled={shut}
            onClick={() =>
              copyText(
                asText(valueAt(shown, path)),
                path.length === 0 ? "the whole document" : `the value of ${truncated(printed)}`
              )
            }
          >
            <Icon name="copy" />
            Copy value
          </button>
          <button
            type="button"
            class="button small quiet"
            disabled={path.length === 0}
            onClick={() => copyText(printed, "the path")}
          >
            Copy path
          </button>
        </div>
      </div>
    </div>
  )
}
