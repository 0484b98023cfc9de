import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import { recordCalls } from "../laws/CallRecord.js"
import type { LawPromise } from "../laws/LawPromise.js"
import { describeCause } from "../store/StoreLaw.js"
import { branches } from "./RemoteBranchLaws.js"
import { commits } from "./RemoteCommitLaws.js"
import { failures } from "./RemoteFailureLaws.js"
import { histories } from "./RemoteHistoryLaws.js"
import type { RemoteHarness, RemotePromises, RemoteSizes, RemoteSubject } from "./RemoteLaw.js"
import { merges } from "./RemoteMergeLaws.js"
import { queues } from "./RemoteQueueLaws.js"
import { races } from "./RemoteRaceLaws.js"
import { snapshots } from "./RemoteSnapshotLaws.js"
import { trees } from "./RemoteTreeLaws.js"

export type { LawPromise } from "../laws/LawPromise.js"
export type { RemoteHarness, RemotePromises, RemoteSizes, RemoteSubject } from "./RemoteLaw.js"

/**
 * A law that does not hold for a remote.
 *
 * @since 0.1.0
 * @category errors
 */
export class RemoteLawViolation extends Data.TaggedError("RemoteLawViolation")<{
  readonly promise: LawPromise
  readonly found: string
  /** The calls that led there, as somebody would write them. */
  readonly calls: ReadonlyArray<string>
}> {
  override get message() {
    const { calls, found, promise } = this
    return [
      `A law of remotes does not hold: ${promise.title}.`,
      `Promise: "${promise.sentence}" (${promise.link})`,
      `Found: ${found}`,
      "Calls:",
      ...calls.map((call) => `  ${call}`)
    ].join("\n")
  }
}

/**
 * A statement about every `GitRemote`. Its name is what it says.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoteLaw {
  /** Its name in a list of tests. */
  readonly name: string
  /** What it holds a remote to, and where that is written. */
  readonly promise: LawPromise
  /** Checks the law on a fresh repository, by the real clock. */
  readonly check: Effect.Effect<void, RemoteLawViolation>
}

const defaultSizes: RemoteSizes = {
  files: 500,
  largeBlob: 1_000_000,
  listing: 2_000,
  fibres: 16,
  interruptions: 15,
  interruptWithin: 10
}

const everything: RemotePromises = {
  movedBackIsNoticed: true,
  clashesAreRefused: true,
  firstIsRoot: true,
  tags: true
}

const most = 40

const watched = (subject: RemoteSubject, note: (call: string) => void): RemoteSubject => ({
  ...subject,
  remote: recordCalls(subject.remote, "remote", note),
  another: Effect.map(subject.another, (client) => recordCalls(client, "another", note)),
  rejected:
    subject.rejected && Effect.map(subject.rejected, (client) => recordCalls(client, "rejected", note))
})

const checked = (
  harness: RemoteHarness,
  promise: LawPromise,
  body: (subject: RemoteSubject) => Effect.Effect<unknown, unknown, Scope.Scope>
): RemoteLaw["check"] =>
  Effect.suspend(() => {
    const calls: Array<string> = []
    return Effect.flatMap(harness.make, (subject) => body(watched(subject, (call) => calls.push(call)))).pipe(
      Effect.scoped,
      Effect.asVoid,
      Effect.catchAllCause((cause) => {
        const last = calls.length > most ? [`… ${calls.length - most} calls`, ...calls.slice(-most)] : calls
        return new RemoteLawViolation({ promise, found: describeCause(cause), calls: last })
      })
    )
  })

/**
 * The laws of a remote, each with the sentence of the port that promises it. Where the remote promises less, the
 * harness says so.
 *
 * @since 0.1.0
 * @category laws
 */
export const laws = (harness: RemoteHarness): ReadonlyArray<RemoteLaw> => {
  const found: Array<RemoteLaw> = []
  const contract = {
    sizes: { ...defaultSizes, ...harness.sizes },
    promises: { ...everything, ...harness.promises },
    test: (
      name: string,
      sentence: string,
      body: (subject: RemoteSubject) => Effect.Effect<unknown, unknown, Scope.Scope>,
      link = "src/store/remote/GitRemote.ts"
    ) => {
      const promise = { title: name, sentence, link }
      found.push({ name, promise, check: checked(harness, promise, body) })
    }
  }
  for (const register of [trees, snapshots, commits, races, queues, histories, merges, branches, failures]) {
    register(contract)
  }
  return found
}

/**
 * Checks a law. Rejects with a counterexample: the promise, what was found, and the calls.
 *
 * @since 0.1.0
 * @category checking
 */
export const check = async (law: RemoteLaw): Promise<void> => {
  const result = await Effect.runPromise(Effect.either(law.check))
  if (Either.isLeft(result)) throw result.left
}

/**
 * Checks every law of a remote, one after another. Rejects with the first counterexample.
 *
 * @since 0.1.0
 * @category checking
 */
export const checkAll = async (harness: RemoteHarness): Promise<void> => {
  for (const law of laws(harness)) await check(law)
}
