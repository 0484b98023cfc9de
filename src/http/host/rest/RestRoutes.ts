import * as ArchiveRoutes from "./ArchiveRoutes.js"
import * as BlobRoutes from "./BlobRoutes.js"
import * as BranchRoutes from "./BranchRoutes.js"
import * as CommitActivityRoutes from "./CommitActivityRoutes.js"
import * as CommitRoutes from "./CommitRoutes.js"
import * as CompareRoutes from "./CompareRoutes.js"
import * as ContentRoutes from "./ContentRoutes.js"
import * as GitCommitRoutes from "./GitCommitRoutes.js"
import * as MergeRoutes from "./MergeRoutes.js"
import * as MetaRoutes from "./MetaRoutes.js"
import * as PullRequestRoutes from "./PullRequestRoutes.js"
import * as ReadmeRoutes from "./ReadmeRoutes.js"
import * as RefRoutes from "./RefRoutes.js"
import * as RepositoryRoutes from "./RepositoryRoutes.js"
import * as RepositoryUpdateRoutes from "./RepositoryUpdateRoutes.js"
import * as StatisticsRoutes from "./StatisticsRoutes.js"
import * as TagRoutes from "./TagRoutes.js"
import * as TreeRoutes from "./TreeRoutes.js"

/** All routes of the REST API. */
export const routes = [
  MetaRoutes.routes,
  RepositoryRoutes.routes,
  RepositoryUpdateRoutes.routes,
  BranchRoutes.routes,
  ContentRoutes.routes,
  ReadmeRoutes.routes,
  StatisticsRoutes.routes,
  BlobRoutes.routes,
  TreeRoutes.routes,
  GitCommitRoutes.routes,
  RefRoutes.routes,
  TagRoutes.routes,
  CommitRoutes.routes,
  CommitActivityRoutes.routes,
  CompareRoutes.routes,
  MergeRoutes.routes,
  PullRequestRoutes.routes,
  ArchiveRoutes.routes
].flat()

export const codeload = ArchiveRoutes.codeloadRoute
