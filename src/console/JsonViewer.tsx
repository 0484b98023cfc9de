import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Json, JsonObject } from "../domain/Document.js"
import { printPath } from "../store/browse/Difference.js"
import { announce } from "./Announcer.js"
import { clipped } from "./Cell.js"
import { copyText } from "./Clipboard.js"
import { Icon } from "./Icon.js"

interface Line {
  readonly key: string
  readonly path: ReadonlyArray<string | number>
  readonly value: Json
  readonly depth: number
  /** How many values it holds; undefined for what holds none. */
  readonly size: number | undefined
  readonly position: number
  readonly siblings: number
}

const isContainer = (value: Json): value is JsonObject | ReadonlyArray<Json> =>
  typeof value === "object" && value !== null

const entriesOf = (
  value: JsonObject | ReadonlyArray<Json>
): ReadonlyArray<readonly [string | number, Json]> =>
  Array.isArray(value)
    ? value.map((element: Json, i) => [i, element] as const)
    : Object.entries(value as JsonObject)

const keyOf = (path: ReadonlyArray<string | number>) => JSON.stringify(path)

const linesOf = (document: JsonObject, folded: ReadonlySet<string>): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  const visit = (value: JsonObject | ReadonlyArray<Json>, path: ReadonlyArray<string | number>) => {
    const entries = entriesOf(value)
    entries.forEach(([name, child], i) => {
      const here = [...path, name]
      const key = keyOf(here)
      const container = isContainer(child)
      lines.push({
        key,
        path: here,
        value: child,
        depth: path.length,
        size: container ? Object.keys(child).length : undefined,
        position: i + 1,
        siblings: entries.length
      })
      if (container && !folded.has(key)) visit(child, here)
    })
  }
  visit(document, [])
  return lines
}

const containersOf = (document: JsonObject): ReadonlyArray<string> =>
  linesOf(document, new Set())
    .filter(({ size }) => size !== undefined)
    .map(({ key }) => key)

const text = (value: Json): string =>
  typeof value === "string" ? JSON.stringify(value) : isContainer(value) ? "" : String(value)

const lineHeight = 26

/** A document as a tree: fold, search, and copy the value or the path of a line. */
export const JsonViewer = ({
  document: shown,
  name
}: {
  readonly document: JsonObject
  readonly name: string
}) => {
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => {
    const all = linesOf(shown, new Set())
    return new Set(
      all.length > 5000
        ? all.filter(({ depth, size }) => depth > 0 && size !== undefined).map(({ key }) => key)
        : []
    )
  })
  const [active, setActive] = useState(0)
  const [search, setSearch] = useState("")
  const scroll = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => linesOf(shown, folded), [shown, folded])
  const wanted = search.toLowerCase()
  const found = useMemo(() => {
    if (wanted === "") return []
    return linesOf(shown, new Set()).filter(
      ({ path, value }) =>
        String(path[path.length - 1])
          .toLowerCase()
          .includes(wanted) ||
        (!isContainer(value) && String(value).toLowerCase().includes(wanted))
    )
  }, [shown, wanted])
  const hits = useMemo(() => new Set(found.map(({ key }) => key)), [found])
  const hit = useRef(0)
  const virtual = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => lineHeight,
    overscan: 12
  })
  const current = lines[Math.min(active, lines.length - 1)]

  const reveal = (key: string, path: ReadonlyArray<string | number>) => {
    const open = new Set(folded)
    for (let length = 1; length < path.length; length++) open.delete(keyOf(path.slice(0, length)))
    const next = linesOf(shown, open)
    const index = next.findIndex((line) => line.key === key)
    setFolded(open)
    setActive(index)
    requestAnimationFrame(() => virtual.scrollToIndex(index, { align: "center" }))
  }

  const seek = (step: number) => {
    if (found.length === 0) {
      if (wanted !== "") announce(`Nothing in ${name} matches “${search}”.`)
      return
    }
    hit.current = (hit.current + step + found.length) % found.length
    const line = found[hit.current]!
    reveal(line.key, line.path)
    announce(`Match ${hit.current + 1} of ${found.length}: ${printPath(line.path)}`)
  }

  useEffect(() => {
    hit.current = -1
  }, [wanted])

  const fold = (line: Line, closed: boolean) =>
    setFolded((all) => {
      const next = new Set(all)
      if (closed) next.add(line.key)
      else next.delete(line.key)
      return next
    })

  const move = (index: number) => {
    const next = Math.max(0, Math.min(lines.length - 1, index))
    setActive(next)
    virtual.scrollToIndex(next)
  }

  const keys = (event: KeyboardEvent) => {
    if (current === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    const closed = folded.has(current.key)
    switch (event.key) {
      case "ArrowDown":
        move(active + 1)
        break
      case "ArrowUp":
        move(active - 1)
        break
      case "Home":
        move(0)
        break
      case "End":
        move(lines.length - 1)
        break
      case "ArrowRight":
        if (current.size !== undefined && closed) fold(current, false)
        else move(active + 1)
        break
      case "ArrowLeft":
        if (current.size !== undefined && !closed) fold(current, true)
        else {
          const parent = keyOf(current.path.slice(0, -1))
          const index = lines.findIndex(({ key }) => key === parent)
          if (index >= 0) move(index)
        }
        break
      case "Enter":
      case " ":
        if (current.size !== undefined) fold(current, !closed)
        break
      default:
        return
    }
    event.preventDefault()
  }

  return (
    <div class="json">
      <div class="json-tools" role="toolbar" aria-label="Document tools">
        <label class="search">
          <span class="sr-only">Search in the document</span>
          <Icon name="search" />
          <input
            type="search"
            placeholder="Search keys and values"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return
              event.preventDefault()
              seek(event.shiftKey ? -1 : 1)
            }}
          />
          {wanted === "" ? null : <span class="count">{found.length}</span>}
        </label>
        <button
          type="button"
          class="button small quiet"
          onClick={() => setFolded(new Set(containersOf(shown)))}
        >
          Fold all
        </button>
        <button type="button" class="button small quiet" onClick={() => setFolded(new Set())}>
          Unfold all
        </button>
        <button
          type="button"
          class="button small quiet"
          disabled={current === undefined}
          onClick={() =>
            current === undefined ||
            copyText(
              typeof current.value === "string" ? current.value : JSON.stringify(current.value, null, 2),
              `the value of ${printPath(current.path)}`
            )
          }
        >
          <Icon name="copy" />
          Copy value
        </button>
        <button
          type="button"
          class="button small quiet"
          disabled={current === undefined}
          onClick={() => current === undefined || copyText(printPath(current.path), "the path")}
        >
          Copy path
        </button>
      </div>
      <div class="json-scroll" ref={scroll}>
        <div
          class="json-tree"
          role="tree"
          tabIndex={0}
          aria-label={name}
          aria-activedescendant={current === undefined ? undefined : `line-${active}`}
          style={{ height: virtual.getTotalSize() }}
          onKeyDown={keys}
        >
          {virtual.getVirtualItems().map((item) => {
            const line = lines[item.index]!
            const closed = folded.has(line.key)
            const leaf = line.path[line.path.length - 1]
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it has the keys
              <div
                key={line.key}
                id={`line-${item.index}`}
                role="treeitem"
                tabIndex={-1}
                aria-level={line.depth + 1}
                aria-posinset={line.position}
                aria-setsize={line.siblings}
                aria-selected={item.index === active}
                aria-expanded={line.size === undefined ? undefined : !closed}
                class={`json-line ${item.index === active ? "active" : ""} ${hits.has(line.key) ? "hit" : ""}`}
                style={{
                  transform: `translateY(${item.start}px)`,
                  paddingLeft: 8 + Math.min(line.depth, 20) * 16
                }}
                onClick={() => {
                  setActive(item.index)
                  if (line.size !== undefined) fold(line, !closed)
                }}
              >
                <span class="json-fold">
                  {line.size === undefined ? null : <Icon name={closed ? "plus" : "down"} />}
                </span>
                <bdi class={typeof leaf === "number" ? "json-index" : "json-key"}>
                  {clipped(String(leaf))}
                </bdi>
                <span class="json-colon">:</span>
                {line.size === undefined ? (
                  <bdi class={`json-value ${line.value === null ? "null" : typeof line.value}`}>
                    {clipped(text(line.value))}
                  </bdi>
                ) : (
                  <span class="json-size">
                    {Array.isArray(line.value) ? `[ ${line.size} ]` : `{ ${line.size} }`}
                  </span>
                )}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}
