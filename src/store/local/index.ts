export * as GitRepositories from "../../git/disk/GitRepositories.js"
export type { GitRepository } from "../../git/disk/GitRepository.js"
export * as LocalGit from "../remote/local/LocalGit.js"
export { type OpenLocalOptions, openLocal } from "./OpenLocal.js"
