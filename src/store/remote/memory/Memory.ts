import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type FieldsOf, flag, instanceOf, maybe, object, or, reader } from "../../../domain/Options.js"
import type { ValidationError } from "../../../domain/StoreError.js"
import { open } from "../../../git/memory/Engine.js"
import { MemoryRepository } from "../../../git/memory/MemoryRepository.js"
import { GitRemote, type GitRemoteService } from "../GitRemote.js"
import { remoteOf } from "../repository/RepositoryRemote.js"
import type { MemoryFaults } from "./MemoryFaults.js"

export { MemoryRepository } from "../../../git/memory/MemoryRepository.js"
export type { MemoryFaults, WritePoint } from "./MemoryFaults.js"

/**
 * Options of a repository in memory.
 *
 * @since 0.1.0
 * @category options
 */
export interface MemoryOptions {
  /** The repository to look at; a new one when not given. */
  readonly repository?: MemoryRepository | undefined
  /** What happens before reads and writes, for tests. */
  readonly faults?: MemoryFaults | undefined
  /** Moves several branches in one step, as GitHub's GraphQL API does. */
  readonly moveBranches?: boolean | undefined
}

const read = reader(
  Schema.Struct({
    repository: maybe(instanceOf("a MemoryRepository", MemoryRepository)),
    faults: maybe(object as Schema.Schema<MemoryFaults>),
    moveBranches: or(flag, false)
  } satisfies FieldsOf<MemoryOptions>)
)

/**
 * A remote over a repository in memory: everything the port promises but durability.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: MemoryOptions = {}): Effect.Effect<GitRemoteService, ValidationError> =>
  Effect.flatMap(read("Memory.layer", options), (given) => {
    const remote = remoteIn(given)
    const { faults } = given
    return faults === undefined
      ? Effect.succeed(remote)
      : Effect.map(faulty, ({ withMemoryFaults }) => withMemoryFaults(remote, faults))
  })

/**
 * A store's remote in memory, of its own repository or of one that is shared.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: MemoryOptions = {}): Layer.Layer<GitRemote, ValidationError> =>
  Layer.effect(GitRemote, make(options))

// Loaded where a test asks for faults: a page does not carry them.
const faulty = Effect.promise(() => import("./MemoryFaults.js"))

const remoteIn = ({ moveBranches, repository = new MemoryRepository() }: MemoryOptions): GitRemoteService => {
  const opened = open(repository)
  return remoteOf(moveBranches === true ? opened : { ...opened, updateRefs: undefined }, {
    name: repository.name
  })
}
