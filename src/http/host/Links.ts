/** Percent-encodes a path or ref, keeping its slashes. */
export const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/")

/** The absolute addresses of this host, as the request reached it. */
export interface Links {
  readonly origin: string
  /** Address of the REST API, with no slash at its end. */
  readonly api: string
}

export const make = (origin: string, apiPrefix: string): Links => ({ origin, api: `${origin}${apiPrefix}` })

export const repository = (links: Links, fullName: string): string => `${links.api}/repos/${fullName}`

export const git = (
  links: Links,
  fullName: string,
  kind: "blobs" | "trees" | "commits",
  oid: string
): string => `${repository(links, fullName)}/git/${kind}/${oid}`

export const contents = (links: Links, fullName: string, path: string, ref: string): string =>
  `${repository(links, fullName)}/contents/${encodePath(path)}?ref=${encodeURIComponent(ref)}`

export const html = (links: Links, fullName: string, ...rest: ReadonlyArray<string>): string =>
  [`${links.origin}/${fullName}`, ...rest.map(encodePath)].join("/")

export const raw = (links: Links, fullName: string, ref: string, path: string): string =>
  `${links.origin}/raw/${fullName}/${encodePath(ref)}/${encodePath(path)}`
