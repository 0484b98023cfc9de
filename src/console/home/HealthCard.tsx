import { useEffect, useState } from "preact/hooks"
import type { SessionView } from "../../http/console/Api.js"
import type { Finding } from "../../store/Doctor.js"
import { announce } from "../components/Announcer.js"
import { plural } from "../components/Plural.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { RunButton } from "../components/RunButton.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { DataSourceService, RateBudget } from "../source/DataSource.js"

const problemsFirst = { error: 0, warning: 1, ok: 2 } as const
const badges = { error: "removed", warning: "changed", ok: "added" } as const

const summary = (findings: ReadonlyArray<Finding>): string => {
  const count = (severity: Finding["severity"]) =>
    findings.filter((finding) => finding.severity === severity).length
  const [errors, warnings] = [count("error"), count("warning")]
  if (errors + warnings === 0) return "No problems found."
  return `${plural(errors, "error")} and ${plural(warnings, "warning")} found.`
}

const Findings = ({ findings }: { readonly findings: ReadonlyArray<Finding> }) => {
  const sorted = [...findings].sort((a, b) => problemsFirst[a.severity] - problemsFirst[b.severity])
  return (
    <ul class="home-list stacked">
      {sorted.map(({ collection, hint, message, severity }, at) => (
        <li key={at}>
          <span>
            <span class={`badge ${badges[severity]}`}>{severity}</span>{" "}
            {collection === undefined || message.includes(collection) ? null : <bdi>{collection}: </bdi>}
            {message}
          </span>
          {hint === undefined ? null : <span class="quiet-text">{hint}</span>}
        </li>
      ))}
    </ul>
  )
}

/** The last findings, so that a return to the home page does not check again. */
let checked:
  | { readonly session: SessionView; readonly head: string | null; readonly findings: ReadonlyArray<Finding> }
  | undefined

/**
 * What is known about the health of the repository. The checks of `doctor` run by themselves only if reads cost no
 * requests; otherwise a button runs them.
 */
export const HealthCard = (props: {
  readonly source: DataSourceService
  readonly session: SessionView
  readonly budgets: ReadonlyArray<RateBudget> | undefined
  /** The head of the branch; undefined until it is known. */
  readonly head: string | null | undefined
}) => {
  const { budgets, head, session, source } = props
  const [findings, setFindings] = useState(() =>
    checked?.session === session ? checked.findings : undefined
  )
  const task = useEffectRunner()
  const isFree = source.build === "local" && budgets?.length === 0
  const check = (deep: boolean, quiet = false) =>
    task.run(
      source.timeline(({ health }) => health(deep)),
      {
        success: (found) => {
          if (head !== undefined) checked = { session, head, findings: found }
          setFindings(found)
          if (!quiet) announce(summary(found))
        }
      }
    )
  useEffect(() => {
    const isChecked = checked?.session === session && checked.head === head
    if (isFree && head !== undefined && !isChecked) check(false, true)
  }, [session, isFree, head])
  const core = budgets?.find(({ resource }) => resource === "core")

  return (
    <section class="card home-card" aria-labelledby="home-health" aria-busy={task.running}>
      <h3 id="home-health">Health</h3>
      <p class="quiet-text">
        {session.readOnly ? "This session can only read." : "This session can read and write."}
        {core === undefined
          ? null
          : ` ${core.remaining.toLocaleString("en")} of ${core.limit.toLocaleString("en")} requests are left.`}
      </p>
      {task.problem === undefined ? null : <ProblemCard problem={task.problem} />}
      {findings === undefined ? null : (
        <>
          <p>{summary(findings)}</p>
          <details>
            <summary>{plural(findings.length, "finding")}</summary>
            <Findings findings={findings} />
          </details>
        </>
      )}
      <div class="actions">
        <RunButton kind="plain" running={task.running} onClick={() => check(false)}>
          {findings === undefined ? "Check the repository" : "Check again"}
        </RunButton>
        {isFree ? (
          <RunButton kind="plain" running={task.running} onClick={() => check(true)}>
            Check every document
          </RunButton>
        ) : null}
      </div>
      {isFree ? null : (
        <p class="quiet-text">
          The check compares indexes and manifests with the collections. It takes a few requests for each.
        </p>
      )}
    </section>
  )
}
