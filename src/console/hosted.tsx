import { render } from "preact"

render(<p>Chainstore console</p>, document.getElementById("app")!)
