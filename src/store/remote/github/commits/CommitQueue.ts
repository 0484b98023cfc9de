import * as Context from "effect/Context"
import { type KeyedMutex, makeKeyedMutex } from "../../../../domain/concurrency/KeyedMutex.js"

/**
 * The mutex by which writers of one process queue for a branch of a repository. All clients of a process share it, so
 * that two layers of one repository queue instead of racing each other. A test that simulates several processes gives
 * each of them its own.
 */
export class CommitQueue extends Context.Reference<CommitQueue>()(
  "chainstore/store/remote/github/CommitQueue",
  { defaultValue: (): KeyedMutex => makeKeyedMutex() }
) {}
