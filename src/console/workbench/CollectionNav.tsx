import { useEffect, useRef } from "preact/hooks"
import { Icon } from "../components/Icon.js"
import type { Navigate } from "../navigation/useRoute.js"

const repositoryPanels = [
  ["timeline", "Timeline"],
  ["branches", "Branches"],
  ["proposals", "Proposals"]
] as const

/** How far a range is outside of another one, with a margin. */
const distanceOutside = (
  [start, end]: readonly [number, number],
  [from, to]: readonly [number, number]
): number => (start < from ? start - from - 12 : end > to ? end - to + 12 : 0)

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
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    const showCurrent = () => {
      const [outer, inner] = [nav.current, nav.current?.querySelector("[aria-current]")].map((element) =>
        element?.getBoundingClientRect()
      )
      if (outer === undefined || inner === undefined) return
      nav.current?.scrollBy({
        left: distanceOutside([inner.left, inner.right], [outer.left, outer.right]),
        top: distanceOutside([inner.top, inner.bottom], [outer.top, outer.bottom])
      })
    }
    showCurrent()
    addEventListener("resize", showCurrent)
    return () => removeEventListener("resize", showCurrent)
  }, [current, collections])
  return (
    <nav class="side" aria-label="Collections" ref={nav}>
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
