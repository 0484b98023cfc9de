/** The path patterns of the host, apart from REST at `/`. */
export const paths: ReadonlyArray<string | RegExp> = [
  "/api/v3",
  "/api/graphql",
  "/api/codeload",
  "/raw",
  /^\/[^/]+\/[^/]+\/(?:info\/refs|info\/lfs\/.*|git-upload-pack|git-receive-pack)$/,
  /^\/(?!repos\/|api\/|raw\/)[^/]+\/[^/]+\/(?:raw|archive)\/./
]

const [gitPath, webPath] = paths.filter((path) => path instanceof RegExp) as [RegExp, RegExp]

/** The kinds of endpoints, which differ in their common headers and error bodies. */
export type EndpointKind = "rest" | "graphql" | "codeload" | "raw" | "git" | "web" | "none"

export interface EndpointMatch {
  readonly kind: EndpointKind
  /** The prefix before the path of a route. */
  readonly prefix: string
}

const rest: EndpointMatch = { kind: "rest", prefix: "/api/v3" }
const restAtRoot: EndpointMatch = { kind: "rest", prefix: "" }
const graphql: EndpointMatch = { kind: "graphql", prefix: "" }
const codeload: EndpointMatch = { kind: "codeload", prefix: "/api/codeload" }
const raw: EndpointMatch = { kind: "raw", prefix: "/raw" }
const git: EndpointMatch = { kind: "git", prefix: "" }
const web: EndpointMatch = { kind: "web", prefix: "" }
const none: EndpointMatch = { kind: "none", prefix: "" }

const below = (path: string, prefix: string) =>
  path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 47)

/** Returns the kind of endpoint of a path. */
export const fromPath = (path: string, atRoot: boolean): EndpointMatch => {
  if (below(path, "/api/v3")) return rest
  if (path === "/api/graphql" || (atRoot && path === "/graphql")) return graphql
  if (below(path, "/raw")) return raw
  if (below(path, "/api/codeload")) return codeload
  if (gitPath.test(path)) return git
  if (webPath.test(path)) return web
  return atRoot ? restAtRoot : none
}
