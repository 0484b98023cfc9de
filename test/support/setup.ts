import { afterAll } from "vitest"
import { closeAll } from "./eachFile.js"

// Files of one worker share their modules, so what a module has opened for a file is closed here.
afterAll(closeAll)
