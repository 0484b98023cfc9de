import { useRef, useState } from "preact/hooks"
import { announce } from "../components/Announcer.js"
import { Icon } from "../components/Icon.js"
import { type ChainDraft, maxDepth, newStep, type StepDraft } from "./ChainDraft.js"
import { type StepActions, StepCard } from "./StepCard.js"
import * as StepTree from "./StepTree.js"

const kinds = [
  { kind: "handler", text: "Add a handler" },
  { kind: "branch", text: "Add a branch" },
  { kind: "fragment", text: "Add a fragment" }
] as const

/** The response to requests that no step accepts. */
const Fallback = (props: {
  readonly value: string | null
  readonly label: string
  readonly onChange: (value: string | null, typing?: string) => void
}) => (
  <fieldset class="fallback">
    <legend class="sr-only">Fallback</legend>
    <label class="inline-check">
      <input
        type="checkbox"
        checked={props.value !== null}
        onChange={(event) => props.onChange(event.currentTarget.checked ? "nobody took {request}" : null)}
      />
      <span>{props.label}</span>
    </label>
    {props.value === null ? null : (
      <label class="field">
        <span>Fallback response</span>
        <input
          value={props.value}
          spellcheck={false}
          onInput={(event) => props.onChange(event.currentTarget.value, "fallback")}
        />
      </label>
    )}
  </fieldset>
)

/** Edits the chain: adds, moves and removes steps with the mouse, by dragging or with keys. */
export const Composer = (props: {
  readonly draft: ChainDraft
  readonly onChange: (change: Partial<ChainDraft>, typing?: string) => void
}) => {
  const { handlers } = props.draft
  const [dragged, setDragged] = useState<number | undefined>(undefined)
  // The drop can occur before the next render.
  const held = useRef<number | undefined>(undefined)
  const box = useRef<HTMLDivElement>(null)

  const set = (next: ReadonlyArray<StepDraft>, typing?: string) => props.onChange({ handlers: next }, typing)

  const focus = (selector: string) =>
    requestAnimationFrame(() =>
      requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(selector)?.focus())
    )

  const move = (key: number, to: number): boolean => {
    const position = StepTree.positionOf(handlers, key)
    if (position === undefined || to < 0 || to >= position.siblings.length || to === position.index)
      return false
    set(StepTree.moveStep(handlers, key, to))
    const name = position.siblings[position.index]!.name || "The step"
    announce(`${name} is now step ${to + 1} of ${position.siblings.length}.`)
    return true
  }

  const actions: StepActions = {
    held: dragged,
    change: (key, part, typing) =>
      set(StepTree.changeStep(handlers, key, part), typing === undefined ? undefined : `${key} ${typing}`),
    step: (key, by) => {
      const position = StepTree.positionOf(handlers, key)
      if (position === undefined || !move(key, position.index + by)) return
      const to = position.index + by
      const edge = to === 0 ? "down" : to === position.siblings.length - 1 ? "up" : by < 0 ? "up" : "down"
      focus(`[data-key="${key}"] [data-move="${edge}"]`)
    },
    remove: (key) => {
      const position = StepTree.positionOf(handlers, key)
      if (position === undefined) return
      const { index, siblings } = position
      set(StepTree.removeStep(handlers, key))
      announce(`Removed ${siblings[index]!.name || "the step"}.`)
      const neighbour = siblings[index + 1] ?? siblings[index - 1]
      focus(neighbour === undefined ? "[data-add]" : `[data-key="${neighbour.key}"] [data-remove]`)
    },
    hold: (key) => {
      held.current = key
      setDragged(key)
    },
    dropOn: (key) => {
      const target = StepTree.positionOf(handlers, key)
      const from = held.current
      // A step stays in its list.
      if (target?.siblings.some((one) => one.key === from) === true) move(from!, target.index)
      held.current = undefined
      setDragged(undefined)
    }
  }

  const add = (kind: StepDraft["kind"], group: number | undefined) => {
    const count = StepTree.countSteps(handlers) + 1
    const step = newStep(kind, `${kind}-${count}`)
    set(StepTree.addStep(handlers, group, step))
    announce(`Added ${step.name}.`)
    focus(`[data-key="${step.key}"] input`)
  }

  const adders = (depth: number, group?: number) => (
    <div class="adders">
      {kinds
        .filter(({ kind }) => kind === "handler" || depth < maxDepth)
        .map(({ kind, text }) => (
          <button
            type="button"
            class={group === undefined ? "button plain" : "button plain small"}
            key={kind}
            data-add={kind}
            onClick={() => add(kind, group)}
          >
            <Icon name="plus" />
            {text}
            {group === undefined ? null : <span class="sr-only"> inside</span>}
          </button>
        ))}
    </div>
  )

  const cards = (steps: ReadonlyArray<StepDraft>, depth: number) =>
    steps.map((step, i) => (
      <StepCard key={step.key} step={step} index={i} count={steps.length} actions={actions}>
        {step.kind === "handler" ? null : (
          <div class="inside">
            <ol class="steps" aria-label={`Steps of ${step.name || step.kind}`}>
              {cards(step.steps, depth + 1)}
            </ol>
            {adders(depth + 1, step.key)}
            <Fallback
              value={step.fallback}
              label={`Fallback of this ${step.kind}`}
              onChange={(fallback, typing) => actions.change(step.key, { fallback }, typing)}
            />
          </div>
        )}
      </StepCard>
    ))

  return (
    <div class="composer" ref={box}>
      <ol class="steps">
        <li class="step fixed">
          <span class="step-kind">middleware</span>
          <strong>logging</strong>
          <span class="quiet-text">runs before every step</span>
        </li>
        {cards(handlers, 1)}
      </ol>
      {adders(1)}
      <Fallback
        value={props.draft.fallback}
        label="Fallback for requests that no handler accepts"
        onChange={(fallback, typing) => props.onChange({ fallback }, typing)}
      />
    </div>
  )
}
