import { LruCache } from "../../../domain/runtime/LruCache.js"

/** Percent-encodes a path or ref but keeps its slashes. */
export const encodePath = (path: string): string =>
  /^[\w./~-]*$/.test(path) ? path : path.split("/").map(encodeURIComponent).join("/")

/** The base URLs of this host for links in replies. */
export interface Links {
  readonly origin: string
  /** The URL of the REST API without a trailing slash. */
  readonly api: string
}

const mostHosts = 1000

/**
 * Returns the base URLs for a request's `Host`. They are cached by host. The scheme of `publicUrl` is used for its
 * own host.
 */
export const from = (publicUrl: string | undefined) => {
  const configured = publicUrl === undefined ? undefined : new URL(publicUrl)
  const remembered = new LruCache<Links>(mostHosts)
  return (host = "", apiPrefix: string): Links => {
    const key = `${host} ${apiPrefix}`
    const found = remembered.get(key)
    if (found !== undefined) return found
    const isHost = /^[A-Za-z0-9.-]+(?::\d{1,5})?$|^\[[0-9a-fA-F:.]+\](?::\d{1,5})?$/.test(host)
    const named = isHost && URL.canParse(`http://${host}`) ? host : "localhost"
    const origin =
      configured !== undefined && configured.host === named ? configured.origin : `http://${named}`
    return remembered.set(key, { origin, api: `${origin}${apiPrefix}` })
  }
}

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
