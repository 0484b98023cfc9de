import { useEffect, useRef, useState } from "preact/hooks"
import type { Proposal, ProposalState } from "../../store/Proposals.js"
import { announce } from "../components/Announcer.js"
import { ConfirmDialog } from "../components/ConfirmDialog.js"
import { LoadingState } from "../components/LoadingState.js"
import { Panel } from "../components/Panel.js"
import { plural } from "../components/Plural.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { DataSourceService } from "../source/DataSource.js"
import { DocumentChangeList } from "./DocumentChangeList.js"
import { MergeDialog } from "./MergeDialog.js"

const states: ReadonlyArray<ProposalState> = ["open", "accepted", "closed"]

const unknownEnd = "Stopped waiting for the server. The list shows the proposal's state."

/** The proposals of the repository: view, accept and close them. */
export const ProposalsPanel = (props: {
  readonly source: DataSourceService
  readonly repository: string
  readonly readOnly: boolean
  readonly onClose: () => void
  readonly onChanged: () => void
}) => {
  const { source } = props
  const [state, setState] = useState<ProposalState>("open")
  const [proposals, setProposals] = useState<ReadonlyArray<Proposal> | undefined>(undefined)
  const [round, setRound] = useState(0)
  const [shown, setShown] = useState<string | undefined>(undefined)
  const [accepting, setAccepting] = useState<Proposal | undefined>(undefined)
  const [closing, setClosing] = useState<Proposal | undefined>(undefined)
  const listing = useEffectRunner()
  // After a write its announcement must not be replaced by that of the list.
  const isQuiet = useRef(false)

  useEffect(() => {
    const quiet = isQuiet.current
    isQuiet.current = false
    setProposals(undefined)
    listing.run(
      source.timeline((timeline) => timeline.proposals(state)),
      {
        success: (found) => {
          setProposals([...found].reverse())
          if (!quiet) announce(`${plural(found.length, "proposal")} ${state}.`)
        }
      }
    )
  }, [round, state])

  const done = (words: string) => {
    setAccepting(undefined)
    setClosing(undefined)
    setShown(undefined)
    announce(words)
    isQuiet.current = true
    setRound((n) => n + 1)
    props.onChanged()
  }

  const left = (unknown: boolean) => {
    if (unknown) return done(unknownEnd)
    setAccepting(undefined)
    setClosing(undefined)
  }

  /** The title, with the number or the commit if another proposal has the same title. */
  const nameOf = ({ commitSha, id, number, title }: Proposal): string =>
    (proposals ?? []).some((other) => other.title === title && other.id !== id)
      ? `${title} (${number === undefined ? commitSha.slice(0, 7) : `#${number}`})`
      : title

  return (
    <Panel
      label="Proposals"
      collection={props.repository}
      title="Proposals"
      closes="proposals"
      onClose={props.onClose}
    >
      <div class="panel-body">
        <label class="inline-field">
          Show{" "}
          <select
            class="input"
            value={state}
            onChange={(event) => setState(states.find((one) => one === event.currentTarget.value) ?? "open")}
          >
            {states.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <LoadingState
          loaded={proposals !== undefined}
          problem={listing.problem}
          running={listing.running}
          onRetry={() => setRound(round + 1)}
        />
        {proposals?.length === 0 ? (
          <div class="empty">
            <h3>No proposals</h3>
            <p>
              {state === "open"
                ? "Propose drafts instead of publishing them, and they are listed here for review."
                : `There are no ${state} proposals.`}
            </p>
          </div>
        ) : null}
        <ul class="branches">
          {(proposals ?? []).map((proposal) => (
            <li key={proposal.id}>
              <p class="change-name">
                {proposal.url === undefined ? (
                  <bdi>{proposal.title}</bdi>
                ) : (
                  <a href={proposal.url} target="_blank" rel="noreferrer">
                    <bdi>{proposal.title}</bdi>
                  </a>
                )}{" "}
                {proposal.labels.map((label) => (
                  <span key={label} class="badge">
                    <bdi>{label}</bdi>
                  </span>
                ))}
              </p>
              <p class="quiet-text">
                {proposal.number === undefined ? null : `#${proposal.number}, `}
                by <bdi>{proposal.author}</bdi> for <bdi>{proposal.into}</bdi>, at{" "}
                <code class="sha" title={proposal.commitSha}>
                  {proposal.commitSha.slice(0, 7)}
                </code>
              </p>
              {proposal.body === "" ? null : (
                <p class="proposal-body">
                  <bdi>{proposal.body}</bdi>
                </p>
              )}
              <div class="commit-actions">
                <button
                  type="button"
                  class="button quiet"
                  aria-expanded={shown === proposal.id}
                  aria-label={`Changes in ${nameOf(proposal)}`}
                  onClick={() => setShown(shown === proposal.id ? undefined : proposal.id)}
                >
                  Changes
                </button>
                {props.readOnly || proposal.state !== "open" ? null : (
                  <>
                    <button
                      type="button"
                      class="button quiet"
                      id={`accept-${proposal.id}`}
                      aria-label={`Accept ${nameOf(proposal)}`}
                      onClick={() => setAccepting(proposal)}
                    >
                      Accept…
                    </button>
                    <button
                      type="button"
                      class="button quiet"
                      id={`close-${proposal.id}`}
                      aria-label={`Close ${nameOf(proposal)}`}
                      onClick={() => setClosing(proposal)}
                    >
                      Close…
                    </button>
                  </>
                )}
              </div>
              {shown === proposal.id ? (
                <DocumentChangeList
                  name={`${proposal.id} ${proposal.commitSha} ${round}`}
                  read={(offset) =>
                    source.timeline((timeline) => timeline.compareProposal(proposal.id, offset))
                  }
                  before={proposal.into}
                  after="Proposed"
                  empty={`It makes no changes to ${proposal.into}.`}
                />
              ) : null}
            </li>
          ))}
        </ul>
      </div>
      {accepting === undefined ? null : (
        <MergeDialog
          title={
            <>
              Accept <bdi>{accepting.title}</bdi>?
            </>
          }
          opener={`accept-${accepting.id}`}
          words={{ write: "Accept", writing: "Accepting…" }}
          from="the proposal"
          into={accepting.into}
          preview={source.timeline((timeline) => timeline.previewProposal(accepting.id, []))}
          write={(decisions, { commit }) =>
            source.timeline((timeline) => timeline.acceptProposal(accepting.id, commit, decisions))
          }
          onClose={left}
          onDone={(commit) =>
            done(
              commit === null
                ? `${accepting.into} already contains it.`
                : `${accepting.title} is accepted as commit ${commit.slice(0, 7)} of ${accepting.into}.`
            )
          }
        />
      )}
      {closing === undefined ? null : (
        <ConfirmDialog
          title={
            <>
              Close <bdi>{closing.title}</bdi>?
            </>
          }
          opener={`close-${closing.id}`}
          words={{ write: "Close proposal", writing: "Closing…" }}
          write={source.timeline((timeline) => timeline.closeProposal(closing.id))}
          onClose={left}
          onDone={() => done(`${closing.title} is closed.`)}
        >
          <p>Its changes are not published. The branch is kept, so you can propose the changes again.</p>
        </ConfirmDialog>
      )}
    </Panel>
  )
}
