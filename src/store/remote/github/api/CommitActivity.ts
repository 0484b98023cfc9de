import { get, pages } from "./Endpoint.js"

export const getCombinedStatus = get(
  "repos/get-combined-status-for-ref",
  "/repos/{owner}/{repo}/commits/{ref*}/status",
  { docs: "commits/statuses#get-the-combined-status-for-a-specific-reference", query: pages }
)

export const listStatuses = get(
  "repos/list-commit-statuses-for-ref",
  "/repos/{owner}/{repo}/commits/{ref*}/statuses",
  { docs: "commits/statuses#list-commit-statuses-for-a-reference", query: pages }
)

export const listCheckRuns = get("checks/list-for-ref", "/repos/{owner}/{repo}/commits/{ref*}/check-runs", {
  docs: "checks/runs#list-check-runs-for-a-git-reference",
  query: pages
})

export const listCheckSuites = get(
  "checks/list-suites-for-ref",
  "/repos/{owner}/{repo}/commits/{ref*}/check-suites",
  { docs: "checks/suites#list-check-suites-for-a-git-reference", query: pages }
)

export const listComments = get(
  "repos/list-comments-for-commit",
  "/repos/{owner}/{repo}/commits/{commit_sha}/comments",
  { docs: "commits/comments#list-commit-comments", query: pages }
)

export const listPullRequests = get(
  "repos/list-pull-requests-associated-with-commit",
  "/repos/{owner}/{repo}/commits/{commit_sha}/pulls",
  { docs: "commits/commits#list-pull-requests-associated-with-a-commit", query: pages }
)

export const listBranchesForHead = get(
  "repos/list-branches-for-head-commit",
  "/repos/{owner}/{repo}/commits/{commit_sha}/branches-where-head",
  { docs: "commits/commits#list-branches-for-head-commit" }
)
