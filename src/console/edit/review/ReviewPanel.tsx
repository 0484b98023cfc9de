import * as Effect from "effect/Effect"
import { useRef, useState } from "preact/hooks"
import { ConfirmDialog } from "../../components/ConfirmDialog.js"
import { LoadingState } from "../../components/LoadingState.js"
import { Panel } from "../../components/Panel.js"
import { plural } from "../../components/Plural.js"
import { ProblemCard } from "../../components/ProblemCard.js"
import { RunButton } from "../../components/RunButton.js"
import { useNavigationGuard } from "../../navigation/NavigationGuard.js"
import type { DataSourceService } from "../../source/DataSource.js"
import { LookUpCost } from "../lookup/LookUpCost.js"
import { PublishForm } from "./PublishForm.js"
import { DraftHeader, ReviewedDraft } from "./ReviewedDraft.js"
import { nothingPublished, type Published, usePublish } from "./usePublish.js"
import { nameOf, useReview } from "./useReview.js"

const PublishedBanner = (props: { readonly published: Published; readonly onProposals: () => void }) => {
  const { published } = props
  if (published._tag === "Nothing") return <p class="banner">{nothingPublished}</p>
  if (published._tag === "Commit") {
    return (
      <p class="banner">
        Published as commit <code title={published.commit}>{published.commit.slice(0, 7)}</code>
      </p>
    )
  }
  return (
    <p class="banner">
      <span>
        Proposed as <bdi>{published.title}</bdi>
      </span>
      <button type="button" class="button small quiet" onClick={props.onProposals}>
        Show the proposals
      </button>
    </p>
  )
}

/** All drafts field by field, the files of their commit, and the form that publishes them. */
export const ReviewPanel = (props: {
  readonly source: DataSourceService
  /** The prefix of the drafts' keys in the browser's storage. */
  readonly drafts: string
  readonly repo: string
  /** The rows that an import or a bulk change skipped, as a sentence. */
  readonly skipped: string | undefined
  readonly onEdit: (collection: string, id: string) => void
  readonly onPublished: () => void
  readonly onProposals: () => void
  readonly onClose: () => void
}) => {
  const { onEdit, source } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const state = useReview(source, props.drafts, heading, onEdit)
  const { drafts, reading, review, unreadable } = state
  const publish = usePublish({
    source,
    prefix: props.drafts,
    review: state,
    onEnd: () => heading.current?.focus(),
    onPublished: props.onPublished
  })
  const { input, running } = publish
  const [leaving, setLeaving] = useState<{ readonly proceed: () => void } | undefined>(undefined)
  const hasLeft = useRef(false)
  useNavigationGuard({
    save: () => hasLeft.current || !(running && input.isProposal),
    confirm: (proceed) => setLeaving({ proceed })
  })
  const count = drafts.length + unreadable.length
  const isReviewed = (name: string) => review?.edits.some((edit) => nameOf(edit) === name) === true
  const notReviewed =
    reading.problem === undefined ? [] : drafts.filter((draft) => !isReviewed(nameOf(draft)))

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
            hasLeft.current = true
            leaving.proceed()
          }}
        >
          <p>The proposal may still be created. Your drafts are kept.</p>
        </ConfirmDialog>
      )}
      <div class="panel-body review">
        {props.skipped === undefined ? null : <p class="banner">{props.skipped}</p>}
        {!input.mayBeProposed || running || publish.problem !== undefined ? null : (
          <p class="banner">
            These drafts may have been proposed already.
            <button type="button" class="button small quiet" onClick={props.onProposals}>
              Show the proposals
            </button>
          </p>
        )}
        {publish.published === undefined ? null : (
          <PublishedBanner published={publish.published} onProposals={props.onProposals} />
        )}
        {reading.running ? <LookUpCost source={source} documents={drafts.length} /> : null}
        <LoadingState
          loaded={review !== undefined}
          problem={reading.problem}
          running={reading.running}
          onRetry={state.refresh}
        />
        {state.continueReview === undefined ? null : (
          <RunButton running={reading.running} onClick={state.continueReview}>
            Review anyway
          </RunButton>
        )}
        {state.resolveProblem === undefined ? null : <ProblemCard problem={state.resolveProblem} />}
        {unreadable.map((draft) => (
          <article key={draft.key} class="reviewed" aria-label={draft.name}>
            <DraftHeader
              name={draft.name}
              badge={["not readable", "removed"]}
              onDiscard={() => state.discardUnreadable(draft)}
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
        {notReviewed.map((draft) => (
          <article key={nameOf(draft)} class="reviewed" aria-label={nameOf(draft)}>
            <DraftHeader
              name={nameOf(draft)}
              onEdit={() => onEdit(draft.collection, draft.id)}
              onDiscard={() => state.discard(draft)}
            />
          </article>
        ))}
        {drafts.length === 0 || review === undefined
          ? null
          : review.edits.map((edit) => (
              <ReviewedDraft
                key={nameOf(edit)}
                edit={edit}
                objections={state.objections.get(nameOf(edit)) ?? []}
                onEdit={() => onEdit(edit.collection, edit.id)}
                onDiscard={() => state.discard(state.draftOf(edit))}
                onResolve={(decision) => state.resolve(edit, decision)}
              />
            ))}
        {review?.problem === undefined ? null : (
          <div class="card problem">
            <h3>These changes cannot be published</h3>
            <p>{review.problem}</p>
          </div>
        )}
        {drafts.length === 0 || review === undefined ? null : (
          <PublishForm files={review.files} review={state} publish={publish} />
        )}
      </div>
    </Panel>
  )
}
