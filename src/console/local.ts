import { layer } from "./LocalSource.js"
import { start } from "./start.js"

start(layer)
