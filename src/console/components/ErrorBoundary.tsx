import type { ComponentChildren } from "preact"
import { useErrorBoundary } from "preact/hooks"
import { ProblemCard } from "./ProblemCard.js"

/** Shows an error of the page's code instead of an empty page. */
export const ErrorBoundary = (props: { readonly children: ComponentChildren }) => {
  const [error, again] = useErrorBoundary()
  if (error === undefined) return <>{props.children}</>
  return (
    <main class="sign-in">
      <ProblemCard
        problem={{
          kind: "server",
          title: "Something went wrong",
          message: error instanceof Error ? error.message : String(error),
          next: "Try again. If it fails again, start over. Nothing was saved."
        }}
      >
        <div class="actions">
          <button type="button" class="button primary" onClick={again}>
            Try again
          </button>
          <a class="button quiet" href="?">
            Start over
          </a>
        </div>
      </ProblemCard>
    </main>
  )
}
