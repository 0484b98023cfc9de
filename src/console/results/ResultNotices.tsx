import type { QueryAnswer } from "../../store/browse/Browse.js"
import { Icon } from "../components/Icon.js"
import { plural } from "../components/Plural.js"
import type { Navigate } from "../navigation/useRoute.js"
import type { TableColumns } from "../query/TableColumns.js"
import { shortCommit, truncated } from "../values/Cell.js"

/** Invalid files that are named. */
const maxNamed = 5

const manifestNotice = ({ extra, missing }: NonNullable<QueryAnswer["manifest"]>): string =>
  missing.length + extra.length === 0
    ? "The manifest is out of date. The rows were read from the documents."
    : `The manifest is out of date: ${plural(missing.length, "document")} missing, ${extra.length} deleted. The rows were read from the documents.`

/** Notices above the table: its commit, an outdated manifest, columns and files that are not shown. */
export const ResultNotices = (props: {
  readonly at: string | undefined
  readonly answer: QueryAnswer | undefined
  readonly columns: TableColumns
  /** How many columns are shown, if nobody has selected them. */
  readonly initialCount: number | undefined
  readonly navigate: Navigate
  /** Navigates to another query, whose results get the focus. */
  readonly onQuery: Navigate
}) => {
  const { answer, at, initialCount, navigate, onQuery } = props
  const { all, initial, unread } = props.columns
  const { manifest, unreadable } = answer ?? {}
  return (
    <>
      {at === undefined ? null : (
        <p class="banner">
          <Icon name="clock" />
          Showing the collection at <code title={at}>{shortCommit(at)}</code>
          <button type="button" class="button small quiet" onClick={() => onQuery({ at: undefined })}>
            Back to now
          </button>
        </p>
      )}
      {manifest === undefined || manifest.current ? null : <p class="banner">{manifestNotice(manifest)}</p>}
      {unread.length === 0 ? null : (
        <p class="quiet-text note">
          The manifest does not include {unread.join(" and ")}.
          <button type="button" class="button small quiet" onClick={() => onQuery({ whole: true })}>
            Read the documents
          </button>
        </p>
      )}
      {unreadable === undefined ? null : (
        <p class="banner">
          {unreadable.length === 1
            ? "1 file is not a valid document and is not shown:"
            : `${unreadable.length} files are not valid documents and are not shown:`}
          {unreadable.slice(0, maxNamed).map((id) => (
            <button
              type="button"
              class="button small quiet"
              key={id}
              id={`open-${id}`}
              aria-label={`Open ${id}`}
              onClick={() => navigate({ document: id, panel: undefined })}
            >
              <bdi>{truncated(id)}</bdi>
            </button>
          ))}
          {unreadable.length > maxNamed ? `and ${unreadable.length - maxNamed} more` : null}
        </p>
      )}
      {initialCount === undefined || all.length <= initialCount ? null : (
        <p class="quiet-text note">
          {initial.length === all.length ? "The first " : null}
          {initialCount} of {all.length.toLocaleString("en")} columns are shown.
          <button type="button" class="button small quiet" onClick={() => navigate({ columns: "all" })}>
            Show all
          </button>
        </p>
      )}
    </>
  )
}
