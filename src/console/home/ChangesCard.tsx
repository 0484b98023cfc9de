import { plural } from "../components/Plural.js"
import { RelativeTime } from "../components/RelativeTime.js"
import type { RepositoryOverview } from "./useOverview.js"

/** The documents that changed since the last visit of this browser. */
export const ChangesCard = (props: {
  readonly overview: RepositoryOverview
  readonly onOpen: (collection: string, id: string) => void
  readonly onTimeline: () => void
}) => {
  const { changes, visit } = props.overview
  const documents = changes === undefined || changes === "gone" ? [] : changes.documents
  const total = changes === undefined || changes === "gone" ? 0 : changes.total
  return (
    <section class="card home-card" aria-labelledby="home-changes">
      <h3 id="home-changes">Since your last visit</h3>
      {visit === undefined ? (
        <p class="quiet-text">This is the first visit in this browser. The next one lists what changed.</p>
      ) : (
        <p class="quiet-text">
          {changes === "gone"
            ? "The history was rewritten: the commit of your last visit is no longer in the repository. Last visit: "
            : total === 0
              ? "No document has changed since "
              : `${plural(total, "document has", "documents have")} changed since `}
          <RelativeTime at={visit.at} />.
        </p>
      )}
      {documents.length === 0 ? null : (
        <ul class="home-list">
          {documents.map(({ collection, id, kind }) => (
            <li key={`${collection}/${id}`}>
              {kind === "removed" ? (
                <bdi class="home-message">
                  {collection}/{id}
                </bdi>
              ) : (
                <button type="button" class="button quiet" onClick={() => props.onOpen(collection, id)}>
                  <bdi>
                    {collection}/{id}
                  </bdi>
                </button>
              )}
              <span class={`badge ${kind}`}>{kind}</span>
            </li>
          ))}
        </ul>
      )}
      {total <= documents.length ? null : (
        <p class="quiet-text">
          {plural(total - documents.length, "more document", "more documents")} changed.{" "}
          <button type="button" class="button small quiet" onClick={props.onTimeline}>
            Show the commits
          </button>
        </p>
      )}
    </section>
  )
}
