import * as Context from "effect/Context"
import { makeExclusively } from "../../../../domain/Mutex.js"

/**
 * Whose turn it is to write, by repository and branch. Every client of a process shares it, so that two layers of one
 * repository queue instead of racing each other. Tests that stand for several processes give each one its own.
 */
export class WriteTurns extends Context.Reference<WriteTurns>()("chainstore/store/remote/github/WriteTurns", {
  defaultValue: makeExclusively
}) {}
