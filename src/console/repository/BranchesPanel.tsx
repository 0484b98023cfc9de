import { useEffect, useState } from "preact/hooks"
import { proposalPrefix } from "../../domain/identifiers/ProposalBranch.js"
import type { Branch } from "../../store/Branches.js"
import { announce } from "../components/Announcer.js"
import { LoadingState } from "../components/LoadingState.js"
import { Panel } from "../components/Panel.js"
import { plural } from "../components/Plural.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { RunButton } from "../components/RunButton.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { DataSourceService } from "../source/DataSource.js"
import { DocumentChangeList } from "./DocumentChangeList.js"
import { MergeDialog } from "./MergeDialog.js"

/** The branches of the repository: switch, create, compare and merge them. */
export const BranchesPanel = (props: {
  readonly source: DataSourceService
  readonly repository: string
  readonly branch: string
  /** The shown commit, at which a new branch starts. Default: the head of the current branch. */
  readonly at: string | undefined
  readonly readOnly: boolean
  readonly onSwitch: (branch: string) => void
  readonly switching: boolean
  readonly onClose: () => void
  readonly onChanged: () => void
}) => {
  const { branch: current, source } = props
  const [branches, setBranches] = useState<ReadonlyArray<Branch> | undefined>(undefined)
  const [round, setRound] = useState(0)
  const [compared, setCompared] = useState<string | undefined>(undefined)
  const [merging, setMerging] = useState<string | undefined>(undefined)
  const [name, setName] = useState("")
  const listing = useEffectRunner()
  const making = useEffectRunner()

  useEffect(() => {
    listing.run(
      source.timeline((timeline) => timeline.branches),
      {
        success: (found) => {
          setBranches(found)
          if (round === 0) announce(`${plural(found.length, "branch", "branches")}.`)
        }
      }
    )
  }, [round])

  const make = (event: Event) => {
    event.preventDefault()
    making.run(
      source.timeline((timeline) => timeline.createBranch(name.trim(), props.at ?? current)),
      {
        success: (commit) => {
          announce(`${name.trim()} is a branch at ${commit.slice(0, 7)}.`)
          setName("")
          setRound((n) => n + 1)
        }
      }
    )
  }

  const isOfProposal = ({ name: branch }: Branch) => branch !== current && branch.startsWith(proposalPrefix)
  const [own, ofProposals] = [
    (branches ?? []).filter((branch) => !isOfProposal(branch)),
    (branches ?? []).filter(isOfProposal)
  ]
  const item = ({ commitSha, name: branch }: Branch) => (
    <li key={branch} aria-current={branch === current ? "true" : undefined}>
      <p class="change-name">
        <bdi>{branch}</bdi>{" "}
        <code class="sha" title={commitSha}>
          {commitSha.slice(0, 7)}
        </code>{" "}
        {branch === current ? <span class="badge">current</span> : null}
      </p>
      {branch === current ? null : (
        <div class="commit-actions">
          <RunButton
            kind="quiet"
            running={props.switching}
            label={`Switch to ${branch}`}
            onClick={() => props.onSwitch(branch)}
          >
            Switch
          </RunButton>
          <button
            type="button"
            class="button quiet"
            aria-expanded={compared === branch}
            aria-label={`Compare ${branch} with ${current}`}
            onClick={() => setCompared(compared === branch ? undefined : branch)}
          >
            Compare
          </button>
          {props.readOnly ? null : (
            <button
              type="button"
              class="button quiet"
              id={`merge-${branch}`}
              aria-label={`Merge ${branch} into ${current}`}
              onClick={() => setMerging(branch)}
            >
              Merge…
            </button>
          )}
        </div>
      )}
      {compared === branch ? (
        <DocumentChangeList
          name={`${branch} ${commitSha} ${round}`}
          read={(offset) => source.timeline((timeline) => timeline.compare(branch, offset))}
          before={current}
          after={branch}
          empty={`No document differs between ${current} and ${branch}.`}
        />
      ) : null}
    </li>
  )

  return (
    <Panel
      label="Branches"
      collection={props.repository}
      title="Branches"
      closes="branches"
      onClose={props.onClose}
    >
      <div class="panel-body">
        <LoadingState
          loaded={branches !== undefined}
          problem={listing.problem}
          running={listing.running}
          onRetry={() => setRound(round + 1)}
        />
        <ul class="branches">{own.map(item)}</ul>
        {ofProposals.length === 0 ? null : (
          <details class="proposal-branches">
            <summary>{plural(ofProposals.length, "branch of a proposal", "branches of proposals")}</summary>
            <ul class="branches">{ofProposals.map(item)}</ul>
          </details>
        )}
        {props.readOnly ? null : (
          <form class="new-branch" onSubmit={make}>
            <label>
              New branch at{" "}
              {props.at === undefined ? <bdi>{current}</bdi> : <code>{props.at.slice(0, 7)}</code>}
              <input
                class="input"
                id="new-branch"
                value={name}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => setName(event.currentTarget.value)}
              />
            </label>
            <RunButton type="submit" running={making.running} disabled={name.trim() === ""}>
              Create branch
            </RunButton>
          </form>
        )}
        {making.problem === undefined ? null : <ProblemCard problem={making.problem} />}
      </div>
      {merging === undefined ? null : (
        <MergeDialog
          title={
            <>
              Merge <bdi>{merging}</bdi> into <bdi>{current}</bdi>?
            </>
          }
          opener={`merge-${merging}`}
          words={{ write: "Merge", writing: "Merging…" }}
          from={merging}
          into={current}
          preview={source.timeline((timeline) => timeline.previewMerge(merging, []))}
          write={(decisions) => source.timeline((timeline) => timeline.merge(merging, decisions))}
          onClose={(unknown) => {
            setMerging(undefined)
            if (unknown) announce("Stopped waiting for the merge. The timeline shows whether it succeeded.")
          }}
          onDone={(commit) => {
            setMerging(undefined)
            setCompared(undefined)
            announce(
              commit === null
                ? `${current} already contains ${merging}.`
                : `${merging} is merged into ${current}, which is at ${commit.slice(0, 7)}.`
            )
            setRound((n) => n + 1)
            props.onChanged()
          }}
        />
      )}
    </Panel>
  )
}
