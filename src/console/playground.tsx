import { render } from "preact"
import "./styles.css"

render(<p>Chain playground</p>, document.getElementById("app")!)
