import * as Effect from "effect/Effect"
import { useEffect, useRef, useState } from "preact/hooks"
import { differences } from "../../store/browse/Difference.js"
import type { EditReview, EditState, ReviewedEdit } from "../../store/browse/StagedEdits.js"
import { alarm, announce } from "../components/Announcer.js"
import { ConfirmDialog } from "../components/ConfirmDialog.js"
import { LoadingState } from "../components/LoadingState.js"
import { Panel } from "../components/Panel.js"
import { plural } from "../components/Plural.js"
import type { Problem } from "../components/Problem.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { RunButton } from "../components/RunButton.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import * as Drafts from "../drafts/Drafts.js"
import { useNavigationGuard } from "../navigation/NavigationGuard.js"
import type { DataSourceService } from "../source/DataSource.js"
import { DifferenceTable } from "../values/DifferenceTable.js"
import { ConflictCard, type Decision } from "./ConflictCard.js"
import { withNumberSpelling } from "./NumberSpelling.js"

const words: Readonly<Record<EditState, readonly [text: string, badge: string]>> = {
  create: ["new", "added"],
  change: ["changed", "changed"],
  merge: ["merged", "changed"],
  delete: ["deleted", "removed"],
  none: ["already there", ""],
  conflict: ["conflict", "removed"],
  invalid: ["not valid", "removed"]
}

const isInTheWay = ({ state }: ReviewedEdit) => state === "conflict" || state === "invalid"

const nameOf = ({ collection, id }: { readonly collection: string; readonly id: string }) =>
  `${collection}/${id}`

/** The name of a draft, and what can be done with it alone. */
const DraftHead = (props: {
  readonly name: string
  readonly badge?: readonly [text: string, kind: string]
  readonly onEdit?: () => void
  readonly onDiscard: () => void
}) => {
  const { name } = props
  const [text, badge] = props.badge ?? []
  return (
    <header class="actions">
      <h3>
        <bdi>{name}</bdi> {text === undefined ? null : <span class={`badge ${badge}`}>{text}</span>}
      </h3>
      <span class="grow" />
      {props.onEdit === undefined ? null : (
        <button type="button" class="button small quiet" aria-label={`Edit ${name}`} onClick={props.onEdit}>
          Edit
        </button>
      )}
      <button
        type="button"
        class="button small quiet"
        aria-label={`Discard the draft of ${name}`}
        onClick={props.onDiscard}
      >
        Discard
      </button>
    </header>
  )
}

/** What is said of drafts with their publication. */
interface Words {
  readonly message: string
  /** Why they are proposed. */
  readonly reason: string
  readonly isProposal: boolean
  /** Whether they were proposed, and nobody saw what came of it. */
  readonly isUnsure: boolean
}

const noWords: Words = { message: "", reason: "", isProposal: false, isUnsure: false }

/** What was typed into reviews, by the names of their drafts: it stays while somebody looks at something else. */
const typed = new Map<string, Words>()

/** What became of the drafts that were there. */
type Written =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Commit"; readonly commit: string }
  | { readonly _tag: "Proposal"; readonly title: string }

const nothing: Written = { _tag: "Nothing" }

const nothingNew = "Everything was already published. Nothing was written."

/** What became of so many drafts, for who hears the page. */
const wordsOf = (written: Written, drafts: number): string => {
  switch (written._tag) {
    case "Nothing":
      return nothingNew
    case "Commit":
      return `${plural(drafts, "draft")} published as commit ${written.commit.slice(0, 7)}.`
    case "Proposal":
      return `${plural(drafts, "draft")} proposed as ${written.title}.`
  }
}

/** All drafts field by field, what their commit writes, and the commit. */
export const ReviewPanel = (props: {
  readonly source: DataSourceService
  readonly drafts: string
  readonly repo: string
  /** What an import left out. */
  readonly left: string | undefined
  readonly onEdit: (collection: string, id: string) => void
  readonly onPublished: () => void
  readonly onProposals: () => void
  readonly onClose: () => void
}) => {
  const { source } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const [drafts, setDrafts] = useState(() => Drafts.list(props.drafts))
  const [unreadable, setUnreadable] = useState(() => Drafts.listUnreadable(props.drafts))
  const [review, setReview] = useState<EditReview | undefined>(undefined)
  /** The drafts that the review is of: no others are published. */
  const [reviewed, setReviewed] = useState<typeof drafts | undefined>(undefined)
  const [{ isProposal, isUnsure, message, reason }, setWords] = useState(typed.get(props.drafts) ?? noWords)
  const say = (more: Partial<Words>) => {
    const next = { ...noWords, ...typed.get(props.drafts), ...more }
    typed.set(props.drafts, next)
    setWords(next)
  }
  const [leaving, setLeaving] = useState<{ readonly proceed: () => void } | undefined>(undefined)
  const [written, setWritten] = useState<Written | undefined>(undefined)
  const reading = useEffectRunner()
  const publishing = useEffectRunner()
  const deciding = useEffectRunner()
  const isLeft = useRef(false)
  useNavigationGuard({
    save: () => isLeft.current || !(publishing.running && isProposal),
    confirm: (proceed) => setLeaving({ proceed })
  })

  const look = () => {
    const found = Drafts.list(props.drafts)
    setDrafts(found)
    setUnreadable(Drafts.listUnreadable(props.drafts))
    if (found.length === 0) {
      reading.reset()
      setReview({ edits: [], files: [] })
      return
    }
    reading.run(
      Effect.flatMap(source.edits, (edits) => edits.review(found.map(Drafts.toStagedEdit))),
      {
        success: (seen) => {
          setReview(seen)
          setReviewed(found)
          const stuck = seen.edits.filter(isInTheWay).length
          announce(
            `${plural(seen.edits.length, "draft")} to review${stuck === 0 ? "" : `, ${stuck} to resolve`}.`
          )
        }
      }
    )
  }

  useEffect(() => {
    look()
    const follow = ({ key }: Partial<StorageEvent>) => {
      if ((key ?? props.drafts).startsWith(props.drafts)) look()
    }
    addEventListener("storage", follow)
    return () => removeEventListener("storage", follow)
  }, [props.drafts])

  /** The draft as it was when it was reviewed: nothing is decided about one that nobody has seen. */
  const seen = (edit: ReviewedEdit) => reviewed?.find((one) => nameOf(one) === nameOf(edit))

  const changed = () => {
    alarm("This draft was changed in another tab. Review it again.")
    look()
  }

  const discard = (draft: Drafts.Draft | undefined) => {
    heading.current?.focus()
    if (draft !== undefined && !Drafts.discard(props.drafts, draft)) changed()
  }

  const save = ({ stamp }: Drafts.Draft, next: Omit<Drafts.Draft, "stamp">): boolean => {
    const saved = Drafts.save(props.drafts, next, stamp)
    if (saved === "full")
      alarm("The browser's storage is full, so your decision is not saved. Discard other drafts.")
    else if (saved === "elsewhere") changed()
    return typeof saved === "object"
  }

  const decide = (edit: ReviewedEdit, decision: Decision) => {
    const draft = seen(edit)
    const conflict = edit.conflict
    if (draft === undefined || conflict === undefined) return
    if (decision._tag === "Theirs") return discard(draft)
    heading.current?.focus()
    const { stamp: _, ...rest } = draft
    if (decision._tag === "Settle") return save(draft, { ...rest, settled: decision.settled })
    const { collection, id, text } = draft
    // The numbers of a review are as JavaScript reads them; the stored text has all their digits.
    const stored = Effect.flatMap(source.edits, (calls) => calls.document(collection, id))
    deciding.run(stored, {
      success: (base) => {
        if (base?.sha !== conflict.version?.sha) {
          alarm("The document was changed in the meantime. Review it again.")
          return look()
        }
        const { merged } = conflict
        const isEdited = decision._tag === "Edit"
        const next =
          isEdited && merged !== null && text !== null && base !== null
            ? withNumberSpelling(merged, [text, base.text])
            : text
        if (save(draft, { ...rest, base, settled: undefined, text: next }) && isEdited)
          props.onEdit(collection, id)
      }
    })
  }

  const stuck =
    reviewed !== drafts || review?.edits.some(isInTheWay) === true || review?.problem !== undefined
  const isUnseen = (draft: Drafts.Draft) =>
    review?.edits.some((edit) => nameOf(edit) === nameOf(draft)) !== true
  const count = drafts.length + unreadable.length
  const subject = message.trim()
  const summary =
    drafts.length === 1 ? `edit ${nameOf(drafts[0]!)}` : `edit ${plural(drafts.length, "document")}`

  const publish = () => {
    const sent = drafts
    // A page that the browser had frozen has not heard of what other tabs did.
    const now = Drafts.list(props.drafts)
    if (now.length !== sent.length || now.some(({ stamp }, at) => stamp !== sent[at]?.stamp)) {
      alarm("The drafts were changed in another tab. Review them again.")
      return look()
    }
    const edits = sent.map(Drafts.toStagedEdit)
    const said = subject || summary
    const writing = Effect.flatMap(
      source.edits,
      (calls): Effect.Effect<{ readonly edits: EditReview["edits"]; readonly as: Written }, Problem> =>
        !isProposal
          ? Effect.map(calls.publish(edits, said), ({ commit, edits }) => ({
              edits,
              as: commit === null ? nothing : { _tag: "Commit", commit }
            }))
          : Effect.map(calls.propose(edits, said, reason.trim()), ({ edits, proposal }) => ({
              edits,
              as: proposal === null ? nothing : { _tag: "Proposal", title: proposal.title }
            }))
    )
    if (isProposal) say({ isUnsure: true })
    publishing.run(writing, {
      success: ({ as, edits }) => {
        say({ isUnsure: false })
        if (edits.some(isInTheWay)) {
          setReview({ edits, files: [] })
          setReviewed(sent)
          announce(
            "Nothing was published: documents were changed in the meantime. Resolve the conflicts first."
          )
          heading.current?.focus()
          return
        }
        Drafts.discard(props.drafts, ...sent)
        say(noWords)
        setWritten(as)
        announce(wordsOf(as, sent.length))
        heading.current?.focus()
        props.onPublished()
      }
    })
  }

  return (
    <Panel
      label="Review drafts"
      collection={props.repo}
      title={count === 0 ? "Drafts" : plural(count, "draft")}
      closes="review"
      heading={heading}
      onClose={props.onClose}
    >
      {leaving === undefined ? null : (
        <ConfirmDialog
          title="Leave while the proposal is being created?"
          words={{ write: "Leave", writing: "Leaving…", cancel: "Stay" }}
          write={Effect.void}
          onClose={() => setLeaving(undefined)}
          onDone={() => {
            isLeft.current = true
            leaving.proceed()
          }}
        >
          <p>The proposal may still be created. Your drafts are kept.</p>
        </ConfirmDialog>
      )}
      <div class="panel-body review">
        {props.left === undefined ? null : <p class="banner">{props.left}</p>}
        {!isUnsure || publishing.running || publishing.problem !== undefined ? null : (
          <p class="banner">
            These drafts may have been proposed already.
            <button type="button" class="button small quiet" onClick={props.onProposals}>
              Show the proposals
            </button>
          </p>
        )}
        {written === undefined ? null : (
          <p class="banner">
            {written._tag === "Nothing" ? (
              nothingNew
            ) : written._tag === "Commit" ? (
              <>
                Published as commit <code title={written.commit}>{written.commit.slice(0, 7)}</code>
              </>
            ) : (
              <>
                <span>
                  Proposed as <bdi>{written.title}</bdi>
                </span>
                <button type="button" class="button small quiet" onClick={props.onProposals}>
                  Show the proposals
                </button>
              </>
            )}
          </p>
        )}
        <LoadingState
          loaded={review !== undefined}
          problem={reading.problem}
          running={reading.running}
          onRetry={look}
        />
        {deciding.problem === undefined ? null : <ProblemCard problem={deciding.problem} />}
        {unreadable.map((one) => (
          <article key={one.key} class="reviewed" aria-label={one.name}>
            <DraftHead
              name={one.name}
              badge={["not readable", "removed"]}
              onDiscard={() => {
                heading.current?.focus()
                if (!Drafts.discardUnreadable(props.drafts, one)) changed()
              }}
            />
            <p class="wrong">This stored draft cannot be read. It is not published.</p>
          </article>
        ))}
        {count === 0 ? (
          <div class="empty">
            <h3>No drafts</h3>
            <p>Edit or create a document. Changes are listed here until you publish them.</p>
          </div>
        ) : null}
        {reading.problem !== undefined
          ? drafts.filter(isUnseen).map((draft) => (
              <article key={nameOf(draft)} class="reviewed" aria-label={nameOf(draft)}>
                <DraftHead
                  name={nameOf(draft)}
                  onEdit={() => props.onEdit(draft.collection, draft.id)}
                  onDiscard={() => discard(draft)}
                />
              </article>
            ))
          : null}
        {drafts.length === 0 || review === undefined
          ? null
          : review.edits.map((edit) => {
              const name = nameOf(edit)
              return (
                <article key={name} class="reviewed" aria-label={name}>
                  <DraftHead
                    name={name}
                    badge={words[edit.state]}
                    onEdit={() => props.onEdit(edit.collection, edit.id)}
                    onDiscard={() => discard(seen(edit))}
                  />
                  {edit.problem === undefined ? null : <p class="wrong">{edit.problem}</p>}
                  {edit.conflict === undefined ? (
                    edit.state === "invalid" ? null : (
                      <DifferenceTable
                        caption={`Changes in ${name}`}
                        differences={differences(edit.before, edit.after)}
                        before="Now"
                        after="Published"
                      />
                    )
                  ) : (
                    <ConflictCard
                      name={name}
                      conflict={edit.conflict}
                      onDecide={(decision) => decide(edit, decision)}
                    />
                  )}
                </article>
              )
            })}
        {review?.problem === undefined ? null : (
          <div class="card problem">
            <h3>These changes cannot be published</h3>
            <p>{review.problem}</p>
          </div>
        )}
        {drafts.length === 0 || review === undefined ? null : (
          <>
            {review.files.length === 0 ? null : (
              <details class="files">
                <summary>{plural(review.files.length, "file")} in the commit</summary>
                <ul>
                  {review.files.slice(0, 200).map(({ path, removed }) => (
                    <li key={path}>
                      <code>{path}</code> {removed ? <span class="badge removed">removed</span> : null}
                    </li>
                  ))}
                </ul>
              </details>
            )}
            <label class="field">
              <span>Message</span>
              <input
                value={message}
                placeholder={summary}
                onInput={(event) => say({ message: event.currentTarget.value })}
              />
            </label>
            <label class="inline-check">
              <input
                type="checkbox"
                checked={isProposal}
                onChange={(event) => say({ isProposal: event.currentTarget.checked })}
              />
              <span>Propose the changes for review</span>
            </label>
            {!isProposal ? null : (
              <label class="field">
                <span>Description</span>
                <textarea
                  value={reason}
                  rows={3}
                  onInput={(event) => say({ reason: event.currentTarget.value })}
                />
              </label>
            )}
            {publishing.problem === undefined ? null : (
              <ProblemCard problem={publishing.problem}>
                <p>
                  Your drafts are kept.{" "}
                  {!isProposal
                    ? "You can publish again: changes that were already saved are not written twice."
                    : "x"}
                </p>
              </ProblemCard>
            )}
            <div class="actions end">
              <RunButton running={reading.running} kind="quiet" onClick={look}>
                Refresh
              </RunButton>
              <RunButton
                kind="primary"
                id="publish"
                running={publishing.running}
                disabled={stuck || reading.running}
                onClick={publish}
              >
                {!isProposal
                  ? publishing.running
                    ? "Publishing…"
                    : "Publish"
                  : publishing.running
                    ? "Proposing…"
                    : "Propose"}
              </RunButton>
            </div>
          </>
        )}
      </div>
    </Panel>
  )
}
