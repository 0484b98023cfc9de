import { render } from "preact"
import { ErrorBoundary } from "./components/ErrorBoundary.js"
import { Playground } from "./playground/Playground.js"
import "./styles.css"
import "./playground/playground.css"

const root = document.getElementById("app")!
root.replaceChildren()
// The service marks its own copy of the page: it has something to run chains against.
render(
  <ErrorBoundary>
    <Playground service={document.documentElement.dataset["service"] !== undefined} />
  </ErrorBoundary>,
  root
)
