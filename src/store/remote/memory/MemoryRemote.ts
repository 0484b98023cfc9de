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
  /** The repository. Default: a new one. */
  readonly repository?: MemoryRepository | undefined
  /** Faults to inject, for tests. */
  readonly faults?: MemoryFaults | undefined
  /** Whether to support `moveBranches`, as GitHub's GraphQL API does. */
  readonly moveBranches?: boolean | undefined
}

/** The remote over a repository in memory, from checked options. */
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
