import { open } from "../../../git/memory/Engine.js"
import { MemoryRepository } from "../../../git/memory/MemoryRepository.js"
import type { GitRemoteService } from "../GitRemote.js"
import { makeRepositoryRemote } from "../repository/RepositoryRemote.js"
import { type MemoryFaults, withMemoryFaults } from "./MemoryFaults.js"

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

/** The remote of a repository in memory, with options that were checked. */
export const makeMemoryRemote = ({
  faults,
  moveBranches,
  repository = new MemoryRepository()
}: MemoryOptions): GitRemoteService => {
  const opened = open(repository)
  const remote = makeRepositoryRemote(moveBranches === true ? opened : { ...opened, updateRefs: undefined }, {
    name: repository.name
  })
  return faults === undefined ? remote : withMemoryFaults(remote, faults)
}
