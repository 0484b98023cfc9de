import { render } from "preact"

render(<p>Chain playground</p>, document.getElementById("app")!)
