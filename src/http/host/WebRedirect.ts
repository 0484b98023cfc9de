import { Effect } from "effect"
import { notFound } from "./reply/HostError.js"
import type { Links } from "./reply/Links.js"
import * as Reply from "./reply/Reply.js"
import type { HandlerEffect } from "./request/Route.js"

const formats = { ".tar.gz": "tar.gz", ".tgz": "tar.gz", ".zip": "zip" } as const

const targetOf = (path: string): string | undefined => {
  const [, repository = "", kind, rest = ""] = /^\/([^/]+\/[^/]+)\/(raw|archive)\/(.+)$/.exec(path) ?? []
  if (kind === "raw") return `/raw/${repository}/${rest}`
  const [, ref, ending] = /^(.+?)(\.tar\.gz|\.tgz|\.zip)$/.exec(rest) ?? []
  return ending === undefined
    ? undefined
    : `/api/codeload/${repository}/${formats[ending as keyof typeof formats]}/${ref}`
}

/** Redirects the file and archive addresses of GitHub's website to the host's own endpoints. */
export const redirect = (method: string, path: string, links: Links, query: string): HandlerEffect => {
  const target = method === "GET" || method === "HEAD" ? targetOf(path) : undefined
  return target === undefined
    ? notFound
    : Effect.succeed(Reply.make(302, { location: `${links.origin}${target}${query}` }))
}
