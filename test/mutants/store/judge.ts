import { Effect } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import type * as Memory from "../../../src/store/remote/memory/Memory.js"
import type { RemoteLaws, StoreLaws } from "../../../src/testing/index.js"
import { bundled, type Mutant } from "../bundled.js"

/** The published laws of stores and remotes, over a mutated repository in memory. */
export interface Mutated {
  readonly Memory: typeof Memory
  readonly RemoteLaws: typeof RemoteLaws
  readonly StoreLaws: typeof StoreLaws
}

export const load = (mutant: Pick<Mutant, "edits" | "name">): Promise<Mutated> =>
  bundled(
    mutant,
    "src",
    `export * as Memory from "./src/store/remote/memory/Memory.js"
export * as RemoteLaws from "./src/testing/remote/RemoteLaws.js"
export * as StoreLaws from "./src/testing/store/StoreLaws.js"`
  )

/** A store over a repository in memory of its own. */
export const subjectOf = ({ Memory }: Mutated): StoreLaws.StoreSubject => {
  const repository = new Memory.MemoryRepository()
  return { remote: Memory.make({ repository }) }
}

const person = { name: "Somebody", email: "somebody@example.org", seconds: 1_700_000_000, offset: 60 }

/** A remote in memory, and small sizes. */
export const harnessOf = ({ Memory }: Mutated): RemoteLaws.RemoteHarness => ({
  sizes: { files: 40, largeBlob: 20_000, listing: 120, fibres: 8, interruptions: 14, interruptWithin: 2 },
  make: Effect.suspend(() => {
    const repository = new Memory.MemoryRepository()
    const client = Memory.make({ repository, moveBranches: true })
    return Effect.map(client, (remote) => ({
      remote,
      another: client,
      force: (branch: string, at: Oid) =>
        Effect.sync(() => void repository.refs.set(`refs/heads/${branch}`, at)),
      tag: (name: string, at: Oid) => Effect.sync(() => void repository.refs.set(`refs/tags/${name}`, at)),
      merge: (parents: ReadonlyArray<Oid>, tree: Oid) =>
        Effect.sync(
          () =>
            repository.writeCommit({ tree, parents, author: person, committer: person, message: "merge" }).oid
        )
    }))
  })
})

/** No law takes so long; one that does was caught by not coming to its end. */
const patience = 10_000

const fails = (check: Promise<void>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), patience)
  })
  const failed = check.then(
    () => false,
    () => true
  )
  return Promise.race([failed, late]).finally(() => clearTimeout(timer))
}

/** The published laws that a mutant breaks, so many at most: those of stores by their name, those of remotes by what they say. */
export const judge = async (
  mutant: Pick<Mutant, "edits" | "name">,
  most = 3
): Promise<ReadonlyArray<string>> => {
  const mutated = await load(mutant)
  const broken: Array<string> = []
  for (const [name, law] of Object.entries(mutated.StoreLaws.all)) {
    if (broken.length >= most) return broken
    const check = mutated.StoreLaws.check(law, subjectOf(mutated), {
      seed: 23,
      numRuns: 1,
      endOnFailure: true
    })
    if (await fails(check)) broken.push(name)
  }
  for (const law of mutated.RemoteLaws.laws(harnessOf(mutated))) {
    if (broken.length >= most) return broken
    if (await fails(mutated.RemoteLaws.check(law))) broken.push(law.name)
  }
  return broken
}

/** The first law that a mutant breaks, from among those of a name. */
export const breaks = async (mutant: Pick<Mutant, "edits" | "name">, law: string): Promise<string> => {
  const mutated = await load(mutant)
  const ofStores = Object.entries(mutated.StoreLaws.all).find(([name]) => name === law)?.[1]
  const ofRemotes = mutated.RemoteLaws.laws(harnessOf(mutated)).find(({ name }) => name === law)
  const check =
    ofStores !== undefined
      ? mutated.StoreLaws.check(ofStores, subjectOf(mutated), { seed: 23, numRuns: 1, endOnFailure: true })
      : ofRemotes !== undefined
        ? mutated.RemoteLaws.check(ofRemotes)
        : Promise.reject(new Error(`No law is called ${law}`))
  return check.then(
    () => "holds",
    (error: Error) => error.message
  )
}
