import { describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import type { Oid } from "../../src/domain/Oid.js"
import type { GitRemoteService } from "../../src/store/remote/GitRemote.js"
import { branches } from "./GitRemoteBranches.js"
import { commits } from "./GitRemoteCommits.js"
import { histories } from "./GitRemoteHistories.js"
import { races } from "./GitRemoteRaces.js"
import { trees } from "./GitRemoteTrees.js"

/** One fresh, empty repository and ways to reach it. */
export interface Subject {
  readonly remote: GitRemoteService
  /** A second client of the same repository, with nothing in common but the repository: another process. */
  readonly another: Effect.Effect<GitRemoteService, unknown, Scope.Scope>
  /** Points a branch somewhere else by force, as somebody else's `push --force` would. */
  readonly force: (branch: string, at: Oid) => Effect.Effect<void, unknown>
  /** Makes a lightweight tag. */
  readonly tag: (name: string, at: Oid) => Effect.Effect<void, unknown>
  /** Makes a commit with these parents and this tree, on no branch. Absent where the harness cannot. */
  readonly merge?: ((parents: ReadonlyArray<Oid>, tree: Oid) => Effect.Effect<Oid, unknown>) | undefined
}

/** What a remote is asked in sizes that it can bear in a test. */
export interface Sizes {
  /** Files in one commit. Default 10,000. */
  readonly files: number
  /** Bytes of the large blob. Default 20 MB. */
  readonly largeBlob: number
  /** Entries of the large listing. Default 100,000. */
  readonly listing: number
  /** Fibres that write at once. Default 64. */
  readonly fibres: number
  /** Interrupted writes. Default 25, each after a little longer, up to `interruptWithin` milliseconds. */
  readonly interruptions: number
  readonly interruptWithin: number
}

/** Where a remote promises less than the port. Each one is a sentence in the remote's own documentation. */
export interface Promises {
  /** A branch moved back to an ancestor of the expected head is noticed (GitHub's REST accepts it). */
  readonly movedBackIsNoticed: boolean
  /** A file where a directory is to be, or the reverse, is refused (GitHub's trees replace it silently). */
  readonly clashesAreRefused: boolean
  /** The first commit of an empty repository has no parent, whatever it holds (GitHub begins with one file alone). */
  readonly firstIsRoot: boolean
  /** Tags can be made by the harness and resolved. */
  readonly tags: boolean
}

export interface Harness {
  readonly name: string
  readonly make: Effect.Effect<Subject, unknown, Scope.Scope>
  readonly sizes?: Partial<Sizes> | undefined
  readonly promises?: Partial<Promises> | undefined
  /** Milliseconds that one test may take. Default 30,000. */
  readonly timeout?: number | undefined
}

export interface Contract {
  readonly sizes: Sizes
  readonly promises: Promises
  /** Runs one test on a fresh repository with the real clock. */
  readonly test: (
    name: string,
    body: (subject: Subject) => Effect.Effect<unknown, unknown, Scope.Scope>
  ) => void
}

const defaultSizes: Sizes = {
  files: 10_000,
  largeBlob: 20_000_000,
  listing: 100_000,
  fibres: 64,
  interruptions: 25,
  interruptWithin: 20
}

/** Registers the tests that every `GitRemote` passes; what a remote promises less is said by its harness. */
export const gitRemoteContract = (harness: Harness): void => {
  const contract: Contract = {
    sizes: { ...defaultSizes, ...harness.sizes },
    promises: {
      movedBackIsNoticed: true,
      clashesAreRefused: true,
      firstIsRoot: true,
      tags: true,
      ...harness.promises
    },
    test: (name, body) =>
      it.scopedLive(
        name,
        () => Effect.flatMap(harness.make, body),
        harness.timeout === undefined ? {} : { timeout: harness.timeout }
      )
  }
  describe(`GitRemote: ${harness.name}`, () => {
    trees(contract)
    commits(contract)
    races(contract)
    histories(contract)
    branches(contract)
  })
}
