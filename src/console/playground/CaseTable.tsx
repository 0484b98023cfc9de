import { useEffect, useRef, useState } from "preact/hooks"
import { alarm, announce } from "../components/Announcer.js"
import { Icon } from "../components/Icon.js"
import { boundaryCases, maxCases, meetsExpectation } from "./Cases.js"
import { type CaseDraft, type ChainDraft, nextKey, toBody, toRunnable } from "./ChainDraft.js"
import { startAll } from "./Engine.js"
import type { RunResult } from "./RunResult.js"
import { validationResult } from "./Validation.js"

const Verdict = ({ passes }: { readonly passes: boolean | undefined }) =>
  passes === undefined ? (
    <span class="quiet-text">no expectation</span>
  ) : (
    <span class={`outcome ${passes ? "matched" : "failed"}`}>
      <span aria-hidden="true">{passes ? "✓" : "✗"}</span> {passes ? "pass" : "fail"}
    </span>
  )

/** Runs all rows again when the chain or a request changes, and stops the previous runs. */
const useRuns = (draft: ChainDraft): ReadonlyMap<number, RunResult> => {
  const [runs, setRuns] = useState<ReadonlyMap<number, RunResult>>(new Map())
  const drafts = draft.cases.map(({ key, request }) => ({ key, draft: { ...draft, request } }))
  const of = JSON.stringify(drafts.map(({ draft, key }) => [key, toBody(draft)]))
  useEffect(() => {
    const bodies: Array<Parameters<typeof startAll>[0][number]> = []
    const keys: Array<number> = []
    const refused = new Map<number, RunResult>()
    for (const { draft, key } of drafts) {
      const ready = toRunnable(draft)
      if (ready === undefined) refused.set(key, validationResult(draft.mode, toBody(draft)))
      else {
        bodies.push(ready)
        keys.push(key)
      }
    }
    return startAll(
      bodies,
      (rans) => setRuns(new Map([...refused, ...rans.map((ran, i) => [keys[i]!, ran] as const)])),
      () => alarm("The requests could not be run.")
    )
  }, [of])
  return runs
}

/** A table of requests, each with its expected and its actual result. */
export const CaseTable = (props: {
  readonly draft: ChainDraft
  readonly onChange: (part: Partial<ChainDraft>, typing?: string) => void
}) => {
  const { draft } = props
  const { cases } = draft
  const runs = useRuns(draft)
  const box = useRef<HTMLDivElement>(null)

  const verdicts = cases.map(({ expected, key }) => {
    const ran = runs.get(key)
    return ran === undefined ? undefined : meetsExpectation(expected, ran)
  })
  const judged = verdicts.filter((one) => one !== undefined)
  const passing = judged.filter(Boolean).length
  const summary =
    judged.length === 0 ? "" : `${passing} of ${judged.length} ${judged.length === 1 ? "passes" : "pass"}.`
  const said = useRef(summary)
  useEffect(() => {
    const timer = setTimeout(() => {
      if (summary !== "" && summary !== said.current) announce(summary)
      said.current = summary
    }, 900)
    return () => clearTimeout(timer)
  }, [summary])

  const set = (next: ReadonlyArray<CaseDraft>, typing?: string) => props.onChange({ cases: next }, typing)
  const change = (key: number, part: Partial<CaseDraft>) =>
    set(
      cases.map((one) => (one.key === key ? { ...one, ...part } : one)),
      `case ${key} ${Object.keys(part).join()}`
    )
  const focus = (selector: string) =>
    requestAnimationFrame(() =>
      requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(selector)?.focus())
    )
  const add = () => {
    const key = nextKey()
    set([...cases, { key, request: "", expected: "" }])
    focus(`[data-case="${key}"] input`)
  }
  const remove = (index: number) => {
    const neighbour = cases[index + 1] ?? cases[index - 1]
    set(cases.filter((_, i) => i !== index))
    announce(`Removed row ${index + 1}.`)
    focus(neighbour === undefined ? "[data-add-case]" : `[data-case="${neighbour.key}"] [data-remove]`)
  }
  const expect = () =>
    set(
      cases.map((one) => {
        const ran = runs.get(one.key)
        if (one.expected.trim() !== "" || ran === undefined) return one
        return { ...one, expected: "response" in ran.body ? ran.body.handledBy : ran.body.error }
      })
    )

  if (draft.mode === "triage") {
    return <p class="quiet-text">Test cases need a numeric chain. Choose “Your own chain”.</p>
  }
  return (
    <div class="cases" ref={box}>
      <p class="quiet-text">
        Every row runs in this browser as you type. An expectation is a handler’s name, a response, a status
        or an error.
      </p>
      {cases.length === 0 ? null : (
        <div class="case-scroll">
          <table class="case-table">
            <thead>
              <tr>
                <th scope="col">Request</th>
                <th scope="col">Expected</th>
                <th scope="col">Actual</th>
                <th scope="col">Verdict</th>
                <th scope="col">
                  <span class="sr-only">Remove</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {cases.map(({ expected, key, request }, i) => {
                const ran = runs.get(key)
                return (
                  <tr key={key} data-case={key}>
                    <td>
                      <input
                        aria-label={`Request of row ${i + 1}`}
                        inputMode="decimal"
                        value={request}
                        onInput={(event) => change(key, { request: event.currentTarget.value })}
                      />
                    </td>
                    <td>
                      <input
                        aria-label={`Expected of row ${i + 1}`}
                        spellcheck={false}
                        value={expected}
                        onInput={(event) => change(key, { expected: event.currentTarget.value })}
                      />
                    </td>
                    <td class="actual">
                      {ran === undefined ? (
                        <span class="quiet-text">running</span>
                      ) : "response" in ran.body ? (
                        <>
                          <bdi>{ran.body.handledBy}</bdi>
                          <bdi class="quiet-text">{ran.body.response}</bdi>
                        </>
                      ) : (
                        <>
                          <span>{ran.status}</span>
                          <span class="quiet-text">{ran.body.error}</span>
                        </>
                      )}
                    </td>
                    <td>
                      <Verdict passes={verdicts[i]} />
                    </td>
                    <td>
                      <button
                        type="button"
                        class="button icon-only small quiet"
                        data-remove
                        aria-label={`Remove row ${i + 1}`}
                        onClick={() => remove(i)}
                      >
                        <Icon name="close" />
                      </button>
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
      {summary === "" ? null : <p class="case-summary">{summary}</p>}
      <div class="actions">
        <button
          type="button"
          class="button plain"
          data-add-case
          disabled={cases.length >= maxCases}
          onClick={add}
        >
          <Icon name="plus" />
          Add a request
        </button>
        <button
          type="button"
          class="button plain"
          disabled={boundaryCases(draft).length === 0}
          onClick={() => set([...cases, ...boundaryCases(draft)])}
        >
          Add boundary values
        </button>
        <button
          type="button"
          class="button quiet"
          disabled={cases.every(({ expected, key }) => expected.trim() !== "" || !runs.has(key))}
          onClick={expect}
        >
          Accept the results
        </button>
      </div>
    </div>
  )
}
