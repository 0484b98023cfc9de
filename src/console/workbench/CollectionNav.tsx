import { Icon } from "../components/Icon.js"
import type { Navigate } from "../navigation/useRoute.js"

const repositoryPanels = [
  ["timeline", "Timeline"],
  ["branches", "Branches"],
  ["proposals", "Proposals"]
] as const

const show = (element: HTMLElement | null): void =>
  element?.scrollIntoView({ block: "nearest", inline: "nearest" })

/** The sidebar: the collections, and the panels of the whole repository. */
export const CollectionNav = (props: {
  readonly collections: ReadonlyArray<string>
  readonly current: string | undefined
  readonly root: string
  /** Whether a query runs: another collection can be chosen after it. */
  readonly isQuerying: boolean
  readonly isRefreshing: boolean
  readonly onChoose: (collection: string) => void
  readonly onHome: () => void
  readonly onRefresh: () => void
  readonly navigate: Navigate
}) => {
  const { collections, current, isQuerying, isRefreshing, root } = props
  return (
    <nav class="side" aria-label="Collections">
      <button
        type="button"
        class="home-link"
        aria-current={current === undefined ? "true" : undefined}
        onClick={props.onHome}
      >
        <Icon name="home" />
        Home
      </button>
      <h2 class="side-title">Collections</h2>
      {collections.length === 0 ? (
        <p class="quiet-text">
          No collections in <code>{root === "" ? "/" : root}</code>.
        </p>
      ) : (
        <ul class="collections">
          {collections.map((name) => (
            <li key={name}>
              <button
                type="button"
                class="collection"
                ref={current === name ? show : null}
                aria-current={current === name ? "true" : undefined}
                disabled={isQuerying}
                aria-busy={isQuerying}
                onClick={() => props.onChoose(name)}
              >
                <Icon name="table" />
                <bdi class="collection-name">{name}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
      <button
        type="button"
        class="button small quiet refresh"
        disabled={isRefreshing}
        aria-busy={isRefreshing}
        onClick={props.onRefresh}
      >
        Refresh
      </button>
      {repositoryPanels.map(([name, label]) => (
        <button
          key={name}
          type="button"
          class="button small quiet refresh"
          id={name}
          onClick={() => props.navigate({ panel: name, document: undefined })}
        >
          {label}
        </button>
      ))}
    </nav>
  )
}
