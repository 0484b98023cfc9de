import { useRef, useState } from "preact/hooks"
import { announce } from "../Announcer.js"
import { Icon } from "../Icon.js"
import { comparisons, type Draft, type HandlerDraft, nextKey } from "./Draft.js"

const words = { equals: "equals", lessThan: "is less than", greaterThan: "is greater than" } as const

/** The chain being composed: handlers are added, moved and removed by mouse, drag or keys. */
export const Composer = (props: {
  readonly draft: Draft
  readonly onChange: (change: Partial<Draft>) => void
}) => {
  const { handlers } = props.draft
  const [dragged, setDragged] = useState<number | undefined>(undefined)
  // The drop may come before the next drawing.
  const held = useRef<number | undefined>(undefined)
  const list = useRef<HTMLOListElement>(null)

  const hold = (index: number | undefined) => {
    held.current = index
    setDragged(index)
  }

  const set = (next: ReadonlyArray<HandlerDraft>) => props.onChange({ handlers: next })

  const change = (key: number, part: Partial<HandlerDraft>) =>
    set(handlers.map((handler) => (handler.key === key ? { ...handler, ...part } : handler)))

  const focus = (selector: string) =>
    requestAnimationFrame(() =>
      requestAnimationFrame(() => list.current?.parentElement?.querySelector<HTMLElement>(selector)?.focus())
    )

  const move = (from: number, to: number) => {
    if (to < 0 || to >= handlers.length || from === to) return
    const next = [...handlers]
    const [moved] = next.splice(from, 1)
    next.splice(to, 0, moved!)
    set(next)
    announce(`${moved!.name || "The handler"} is now step ${to + 1} of ${next.length}.`)
    return moved!.key
  }

  const step = (from: number, by: number) => {
    const key = move(from, from + by)
    if (key === undefined) return
    const edge = from + by === 0 ? "down" : from + by === handlers.length - 1 ? "up" : by < 0 ? "up" : "down"
    focus(`[data-key="${key}"] [data-move="${edge}"]`)
  }

  const add = () => {
    const key = nextKey()
    set([
      ...handlers,
      { key, name: `handler-${handlers.length + 1}`, comparison: "equals", than: "0", respond: "{request}" }
    ])
    announce(`Added step ${handlers.length + 1}.`)
    focus(`[data-key="${key}"] input`)
  }

  const remove = (index: number) => {
    const [gone] = handlers.slice(index, index + 1)
    set(handlers.filter((_, i) => i !== index))
    announce(`Removed ${gone?.name || "the handler"}.`)
    const neighbour = handlers[index + 1] ?? handlers[index - 1]
    focus(neighbour === undefined ? "[data-add]" : `[data-key="${neighbour.key}"] [data-remove]`)
  }

  return (
    <div class="composer">
      <ol class="steps" ref={list}>
        <li class="step fixed">
          <span class="step-kind">middleware</span>
          <strong>logging</strong>
          <span class="quiet-text">stands in front of every chain</span>
        </li>
        {handlers.map((handler, i) => (
          <li
            class={`step ${dragged === i ? "dragged" : ""}`}
            key={handler.key}
            data-key={handler.key}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault()
              if (held.current !== undefined) move(held.current, i)
              hold(undefined)
            }}
            onKeyDown={(event) => {
              if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return
              event.preventDefault()
              step(i, event.key === "ArrowUp" ? -1 : 1)
            }}
          >
            <div class="step-head">
              <span
                class="grip"
                draggable
                title="Drag to move"
                aria-hidden="true"
                onDragStart={(event) => {
                  // Firefox drags nothing that carries nothing.
                  event.dataTransfer?.setData("text/plain", handler.name)
                  hold(i)
                }}
                onDragEnd={() => hold(undefined)}
              >
                ⠿
              </span>
              <span class="step-kind">handler {i + 1}</span>
              <span class="grow" />
              <button
                type="button"
                class="button icon-only small quiet"
                data-move="up"
                disabled={i === 0}
                aria-label={`Move ${handler.name || `handler ${i + 1}`} up`}
                onClick={() => step(i, -1)}
              >
                <Icon name="up" />
              </button>
              <button
                type="button"
                class="button icon-only small quiet"
                data-move="down"
                disabled={i === handlers.length - 1}
                aria-label={`Move ${handler.name || `handler ${i + 1}`} down`}
                onClick={() => step(i, 1)}
              >
                <Icon name="down" />
              </button>
              <button
                type="button"
                class="button icon-only small quiet"
                data-remove
                aria-label={`Remove ${handler.name || `handler ${i + 1}`}`}
                onClick={() => remove(i)}
              >
                <Icon name="close" />
              </button>
            </div>
            <div class="step-fields">
              <label class="field">
                <span>Name</span>
                <input
                  value={handler.name}
                  spellcheck={false}
                  onInput={(event) => change(handler.key, { name: event.currentTarget.value })}
                />
              </label>
              <label class="field">
                <span>When the request</span>
                <select
                  value={handler.comparison}
                  onChange={(event) => {
                    const comparison = comparisons.find((one) => one === event.currentTarget.value)
                    if (comparison !== undefined) change(handler.key, { comparison })
                  }}
                >
                  {comparisons.map((comparison) => (
                    <option key={comparison} value={comparison}>
                      {words[comparison]}
                    </option>
                  ))}
                </select>
              </label>
              <label class="field">
                <span>Number</span>
                <input
                  inputMode="decimal"
                  value={handler.than}
                  onInput={(event) => change(handler.key, { than: event.currentTarget.value })}
                />
              </label>
              <label class="field wide">
                <span>
                  Respond with (<code>{"{request}"}</code> is replaced)
                </span>
                <input
                  value={handler.respond}
                  spellcheck={false}
                  onInput={(event) => change(handler.key, { respond: event.currentTarget.value })}
                />
              </label>
            </div>
          </li>
        ))}
      </ol>
      <button type="button" class="button plain" data-add onClick={add}>
        <Icon name="plus" />
        Add a handler
      </button>
      <fieldset class="fallback">
        <legend class="sr-only">Fallback</legend>
        <label class="inline-check">
          <input
            type="checkbox"
            checked={props.draft.fallback !== null}
            onChange={(event) =>
              props.onChange({ fallback: event.currentTarget.checked ? "nobody took {request}" : null })
            }
          />
          <span>Fallback for what no handler accepts</span>
        </label>
        {props.draft.fallback === null ? null : (
          <label class="field">
            <span>Fallback response</span>
            <input
              value={props.draft.fallback}
              spellcheck={false}
              onInput={(event) => props.onChange({ fallback: event.currentTarget.value })}
            />
          </label>
        )}
      </fieldset>
    </div>
  )
}
