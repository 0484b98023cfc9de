/** The patterns of the paths that the host answers beside its root. */
export const paths: ReadonlyArray<string | RegExp> = [
  "/api/v3",
  "/api/graphql",
  "/api/codeload",
  "/raw",
  /^\/[^/]+\/[^/]+\/(?:info\/refs|info\/lfs\/.*|git-upload-pack|git-receive-pack)$/,
  /^\/(?!repos\/|api\/|raw\/)[^/]+\/[^/]+\/(?:raw|archive)\/./
]

const [gitPath, webPath] = paths.filter((path) => path instanceof RegExp) as [RegExp, RegExp]

/** The parts of the host, each with rules of its own for what goes around an answer. */
export type Area = "rest" | "graphql" | "codeload" | "raw" | "git" | "web" | "none"

export interface Target {
  readonly area: Area
  /** What comes before the path of a route. */
  readonly prefix: string
}

const rest: Target = { area: "rest", prefix: "/api/v3" }
const restAtRoot: Target = { area: "rest", prefix: "" }
const graphql: Target = { area: "graphql", prefix: "" }
const codeload: Target = { area: "codeload", prefix: "/api/codeload" }
const raw: Target = { area: "raw", prefix: "/raw" }
const git: Target = { area: "git", prefix: "" }
const web: Target = { area: "web", prefix: "" }
const none: Target = { area: "none", prefix: "" }

const below = (path: string, prefix: string) =>
  path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 47)

/** Which part of the host a path belongs to. */
export const of = (path: string, atRoot: boolean): Target => {
  if (below(path, "/api/v3")) return rest
  if (path === "/api/graphql" || (atRoot && path === "/graphql")) return graphql
  if (below(path, "/raw")) return raw
  if (below(path, "/api/codeload")) return codeload
  if (gitPath.test(path)) return git
  if (webPath.test(path)) return web
  return atRoot ? restAtRoot : none
}
