import * as AccountsApi from "../../../store/remote/github/api/Accounts.js"
import * as RepositoryApi from "../../../store/remote/github/api/Repository.js"
import type { RateWindow } from "../access/RateLimits.js"
import { notFound } from "../reply/HostError.js"
import * as Reply from "../reply/Reply.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import type { HostCall } from "../request/HostCall.js"
import * as Route from "../request/Route.js"
import { user } from "./RepositoryView.js"

// GitHub's list of URLs. The host serves only those about repositories.
const searched = "{&page,per_page,sort,order}"
const addresses = {
  current_user_url: "/user",
  current_user_authorizations_html_url: "/settings/connections/applications{/client_id}",
  code_search_url: `/search/code?q={query}${searched}`,
  commit_search_url: `/search/commits?q={query}${searched}`,
  emails_url: "/user/emails",
  emojis_url: "/emojis",
  events_url: "/events",
  feeds_url: "/feeds",
  followers_url: "/user/followers",
  following_url: "/user/following{/target}",
  gists_url: "/gists{/gist_id}",
  issue_search_url: `/search/issues?q={query}${searched}`,
  issues_url: "/issues",
  keys_url: "/user/keys",
  label_search_url: "/search/labels?q={query}&repository_id={repository_id}{&page,per_page}",
  notifications_url: "/notifications",
  organization_url: "/orgs/{org}",
  organization_repositories_url: "/orgs/{org}/repos{?type,page,per_page,sort}",
  organization_teams_url: "/orgs/{org}/teams",
  public_gists_url: "/gists/public",
  rate_limit_url: "/rate_limit",
  repository_url: "/repos/{owner}/{repo}",
  repository_search_url: `/search/repositories?q={query}${searched}`,
  current_user_repositories_url: "/user/repos{?type,page,per_page,sort}",
  starred_url: "/user/starred{/owner}{/repo}",
  starred_gists_url: "/gists/starred",
  user_url: "/users/{user}",
  user_organizations_url: "/user/orgs",
  user_repositories_url: "/users/{user}/repos{?type,page,per_page,sort}",
  user_search_url: `/search/users?q={query}${searched}`
}

/** URLs that the newer API version removed. */
const removedAddresses = { authorizations_url: "/authorizations" }

// Rate limit resources that GitHub's schema requires and the host does not have.
const unsupportedResources = [
  "search",
  "integration_manifest",
  "code_scanning_upload",
  "actions_runner_registration",
  "scim"
]

const shown = ({ limit, remaining, reset, used }: RateWindow) => ({ limit, used, remaining, reset })

const account = (call: HostCall, login: string) => ({
  ...user(call.links, login),
  name: login,
  company: null,
  blog: "",
  location: null,
  email: null,
  hireable: null,
  bio: null,
  public_repos: 0,
  public_gists: 0,
  followers: 0,
  following: 0,
  created_at: "1970-01-01T00:00:00Z",
  updated_at: "1970-01-01T00:00:00Z"
})

export const routes: ReadonlyArray<Route.Route> = [
  Route.make(AccountsApi.getRoot, (call) => {
    const all = Object.entries(
      call.version === "2022-11-28" ? { ...addresses, ...removedAddresses } : addresses
    )
    return ConditionalReply.json(
      call,
      Object.fromEntries(all.map(([key, path]) => [key, call.links.api + path]))
    )
  }),
  Route.make(AccountsApi.getMeta, (call) =>
    ConditionalReply.json(call, { verifiable_password_authentication: false, installed_version: "3.17.0" })
  ),
  Route.make(AccountsApi.getZen, () => Reply.text("Keep it logically awesome.", "text/plain; charset=utf-8")),
  Route.make(RepositoryApi.getRateLimit, function* (call) {
    const core = shown(yield* call.host.limits.window(call.principal, "core"))
    const graphql = shown(yield* call.host.limits.window(call.principal, "graphql"))
    const idle = { ...core, used: 0, remaining: core.limit }
    const body = {
      resources: { core, graphql, ...Object.fromEntries(unsupportedResources.map((name) => [name, idle])) },
      ...(call.version === "2022-11-28" ? { rate: core } : {})
    }
    return Reply.json(200, body, { "cache-control": "no-cache" })
  }),
  Route.signedIn(AccountsApi.getAuthenticatedUser, (call, login) =>
    ConditionalReply.json(call, account(call, login))
  ),
  Route.make(AccountsApi.getUser, function* (call) {
    const login = call.parameters["username"]!
    const exists =
      login === call.principal.login ||
      (yield* call.host.repositories.listVisible(call.principal)).some(({ owner }) => owner === login)
    return exists ? ConditionalReply.json(call, account(call, login)) : yield* notFound
  })
]
