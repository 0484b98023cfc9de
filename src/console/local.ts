import { layer } from "./source/LocalSource.js"
import { start } from "./start.js"

start(layer)
