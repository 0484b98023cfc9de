import { readFileSync, writeFileSync } from "node:fs"
import {
  buildASTSchema,
  type DefinitionNode,
  type DocumentNode,
  Kind,
  type NamedTypeNode,
  parse,
  print,
  type TypeNode,
  validateSchema
} from "graphql"

// Cuts the official schema down to what the host answers. To make it again:
//   cd /tmp && npm pack @octokit/graphql-schema@15.26.1 && tar xzf octokit-graphql-schema-*.tgz
//   npx tsx test/support/host/pruneSchema.ts /tmp/package/schema.graphql

/** The types to keep. A list names the fields to keep; `true` keeps all fields whose types are kept. */
const kept: Readonly<Record<string, true | ReadonlyArray<string>>> = {
  Query: ["id", "node", "nodes", "rateLimit", "repository", "repositoryOwner", "user", "viewer"],
  Mutation: [
    ...["closePullRequest", "createCommitOnBranch", "createPullRequest", "createRef", "createRepository"],
    ...["deleteRef", "mergePullRequest", "reopenPullRequest", "updatePullRequest", "updateRef", "updateRefs"]
  ],
  Node: true,
  Actor: ["avatarUrl", "login", "url"],
  RepositoryOwner: ["avatarUrl", "id", "login", "repositories", "repository", "url"],
  User: ["avatarUrl", "databaseId", "email", "id", "login", "name", "repositories", "repository", "url"],
  Repository: [
    ...["createdAt", "databaseId", "defaultBranchRef", "deleteBranchOnMerge", "description", "diskUsage"],
    ...[
      "forkCount",
      "forkingAllowed",
      "hasDiscussionsEnabled",
      "hasIssuesEnabled",
      "hasProjectsEnabled",
      "hasWikiEnabled"
    ],
    ...["homepageUrl", "id", "isArchived", "isDisabled", "isEmpty", "isFork"],
    ...["isInOrganization", "isLocked", "isMirror", "isPrivate", "isTemplate", "latestRelease"],
    ...["mergeCommitAllowed", "mirrorUrl", "name", "nameWithOwner", "object", "owner"],
    ...["parent", "pullRequest", "pullRequests", "pushedAt", "rebaseMergeAllowed", "ref", "refs", "releases"],
    ...["resourcePath", "squashMergeAllowed", "sshUrl", "stargazerCount", "templateRepository", "updatedAt"],
    ...[
      "url",
      "viewerCanAdminister",
      "viewerHasStarred",
      "viewerPermission",
      "visibility",
      "webCommitSignoffRequired"
    ]
  ],
  RepositoryConnection: ["edges", "nodes", "pageInfo", "totalCount"],
  RepositoryEdge: true,
  RepositoryAffiliation: true,
  RepositoryOrder: true,
  RepositoryOrderField: true,
  RepositoryPrivacy: true,
  OrderDirection: true,
  Release: [
    ...["createdAt", "description", "id", "isDraft", "isLatest", "isPrerelease", "name", "publishedAt"],
    ...["tagName", "url"]
  ],
  ReleaseConnection: ["nodes", "pageInfo", "totalCount"],
  ReleaseOrder: true,
  ReleaseOrderField: true,
  Ref: ["id", "name", "prefix", "repository", "target"],
  RefConnection: true,
  RefEdge: true,
  GitObject: true,
  Commit: [
    ...[
      "abbreviatedOid",
      "additions",
      "author",
      "authoredByCommitter",
      "authoredDate",
      "changedFilesIfAvailable"
    ],
    ...[
      "commitResourcePath",
      "commitUrl",
      "committedDate",
      "committer",
      "deletions",
      "file",
      "history",
      "id"
    ],
    ...[
      "message",
      "messageBody",
      "messageHeadline",
      "oid",
      "parents",
      "repository",
      "statusCheckRollup",
      "tarballUrl",
      "tree",
      "treeUrl"
    ],
    ...["url", "zipballUrl"]
  ],
  CommitConnection: true,
  CommitEdge: true,
  CommitHistoryConnection: true,
  GitActor: ["avatarUrl", "date", "email", "name", "user"],
  Tree: true,
  TreeEntry: [
    ...[
      "extension",
      "isGenerated",
      "mode",
      "name",
      "nameRaw",
      "object",
      "oid",
      "path",
      "pathRaw",
      "repository"
    ],
    ...["size", "type"]
  ],
  PullRequest: [
    ...[
      "additions",
      "assignees",
      "author",
      "autoMergeRequest",
      "baseRef",
      "baseRefName",
      "baseRefOid",
      "body"
    ],
    ...["changedFiles", "closed", "closedAt", "comments", "commits", "createdAt", "databaseId", "deletions"],
    ...["files", "headRef", "headRefName", "headRefOid", "headRepository", "headRepositoryOwner", "id"],
    ...[
      "isCrossRepository",
      "isDraft",
      "isInMergeQueue",
      "isMergeQueueEnabled",
      "labels",
      "maintainerCanModify"
    ],
    ...[
      "mergeCommit",
      "mergeStateStatus",
      "mergeable",
      "merged",
      "mergedAt",
      "mergedBy",
      "milestone",
      "number"
    ],
    ...[
      "potentialMergeCommit",
      "projectCards",
      "projectItems",
      "reactionGroups",
      "repository",
      "resourcePath"
    ],
    ...[
      "reviewDecision",
      "reviewRequests",
      "reviews",
      "state",
      "statusCheckRollup",
      "title",
      "updatedAt",
      "url"
    ]
  ],
  PullRequestConnection: true,
  PullRequestEdge: true,
  PullRequestState: true,
  PullRequestCommit: ["commit", "id", "url"],
  PullRequestCommitConnection: true,
  PullRequestCommitEdge: true,
  PullRequestChangedFile: true,
  PullRequestChangedFileConnection: true,
  PullRequestChangedFileEdge: true,
  PatchStatus: true,
  MergeableState: true,
  MergeStateStatus: true,
  PullRequestMergeMethod: true,
  IssueOrder: true,
  IssueOrderField: true,
  Label: ["color", "description", "id", "name", "url"],
  LabelConnection: true,
  LabelEdge: true,
  LabelOrder: true,
  LabelOrderField: true,
  UserConnection: true,
  UserEdge: true,
  AutoMergeRequest: ["authorEmail", "commitBody", "commitHeadline", "enabledAt", "enabledBy", "mergeMethod"],
  Milestone: ["description", "dueOn", "id", "number", "title"],
  IssueComment: [
    ...["author", "authorAssociation", "body", "createdAt", "id", "includesCreatedEdit", "isMinimized"],
    ...["minimizedReason", "reactionGroups", "url", "viewerDidAuthor"]
  ],
  IssueCommentConnection: true,
  IssueCommentEdge: true,
  CommentAuthorAssociation: true,
  ReactionGroup: ["content", "users"],
  ReactionContent: true,
  ReactingUserConnection: ["totalCount"],
  PullRequestReview: ["author", "authorAssociation", "body", "commit", "id", "reactionGroups"].concat([
    "state",
    "submittedAt",
    "url"
  ]),
  PullRequestReviewConnection: true,
  PullRequestReviewEdge: true,
  PullRequestReviewState: true,
  PullRequestReviewDecision: true,
  ReviewRequest: ["id", "requestedReviewer"],
  ReviewRequestConnection: true,
  ReviewRequestEdge: true,
  RequestedReviewer: true,
  Team: ["id", "name", "organization", "slug", "url"],
  Organization: ["avatarUrl", "id", "login", "name", "repositories", "repository", "url"],
  ProjectCard: ["column", "id", "project"],
  ProjectCardConnection: true,
  ProjectCardEdge: true,
  ProjectCardArchivedState: true,
  ProjectColumn: ["id", "name"],
  Project: ["id", "name"],
  StatusCheckRollup: ["contexts", "id", "state"],
  StatusState: true,
  StatusCheckRollupContext: true,
  StatusCheckRollupContextConnection: ["nodes", "pageInfo", "totalCount"],
  CheckRun: ["checkSuite", "completedAt", "conclusion", "detailsUrl", "id", "isRequired", "name"].concat([
    "startedAt",
    "status"
  ]),
  CheckSuite: ["id", "workflowRun"],
  WorkflowRun: ["id", "event", "workflow"],
  Workflow: ["id", "name"],
  CheckConclusionState: true,
  CheckStatusState: true,
  StatusContext: [
    "avatarUrl",
    "context",
    "createdAt",
    "description",
    "id",
    "isRequired",
    "state",
    "targetUrl"
  ],
  CreatePullRequestInput: true,
  CreatePullRequestPayload: true,
  ClosePullRequestInput: true,
  ClosePullRequestPayload: true,
  ReopenPullRequestInput: true,
  ReopenPullRequestPayload: true,
  UpdatePullRequestInput: true,
  UpdatePullRequestPayload: true,
  PullRequestUpdateState: true,
  MergePullRequestInput: true,
  MergePullRequestPayload: true,
  Blob: true,
  Tag: true,
  PageInfo: true,
  RateLimit: true,
  CreateCommitOnBranchInput: true,
  CreateCommitOnBranchPayload: true,
  CommittableBranch: true,
  CommitMessage: true,
  FileChanges: true,
  FileAddition: true,
  FileDeletion: true,
  CreateRefInput: true,
  CreateRefPayload: true,
  CreateRepositoryInput: true,
  CreateRepositoryPayload: true,
  DeleteRefInput: true,
  DeleteRefPayload: true,
  UpdateRefInput: true,
  UpdateRefPayload: true,
  UpdateRefsInput: true,
  UpdateRefsPayload: true,
  RefUpdate: true,
  CommitAuthor: true,
  RepositoryPermission: true,
  RepositoryVisibility: true,
  Base64String: true,
  DateTime: true,
  GitObjectID: true,
  GitRefname: true,
  GitTimestamp: true,
  URI: true
}

const scalars = new Set(["Boolean", "Float", "ID", "Int", "String"])

const named = (type: TypeNode): NamedTypeNode => (type.kind === Kind.NAMED_TYPE ? type : named(type.type))

const stays = (type: TypeNode) => {
  const name = named(type).name.value
  return scalars.has(name) || Object.hasOwn(kept, name)
}

const prune = (definition: DefinitionNode): ReadonlyArray<DefinitionNode> => {
  if (
    !("name" in definition) ||
    definition.name === undefined ||
    definition.kind === Kind.DIRECTIVE_DEFINITION
  )
    return []
  const fields = kept[definition.name.value]
  if (fields === undefined) return []
  const wanted = (name: string) => fields === true || fields.includes(name)
  switch (definition.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const seen = new Set<string>()
      return [
        {
          ...definition,
          directives: [],
          interfaces: (definition.interfaces ?? []).filter(stays),
          fields: (definition.fields ?? [])
            .filter((field) => wanted(field.name.value) && stays(field.type))
            .filter((field) => !seen.has(field.name.value) && seen.add(field.name.value))
            .map((field) => ({
              ...field,
              directives: [],
              arguments: (field.arguments ?? [])
                .filter(({ type }) => stays(type))
                .map((one) => ({ ...one, directives: [] }))
            }))
        }
      ]
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return [
        {
          ...definition,
          directives: [],
          fields: (definition.fields ?? [])
            .filter(({ type }) => stays(type))
            .map((field) => ({ ...field, directives: [] }))
        }
      ]
    case Kind.ENUM_TYPE_DEFINITION:
      return [
        {
          ...definition,
          directives: [],
          values: (definition.values ?? []).map((value) => ({ ...value, directives: [] }))
        }
      ]
    case Kind.UNION_TYPE_DEFINITION:
      return [{ ...definition, directives: [], types: (definition.types ?? []).filter(stays) }]
    case Kind.SCALAR_TYPE_DEFINITION:
      return [{ ...definition, directives: [] }]
    default:
      return []
  }
}

const source = parse(readFileSync(process.argv[2]!, "utf8"), { noLocation: true })
const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: source.definitions.flatMap(prune) }
const missing = Object.keys(kept).filter(
  (name) =>
    !document.definitions.some((definition) => "name" in definition && definition.name?.value === name)
)
if (missing.length > 0) throw new Error(`not in the official schema: ${missing.join(", ")}`)
const problems = validateSchema(buildASTSchema(document, { assumeValidSDL: true }))
if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join("\n"))
const text = `// Cut from @octokit/graphql-schema (MIT, GitHub) by test/support/host/pruneSchema.ts; not edited by hand.\n\nexport const schema: string = ${JSON.stringify(print(document))}\n`
writeFileSync(new URL("../../../src/http/host/graphql/schema.generated.ts", import.meta.url), text)
