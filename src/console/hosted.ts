import { layer } from "./HostedSource.js"
import { start } from "./start.js"

start(layer(new URL("./config.json", document.baseURI)))
