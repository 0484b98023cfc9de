/**
 * Repositories on the disk of this machine, or on any Git server through a clone. Node only.
 *
 * @module chainstore/local
 * @since 0.1.0
 */

/**
 * The bare repositories in a directory of this machine.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as GitRepositories from "../../git/disk/GitRepositories.js"
export type { GitRepository } from "../../git/disk/port/GitRepository.js"
/**
 * A bare repository on this machine as a remote.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as LocalGit from "../remote/local/LocalGit.js"
/**
 * A repository on any server of Git's own protocol as a remote.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as GitHost from "../remote/wire/GitHost.js"
export { type OpenGitOptions, openGit } from "./OpenGit.js"
export { type OpenLocalOptions, openLocal } from "./OpenLocal.js"
