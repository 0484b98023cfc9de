/** An error reply of the host: GitHub's text, and its source. */
export interface DocumentedError {
  readonly status: ReadonlyArray<number>
  readonly message: RegExp
  /** The source of the text. "own" means a limit of this host, or an error of GitHub whose text is unknown. */
  readonly source: string
  /** The operations that may return it although their description does not list the status. Absent: none. */
  readonly unlisted?: "any" | ReadonlyArray<string>
}

const docs = "https://docs.github.com"
const trouble = `${docs}/rest/using-the-rest-api/troubleshooting-the-rest-api`
const limits = `${docs}/rest/using-the-rest-api/rate-limits-for-the-rest-api`
const measured = "https://github.com/pome-sh/digital-twins (FIDELITY.md: 59 errors of the live API)"
const issue = (of: string) => `https://github.com/${of}`
const empty = issue("github/rest-api-description/issues/637")

const row = (
  status: number | ReadonlyArray<number>,
  message: RegExp,
  source: string,
  unlisted?: DocumentedError["unlisted"]
): DocumentedError => ({
  status: typeof status === "number" ? [status] : status,
  message,
  source,
  ...(unlisted === undefined ? {} : { unlisted })
})

/** Errors that any operation may return but that few descriptions list. */
const everywhere = [
  row(400, /^Problems parsing JSON$/, trouble, "any"),
  row(400, /^Body should be a JSON object$/, trouble, "any"),
  row(400, /^The API version ".*" is not supported\./, `${trouble}; own text`, "any"),
  row(401, /^Bad credentials$/, trouble, "any"),
  row(403, /^Maximum number of login attempts exceeded\. Please try again later\.$/, trouble, "any"),
  row(401, /^Requires authentication$/, trouble, "any"),
  row(
    401,
    /^This endpoint requires you to be authenticated\.$/,
    `${docs}/graphql/guides/forming-calls-with-graphql#authenticating-with-graphql`,
    "any"
  ),
  row(403, /^Request forbidden by administrative rules\. .* User-Agent header/, trouble, "any"),
  row(403, /^Resource not accessible by personal access token$/, trouble, "any"),
  row([403, 429], /^API rate limit exceeded for /, limits, "any"),
  row([403, 429], /^You have exceeded a secondary rate limit\./, limits, "any"),
  // A private repository is reported as missing to callers that may not read it. A path with an extra slash is
  // missing, too.
  row(404, /^Not Found$/, trouble, "any"),
  row([408, 413], /^The request body (did not arrive in time|is too large)\.$/, "own", "any"),
  row([502, 503, 504], /^Server Error$/, "own: a fault that a test asked for", "any"),
  row(503, /^The server is running its maximum number of Git processes/, "own", "any")
]

const sixty = /^The (?:tree\.)?sha parameter must be exactly 40 characters and contain only \[0-9a-f\]\.$/

/** All error texts of REST. */
export const restErrors: ReadonlyArray<DocumentedError> = [
  ...everywhere,
  row(
    403,
    /^(This API returns blobs up to 100 MB|The requested blob is too large)/,
    issue("octokit/octokit.net/issues/3029")
  ),
  row(404, /^This repository is empty\.$/, "own text"),
  row(404, /^No commit found for the ref /, measured),
  row(404, /^Branch (.* )?not found$/, measured),
  row(404, /^(Base|Head) does not exist$/, `${docs}/rest/branches/branches#merge-a-branch`),
  row(404, /^No common ancestor between /, `${docs}/rest/commits/commits#compare-two-commits; own text`),
  row(409, /^Git Repository is empty\.$/, empty),
  row(409, /^.+ does not match [^ ]*$/s, measured),
  row(
    409,
    /^is at [0-9a-f]{40} but expected [0-9a-f]{40}$/,
    issue("integrations/terraform-provider-github/issues/2909")
  ),
  row(409, /^The repository is in use: /, "own text"),
  row(422, /^Validation Failed$/, trouble),
  row(405, /^Pull Request is not mergeable$/, `${docs}/rest/pulls/pulls#merge-a-pull-request`),
  row(
    405,
    /^(Squash|Rebase) merges are not allowed on this repository\.$/,
    issue("dependabot/fetch-metadata/issues/97")
  ),
  row(
    409,
    /^Head branch was modified\. Review and try the merge again\.$/,
    `${docs}/rest/pulls/pulls#merge-a-pull-request`
  ),
  row(409, /^Merge conflict$/, `${docs}/rest/branches/branches#merge-a-branch`),
  row(422, /^Invalid request\.\n\n("\w+"(, "\w+")* (wasn't|weren't) supplied\.|For '[^']*', )/, measured),
  row(422, /^Invalid request\.\n\n".*" is not a valid date-time\.$/s, "own text"),
  row(422, /^[Tt]he commit message contains a NUL$/, "own text"),
  row(422, /^content is not valid Base64$/, measured),
  row(422, /^path contains a malformed path component$/, "own text"),
  row(422, / is a directory$/, "own text"),
  row(422, sixty, "own text"),
  row(422, /^(Object does not exist|Object is not a commit)$/, "own text"),
  row(422, /^Reference (does not exist|already exists)$/, issue("renovatebot/renovate/issues/20281")),
  row(422, /^Cannot delete the default branch$/, issue("integrations/terraform-provider-github/issues/3331")),
  row(422, /^Reference update failed$/, `${docs}/rest/git/refs#create-a-reference; own text`),
  row(
    422,
    /^Reference name must start with 'refs\/' and have at least two slashes$/,
    `${docs}/rest/git/refs#create-a-reference`
  ),
  row(422, /^.* is not a valid (ref|tag) name\.$/s, "own text"),
  row(422, /^Update is not a fast forward$/, issue("grafana/github-api-commit-action/issues/56")),
  row(422, /^Must supply either tree\.sha or tree\.content/, issue("octokit/octokit.net/issues/2836")),
  row(422, /^Must supply a valid tree\.mode/, "own text"),
  row(422, /^Invalid tree info$/, issue("47degrees/github4s/issues/259")),
  row(422, /^(tree\.path is missing|tree\.path contains a malformed path component)$/, "own text"),
  row(422, /^tree\.sha .* is not a valid (blob|tree)$/, "own text"),
  row(422, /^GitRPC::BadObjectState$/, issue("google/go-github/issues/2418")),
  row(422, /^(base_tree is not a valid tree oid|tree contains duplicate file entries)$/, "own text"),
  row(422, /^Tree SHA does not exist$/, "own text"),
  row(422, /^Parent SHA does not exist or is not a commit object$/, "own text"),
  row(422, /^No commit found for SHA: /s, measured, [
    "repos/list-pull-requests-associated-with-commit",
    "repos/list-comments-for-commit",
    "checks/list-for-ref",
    "checks/list-suites-for-ref"
  ]),
  row(400, /^since and until must be timestamps in ISO 8601 format/, "own text"),
  row(
    422,
    /^Repository creation failed\.$/,
    `${docs}/rest/repos/repos#create-a-repository-for-the-authenticated-user`
  )
]

/** The error texts of GraphQL by type. Errors of invalid documents have no type. */
export const graphqlErrors: ReadonlyArray<{
  readonly type: string
  readonly message: RegExp
  readonly source: string
}> = [
  {
    type: "NOT_FOUND",
    message: /^Could not resolve to a (Repository|User|node) with the /,
    source: "SDL, own text"
  },
  { type: "NOT_FOUND", message: /^The (branch|ref) ".*" does not exist\.$/s, source: "own text" },
  { type: "FORBIDDEN", message: /^Resource not accessible by personal access token$/, source: trouble },
  {
    type: "STALE_DATA",
    message: /^Expected .* to point to ".*" but it did not\. {2}Pull and try again\.$/s,
    source: issue("planetscale/ghcommit/pull/153")
  },
  {
    type: "STALE_DATA",
    message: /^A ref was moved meanwhile\. {2}Pull and try again\.$/,
    source: "own text"
  },
  {
    type: "RATE_LIMITED",
    message: /^API rate limit exceeded for /,
    source: `${docs}/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api`
  },
  {
    type: "MISSING_PAGINATION_BOUNDARIES",
    message: /^You must provide a `first` or `last` value to properly paginate/,
    source: `${docs}/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api`
  },
  {
    type: "EXCESSIVE_PAGINATION",
    message: /^Requesting -?\d+ records on the `\w+` connection exceeds/,
    source: `${docs}/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api`
  },
  {
    type: "MAX_NODE_LIMIT_EXCEEDED",
    message: /^This query requests up to \d+ possible nodes/,
    source: `${docs}/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api`
  },
  {
    type: "RESOURCE_LIMITS_EXCEEDED",
    message: /^Resource limits for this query exceeded\.$/,
    source: `${docs}/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api`
  },
  {
    type: "ARGUMENT_LIMIT",
    message: /^You may not provide more than 100 node ids; you provided \d+\.$/,
    source: "own text"
  },
  {
    type: "UNPROCESSABLE",
    message: /^Could not resolve file over 10mb$/,
    source: issue("sveltia/sveltia-cms/issues/692")
  },
  {
    type: "UNPROCESSABLE",
    message: /^A path was requested for deletion which does not exist as of commit oid /,
    source: issue("Thinkmill/keystatic/issues/1269")
  },
  {
    type: "UNPROCESSABLE",
    message: /^A path was requested (which is not valid: |more than once in the file changes\.)/s,
    source: "SDL, own text"
  },
  {
    type: "UNPROCESSABLE",
    message: /^Name (already exists on this account|is invalid)$/,
    source: issue("cli/cli/pull/14266")
  },
  { type: "UNPROCESSABLE", message: /^The contents of .* are not valid Base64\.$/s, source: "SDL, own text" },
  {
    type: "UNPROCESSABLE",
    message: /^Either id, or repositoryNameWithOwner and branchName, must be given\.$/,
    source: "SDL, own text"
  },
  { type: "UNPROCESSABLE", message: /^`.*` does not appear to be a valid cursor\.$/s, source: "own text" },
  {
    type: "UNPROCESSABLE",
    message: /^Oid .* (does not exist in the repository|is not a commit)\.$/s,
    source: "own text"
  },
  {
    type: "UNPROCESSABLE",
    message: /^A ref named ".*" (already exists in the repository|conflicts with an existing ref)\.$/s,
    source: "own text"
  },
  {
    type: "UNPROCESSABLE",
    message: /^(.* is not a valid ref name|A ref was named more than once)\.$/s,
    source: "own text"
  },
  { type: "UNPROCESSABLE", message: /^Update of .* is not a fast forward$/s, source: "SDL, own text" }
]
