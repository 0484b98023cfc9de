import * as Archives from "./Archives.js"
import * as Blobs from "./Blobs.js"
import * as Branches from "./Branches.js"
import * as CommitActivity from "./CommitActivity.js"
import * as Commits from "./Commits.js"
import * as Compare from "./Compare.js"
import * as Contents from "./Contents.js"
import * as GitCommits from "./GitCommits.js"
import * as Merges from "./Merges.js"
import * as Meta from "./Meta.js"
import * as Pulls from "./Pulls.js"
import * as Readme from "./Readme.js"
import * as Refs from "./Refs.js"
import * as Repos from "./Repos.js"
import * as RepositoryAdministration from "./RepositoryAdministration.js"
import * as Statistics from "./Statistics.js"
import * as Tags from "./Tags.js"
import * as Trees from "./Trees.js"

/** Every operation of the REST API. */
export const routes = [
  Meta.routes,
  Repos.routes,
  RepositoryAdministration.routes,
  Branches.routes,
  Contents.routes,
  Readme.routes,
  Statistics.routes,
  Blobs.routes,
  Trees.routes,
  GitCommits.routes,
  Refs.routes,
  Tags.routes,
  Commits.routes,
  CommitActivity.routes,
  Compare.routes,
  Merges.routes,
  Pulls.routes,
  Archives.routes
].flat()

export const codeload = Archives.codeload
