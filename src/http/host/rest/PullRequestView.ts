import * as Links from "../reply/Links.js"
import { nodeId, numericId } from "../repository/NodeId.js"
import type { PullRequest } from "../repository/PullRequests.js"
import type { HostedRepository } from "../repository/Repositories.js"
import type { HostCall } from "../request/HostCall.js"
import * as RepositoryView from "./RepositoryView.js"

export const label = (call: HostCall, fullName: string, name: string) => ({
  id: numericId(`${fullName}:${name}`),
  node_id: nodeId("Label", fullName, name),
  url: `${Links.repository(call.links, fullName)}/labels/${encodeURIComponent(name)}`,
  name,
  description: "",
  color: "ededed",
  default: false
})

/** The representation of a pull request in lists. `repository` is the representation of its repository. */
export const simple = (
  call: HostCall,
  { fullName, owner }: HostedRepository,
  repository: object,
  request: PullRequest
) => {
  const { links } = call
  const api = Links.repository(links, fullName)
  const url = `${api}/pulls/${request.number}`
  const issue = `${api}/issues/${request.number}`
  const html = Links.html(links, fullName, "pull", String(request.number))
  const statuses = `${api}/statuses/${request.headCommit}`
  const side = (ref: string, sha: string) => ({
    label: `${owner}:${ref}`,
    ref,
    sha,
    user: RepositoryView.user(links, owner),
    repo: repository
  })
  const hrefs = {
    self: url,
    html,
    issue,
    comments: `${issue}/comments`,
    review_comments: `${url}/comments`,
    review_comment: `${api}/pulls/comments{/number}`,
    commits: `${url}/commits`,
    statuses
  }
  return {
    url,
    id: numericId(`${fullName}#${request.number}`),
    node_id: nodeId("PullRequest", fullName, String(request.number)),
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: issue,
    number: request.number,
    state: request.state,
    locked: false,
    title: request.title,
    user: RepositoryView.user(links, request.author),
    body: request.body,
    created_at: request.createdAt,
    updated_at: request.updatedAt,
    closed_at: request.closedAt,
    merged_at: request.merged?.at ?? null,
    merge_commit_sha: request.merged?.commit ?? null,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    labels: request.labels.map((name) => label(call, fullName, name)),
    milestone: null,
    draft: request.draft,
    commits_url: hrefs.commits,
    review_comments_url: hrefs.review_comments,
    review_comment_url: hrefs.review_comment,
    comments_url: hrefs.comments,
    statuses_url: statuses,
    head: side(request.head, request.headCommit),
    base: side(request.base, request.baseCommit),
    _links: Object.fromEntries(Object.entries(hrefs).map(([name, href]) => [name, { href }])),
    author_association: "OWNER",
    auto_merge: null,
    active_lock_reason: null
  }
}
