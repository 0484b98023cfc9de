import { afterAll } from "vitest"
import "./options.js"
import { endAll } from "./perFile.js"

afterAll(endAll)
