import * as Schema from "effect/Schema"
import { del, get, pages, patch, post } from "./Endpoint.js"

export const getRoot = get("meta/root", "/", { docs: "meta/meta#github-api-root" })

export const getMeta = get("meta/get", "/meta", { docs: "meta/meta#get-apiname-meta-information" })

export const getZen = get("meta/get-zen", "/zen", { docs: "meta/meta#get-the-zen-of-github" })

export const getAuthenticatedUser = get("users/get-authenticated", "/user", {
  docs: "users/users#get-the-authenticated-user"
})

export const getUser = get("users/get-by-username", "/users/{username}", { docs: "users/users#get-a-user" })

export const listOwnRepositories = get("repos/list-for-authenticated-user", "/user/repos", {
  docs: "repos/repos#list-repositories-for-the-authenticated-user",
  query: pages
})

export const listRepositoriesOfUser = get("repos/list-for-user", "/users/{username}/repos", {
  docs: "repos/repos#list-repositories-for-a-user",
  query: pages
})

export const listRepositoriesOfOrganization = get("repos/list-for-org", "/orgs/{org}/repos", {
  docs: "repos/repos#list-organization-repositories",
  query: pages
})

export const listPublicRepositories = get("repos/list-public", "/repositories", {
  docs: "repos/repos#list-public-repositories"
})

const created = {
  name: Schema.String,
  description: Schema.optional(Schema.NullOr(Schema.String)),
  private: Schema.optional(Schema.Boolean),
  auto_init: Schema.optional(Schema.Boolean)
}

export const createOwnRepository = post("repos/create-for-authenticated-user", "/user/repos", {
  docs: "repos/repos#create-a-repository-for-the-authenticated-user",
  body: Schema.Struct(created)
})

const visibility = Schema.optional(Schema.String)

export const createRepositoryOfOrganization = post("repos/create-in-org", "/orgs/{org}/repos", {
  docs: "repos/repos#create-an-organization-repository",
  body: Schema.Struct({ ...created, visibility })
})

export const updateRepository = patch("repos/update", "/repos/{owner}/{repo}", {
  docs: "repos/repos#update-a-repository",
  body: Schema.Struct({
    name: Schema.optional(Schema.String),
    description: created.description,
    private: created.private,
    visibility,
    default_branch: Schema.optional(Schema.String)
  })
})

export const deleteRepository = del("repos/delete", "/repos/{owner}/{repo}", {
  docs: "repos/repos#delete-a-repository"
})
