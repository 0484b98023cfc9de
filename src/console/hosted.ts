import { layer } from "./source/HostedSource.js"
import { start } from "./start.js"

start(layer(new URL("./config.json", document.baseURI)))
