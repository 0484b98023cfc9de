import type { Oid } from "../../../domain/identifiers/Oid.js"
import * as Links from "../reply/Links.js"
import type { HostedRepository } from "../repository/Repositories.js"
import type { HostCall } from "../request/HostCall.js"

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1)

/** A tree entry at a path. */
export interface ContentEntry {
  readonly type: string
  readonly path: string
  readonly oid: Oid
  readonly size: number
}

/** Returns a function that represents the entries of one commit. The common parts of URLs are computed once. */
export const viewer = ({ links }: HostCall, { fullName }: HostedRepository, ref: string) => {
  const repository = Links.repository(links, fullName)
  const query = `?ref=${encodeURIComponent(ref)}`
  const shown = Links.encodePath(ref)
  const page = Links.html(links, fullName)
  const bytes = `${links.origin}/raw/${fullName}/${shown}/`
  return ({ oid, path, size, type }: ContentEntry) => {
    const encoded = Links.encodePath(path)
    const self = `${repository}/contents/${encoded}${query}`
    const [kind, kinds] = type === "dir" ? ["tree", "trees"] : ["blob", "blobs"]
    const git = type === "submodule" ? null : `${repository}/git/${kinds}/${oid}`
    const html = type === "submodule" ? null : `${page}/${kind}/${shown}/${encoded}`
    return {
      name: nameOf(path),
      path,
      sha: oid,
      size,
      url: self,
      html_url: html,
      git_url: git,
      download_url: type === "dir" || type === "submodule" ? null : bytes + encoded,
      type,
      _links: { self, git, html }
    }
  }
}

/** The representation of an entry in the contents API, without its content. */
export const view = (call: HostCall, hosted: HostedRepository, ref: string, at: ContentEntry) =>
  viewer(call, hosted, ref)(at)
