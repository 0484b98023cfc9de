import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { isGranted } from "../access/Principal.js"
import * as Links from "../reply/Links.js"
import { nodeId, numericId } from "../repository/NodeId.js"
import type { HostedRepository } from "../repository/Repositories.js"
import type { HostCall } from "../request/HostCall.js"

/** The short representation of an account. Every owner and token holder has one. */
export const user = (links: Links.Links, login: string) => {
  const url = `${links.api}/users/${login}`
  return {
    login,
    id: numericId(login),
    node_id: nodeId("User", login),
    avatar_url: `${links.origin}/avatars/${login}`,
    gravatar_id: "",
    url,
    html_url: `${links.origin}/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: "User",
    user_view_type: "public",
    site_admin: false
  }
}

const templates = {
  forks_url: "/forks",
  keys_url: "/keys{/key_id}",
  collaborators_url: "/collaborators{/collaborator}",
  teams_url: "/teams",
  hooks_url: "/hooks",
  issue_events_url: "/issues/events{/number}",
  events_url: "/events",
  assignees_url: "/assignees{/user}",
  branches_url: "/branches{/branch}",
  tags_url: "/tags",
  blobs_url: "/git/blobs{/sha}",
  git_tags_url: "/git/tags{/sha}",
  git_refs_url: "/git/refs{/sha}",
  trees_url: "/git/trees{/sha}",
  statuses_url: "/statuses/{sha}",
  languages_url: "/languages",
  stargazers_url: "/stargazers",
  contributors_url: "/contributors",
  subscribers_url: "/subscribers",
  subscription_url: "/subscription",
  commits_url: "/commits{/sha}",
  git_commits_url: "/git/commits{/sha}",
  comments_url: "/comments{/number}",
  issue_comment_url: "/issues/comments{/number}",
  contents_url: "/contents/{+path}",
  compare_url: "/compare/{base}...{head}",
  merges_url: "/merges",
  archive_url: "/{archive_format}{/ref}",
  downloads_url: "/downloads",
  issues_url: "/issues{/number}",
  pulls_url: "/pulls{/number}",
  milestones_url: "/milestones{/number}",
  notifications_url: "/notifications{?since,all,participating}",
  labels_url: "/labels{/name}",
  releases_url: "/releases{/id}",
  deployments_url: "/deployments"
}

const kilobytes = (directory: string): number => {
  const size = (path: string): number => {
    try {
      return readdirSync(path, { withFileTypes: true }).reduce(
        (sum, entry) => sum + (entry.isFile() ? statSync(join(path, entry.name)).size : 4096),
        0
      )
    } catch {
      return 0
    }
  }
  return Math.max(
    1,
    Math.ceil((size(join(directory, "objects", "pack")) + size(join(directory, "objects"))) / 1024)
  )
}

/** The date of the last commit of the default branch; none if there is no commit. */
export const pushedAt = ({ git }: HostedRepository): Effect.Effect<Option.Option<string>, RemoteError> =>
  Effect.gen(function* () {
    const tip = yield* git.ref(`refs/heads/${yield* git.defaultBranch}`)
    const head = Option.isSome(tip) ? yield* git.commit(tip.value) : Option.none()
    return Option.map(head, ({ committer }) => seconds(committer.date))
  })

/** The representation of a repository in `GET /repos/{owner}/{repo}`. */
export const repository = (call: HostCall, hosted: HostedRepository): Effect.Effect<object, RemoteError> =>
  Effect.gen(function* () {
    const { links, principal } = call
    const { fullName, git, name, owner, metadata } = hosted
    const branch = yield* git.defaultBranch
    const lastPush = yield* pushedAt(hosted)
    const pushed = Option.getOrElse(lastPush, () => metadata.createdAt)
    const url = Links.repository(links, fullName)
    const write = isGranted(principal, "write", fullName)
    return {
      id: numericId(fullName),
      node_id: nodeId("Repository", owner, name),
      name,
      full_name: fullName,
      private: metadata.private,
      owner: user(links, owner),
      html_url: Links.html(links, fullName),
      description: metadata.description,
      fork: false,
      url,
      ...Object.fromEntries(Object.entries(templates).map(([key, path]) => [key, url + path])),
      created_at: metadata.createdAt,
      updated_at: pushed,
      pushed_at: pushed,
      git_url: `${links.origin.replace(/^https?:/, "git:")}/${fullName}.git`,
      ssh_url: `git@${new URL(links.origin).hostname}:${fullName}.git`,
      clone_url: `${links.origin}/${fullName}.git`,
      svn_url: Links.html(links, fullName),
      mirror_url: null,
      homepage: null,
      size: Option.isNone(lastPush) ? 0 : kilobytes(git.directory),
      stargazers_count: 0,
      watchers_count: 0,
      language: null,
      has_issues: false,
      has_projects: false,
      ...(call.version === "2022-11-28" ? { has_downloads: false } : {}),
      has_wiki: false,
      has_pages: false,
      has_discussions: false,
      has_pull_requests: true,
      forks_count: 0,
      archived: false,
      disabled: false,
      open_issues_count: 0,
      license: null,
      allow_forking: false,
      is_template: false,
      web_commit_signoff_required: false,
      topics: [],
      visibility: metadata.private ? "private" : "public",
      forks: 0,
      open_issues: 0,
      watchers: 0,
      default_branch: branch,
      ...(principal.login === undefined
        ? {}
        : { permissions: { admin: write, maintain: write, push: write, triage: write, pull: true } }),
      network_count: 0,
      subscribers_count: 0
    }
  })

/** Formats a date as GitHub does: UTC, in whole seconds. */
export const seconds = (date: string): string => new Date(date).toISOString().replace(/\.\d+Z$/, "Z")
