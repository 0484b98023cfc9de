export * as GitRepositories from "../git/GitRepositories.js"
export type { GitRepository } from "../git/GitRepository.js"
export * as LocalGit from "./LocalGit.js"
export { type OpenLocalOptions, openLocal } from "./OpenLocal.js"
