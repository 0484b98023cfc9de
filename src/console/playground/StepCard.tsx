import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Icon } from "../components/Icon.js"
import { comparisons, noWork, type StepDraft } from "./ChainDraft.js"
import { WorkFields } from "./WorkFields.js"

const words = { equals: "equals", lessThan: "is less than", greaterThan: "is greater than" } as const

/** The actions of a step's card. */
export interface StepActions {
  /** `typing` is the name of the field that the user types in; its changes are undone together. */
  readonly change: (key: number, part: Partial<StepDraft>, typing?: string) => void
  readonly step: (key: number, by: number) => void
  readonly remove: (key: number) => void
  readonly hold: (key: number | undefined) => void
  readonly dropOn: (key: number) => void
  readonly held: number | undefined
}

/** One step of the edited chain with its fields. A group has its steps as children. */
export const StepCard = (props: {
  readonly step: StepDraft
  readonly index: number
  readonly count: number
  readonly actions: StepActions
  readonly children?: ComponentChildren
}) => {
  const { actions, count, index, step } = props
  const { key, kind, work } = step
  const called = step.name || `${kind} ${index + 1}`
  // The fields are shown even if they are empty, so that the user can fill them in.
  const [working, setWorking] = useState(false)
  const change = (part: Partial<StepDraft>, typing?: string) => actions.change(key, part, typing)
  return (
    <li
      class={`step ${kind} ${actions.held === key ? "dragged" : ""}`}
      data-key={key}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        event.stopPropagation()
        actions.dropOn(key)
      }}
      onKeyDown={(event) => {
        if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return
        event.preventDefault()
        event.stopPropagation()
        actions.step(key, event.key === "ArrowUp" ? -1 : 1)
      }}
    >
      <div class="step-head">
        <span
          class="grip"
          draggable
          title="Drag to move"
          aria-hidden="true"
          onDragStart={(event) => {
            // Firefox starts no drag without data.
            event.dataTransfer?.setData("text/plain", step.name)
            actions.hold(key)
          }}
          onDragEnd={() => actions.hold(undefined)}
        >
          ⠿
        </span>
        <span class="step-kind">
          {kind} {index + 1}
        </span>
        <span class="grow" />
        <button
          type="button"
          class="button icon-only small quiet"
          data-move="up"
          disabled={index === 0}
          aria-label={`Move ${called} up`}
          onClick={() => actions.step(key, -1)}
        >
          <Icon name="up" />
        </button>
        <button
          type="button"
          class="button icon-only small quiet"
          data-move="down"
          disabled={index === count - 1}
          aria-label={`Move ${called} down`}
          onClick={() => actions.step(key, 1)}
        >
          <Icon name="down" />
        </button>
        <button
          type="button"
          class="button icon-only small quiet"
          data-remove
          aria-label={`Remove ${called}`}
          onClick={() => actions.remove(key)}
        >
          <Icon name="close" />
        </button>
      </div>
      <div class="step-fields">
        <label class="field">
          <span>Name</span>
          <input
            value={step.name}
            spellcheck={false}
            onInput={(event) => change({ name: event.currentTarget.value }, "name")}
          />
        </label>
        {kind === "fragment" ? null : (
          <>
            <label class="field">
              <span>When the request</span>
              <select
                value={step.comparison}
                onChange={(event) => {
                  const comparison = comparisons.find((one) => one === event.currentTarget.value)
                  if (comparison !== undefined) change({ comparison })
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
                value={step.than}
                onInput={(event) => change({ than: event.currentTarget.value }, "than")}
              />
            </label>
          </>
        )}
        {kind === "handler" ? (
          <label class="field wide">
            <span>
              Respond with (<code>{"{request}"}</code> is replaced)
            </span>
            <input
              value={step.respond}
              spellcheck={false}
              onInput={(event) => change({ respond: event.currentTarget.value }, "respond")}
            />
          </label>
        ) : null}
      </div>
      {kind === "handler" ? (
        <details
          class="step-work"
          open={work !== null || working}
          onToggle={(event) => setWorking(event.currentTarget.open)}
        >
          <summary>Delay, failure and retry</summary>
          <WorkFields work={work ?? noWork} onChange={(next, typing) => change({ work: next }, typing)} />
        </details>
      ) : null}
      {props.children}
    </li>
  )
}
