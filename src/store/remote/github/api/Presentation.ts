import { get, pages } from "./Endpoint.js"

export const getReadme = get("repos/get-readme", "/repos/{owner}/{repo}/readme", {
  docs: "repos/contents#get-a-repository-readme",
  query: ["ref"]
})

export const getReadmeInDirectory = get(
  "repos/get-readme-in-directory",
  "/repos/{owner}/{repo}/readme/{dir*}",
  { docs: "repos/contents#get-a-repository-readme-for-a-directory", query: ["ref"] }
)

export const getLicense = get("licenses/get-for-repo", "/repos/{owner}/{repo}/license", {
  docs: "licenses/licenses#get-the-license-for-a-repository",
  query: ["ref"]
})

export const downloadTarball = get("repos/download-tarball-archive", "/repos/{owner}/{repo}/tarball/{ref*}", {
  docs: "repos/contents#download-a-repository-archive-tar",
  status: 302
})

export const downloadZipball = get("repos/download-zipball-archive", "/repos/{owner}/{repo}/zipball/{ref*}", {
  docs: "repos/contents#download-a-repository-archive-zip",
  status: 302
})

export const listLanguages = get("repos/list-languages", "/repos/{owner}/{repo}/languages", {
  docs: "repos/repos#list-repository-languages"
})

export const listTopics = get("repos/get-all-topics", "/repos/{owner}/{repo}/topics", {
  docs: "repos/repos#get-all-repository-topics",
  query: pages
})

export const listReleases = get("repos/list-releases", "/repos/{owner}/{repo}/releases", {
  docs: "releases/releases#list-releases",
  query: pages
})

/** 204 where the repository has no commits. */
export const listContributors = get("repos/list-contributors", "/repos/{owner}/{repo}/contributors", {
  docs: "repos/repos#list-repository-contributors",
  query: ["anon", ...pages]
})
