import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect, type FastCheck, type Layer, Logger, LogLevel } from "effect"
import type { Layout } from "../../src/domain/settings/Settings.js"
import { documentPath } from "../../src/store/DocumentPath.js"
import type { GitRemote } from "../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../src/store/remote/local/LocalGit.js"
import * as Memory from "../../src/store/remote/memory/Memory.js"
import * as Store from "../../src/store/Store.js"
import type { StoreOptions } from "../../src/store/StoreOptions.js"
import * as RandomProgram from "../../src/testing/history/RandomProgram.js"
import type { ProgramShape } from "../../src/testing/program/StoreArbitrary.js"
import type { Program } from "../../src/testing/program/StoreProgram.js"

/** What the random programs expect the store to keep. */
export const programFields = {
  indexes: { things: ["n", "tags"] },
  manifests: { things: ["n"] }
}

/** Indexes of every kind, one of them unique. */
export const programIndexes = {
  indexes: {
    things: [
      { name: "one", fields: ["n"], unique: true, where: { tags: "x" } },
      { fields: ["tags", { field: "n", order: "desc" }] },
      { name: "some", fields: ["text"], where: { n: 1 } },
      "tags"
    ]
  },
  manifests: { things: ["n"] }
} as const satisfies StoreOptions & RandomProgram.CheckOptions

/** How the stores of programs are opened, and what is expected of their commits. */
export interface ProgramSettings {
  readonly store?: StoreOptions | undefined
  readonly fields?: RandomProgram.CheckOptions | undefined
}

/** Stores without indexes in their options: only these can create and drop some. */
export const changingIndexes = (format: 1 | 2) => ({
  store: { format, indexes: undefined },
  fields: { indexes: {}, manifests: programFields.manifests }
})

/** The indexes that programs create and drop while others write. */
export const changedIndexes = (format: 1 | 2): NonNullable<ProgramShape["indexes"]> =>
  format === 1
    ? programFields.indexes.things
    : [
        ...programIndexes.indexes.things,
        { name: "tags", fields: ["text"] },
        { fields: ["text"], unique: true }
      ]

/** Programs that merge a branch and accept a proposal: of a short sample few would do both. */
export const merging = (programs: FastCheck.Arbitrary<Program>): FastCheck.Arbitrary<Program> =>
  programs.filter(({ writers }) =>
    (["merge", "propose"] as const).every((kind) =>
      writers.some(({ steps }) => steps.some(({ _tag }) => _tag === kind))
    )
  )

export const programStore = (options: StoreOptions = {}): Layer.Layer<Store.Store, unknown, GitRemote> =>
  Store.layer({ ...programFields, ...options })

/** A repository in memory of its own, with a client for each store. */
export const memoryHarness = (
  options: Memory.MemoryOptions = {},
  store: StoreOptions = {}
): RandomProgram.ProgramHarness<unknown> => {
  const repository = new Memory.MemoryRepository()
  return {
    remote: Memory.make({ ...options, repository }),
    store: programStore(store),
    documentPath: pathIn(store)
  }
}

const layoutOf = ({ shardBy = "leading", shardDepth = 0, shardWidth = 2 }: StoreOptions): Layout => ({
  shardBy,
  shardDepth,
  shardWidth
})

/** Where a store of these options keeps its documents. */
export const pathIn =
  (store: StoreOptions) =>
  (collection: string, id: string): string =>
    documentPath("data", layoutOf(store), collection, id)

/** Runs a program and holds every answer against the history that it left. */
export const runChecked = <E>(
  program: Program,
  harness: RandomProgram.ProgramHarness<E>,
  fields: RandomProgram.CheckOptions = programFields
): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.map(RandomProgram.check(program, harness, fields), (problems) =>
        assert.strictEqual(problems.join("\n"), "")
      )
    ).pipe(Logger.withMinimumLogLevel(LogLevel.None))
  )

const directories: Array<string> = []

/** A bare repository of its own on this disk; every client has an engine of its own, as another process would. */
export const localHarness = (store: StoreOptions = {}): RandomProgram.ProgramHarness<unknown> => {
  const directory = mkdtempSync(join(tmpdir(), "store-programs-"))
  directories.push(directory)
  return {
    remote: LocalGit.scoped({ directory, durability: "none" }),
    store: programStore(store),
    documentPath: pathIn(store)
  }
}

/** Removes what `localHarness` made. */
export const removeLocal = (): void => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
}
