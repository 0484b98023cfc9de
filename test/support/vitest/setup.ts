import * as vitest from "@effect/vitest"
import { afterAll } from "vitest"
import "./equality.js"
import "./livenessLocks.js"
import "./options.js"
import { endAll } from "./perFile.js"

// `layer` of @effect/vitest 0.30 puts its own `effect` on the one `it` of the process, where the tests of the next file
// would run by the services, and the virtual clock, of a layer that is closed.
const { effect, layer, scoped } = vitest
Object.assign(vitest.it, { effect, layer, scoped })

afterAll(endAll)
