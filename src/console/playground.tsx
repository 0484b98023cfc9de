import { render } from "preact"
import { Guard } from "./components/Guard.js"
import { Playground } from "./playground/Playground.js"
import "./styles.css"
import "./playground/playground.css"

const root = document.getElementById("app")!
root.replaceChildren()
// The service marks its own copy of the page: it has something to run chains against.
render(
  <Guard>
    <Playground service={document.documentElement.dataset["service"] !== undefined} />
  </Guard>,
  root
)
