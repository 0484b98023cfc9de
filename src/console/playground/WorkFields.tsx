import type { WorkDraft } from "./ChainDraft.js"
import { workNumbers } from "./HandlerWork.js"

/** The fields for a handler's work. Its policies are those of the library. */
export const WorkFields = (props: {
  readonly work: WorkDraft
  readonly onChange: (work: WorkDraft | null, typing?: string) => void
}) => {
  const { work } = props
  const change = (part: Partial<WorkDraft>, typing?: string) => {
    const next = { ...work, ...part }
    const empty = next.recover === null && workNumbers.every(({ field }) => next[field] === "")
    props.onChange(empty ? null : next, typing)
  }
  return (
    <div class="work-fields">
      {workNumbers.map(({ field, label }) => (
        <label class="field" key={field}>
          <span>{label}</span>
          <input
            inputMode="numeric"
            value={work[field]}
            onInput={(event) => change({ [field]: event.currentTarget.value }, field)}
          />
        </label>
      ))}
      <label class="inline-check wide">
        <input
          type="checkbox"
          checked={work.recover !== null}
          onChange={(event) => change({ recover: event.currentTarget.checked ? "{request} later" : null })}
        />
        <span>Recover from the last failure (Policy.recover)</span>
      </label>
      {work.recover === null ? null : (
        <label class="field wide">
          <span>Response after the last failure</span>
          <input
            value={work.recover}
            spellcheck={false}
            onInput={(event) => change({ recover: event.currentTarget.value }, "recover")}
          />
        </label>
      )}
    </div>
  )
}
