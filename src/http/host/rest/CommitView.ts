import { trimEnd } from "../../../domain/text/TrimText.js"
import type { CommitInfo } from "../../../git/Commit.js"
import * as Links from "../reply/Links.js"
import { nodeId } from "../repository/NodeId.js"
import { seconds } from "./RepositoryView.js"

const unsigned = { verified: false, reason: "unsigned", signature: null, payload: null, verified_at: null }

const person = (who: CommitInfo["author"]) => ({ name: who.name, email: who.email, date: seconds(who.date) })

/** The representation of a commit in `git/commits`. */
export const gitCommit = (links: Links.Links, fullName: string, info: CommitInfo) => ({
  sha: info.commit,
  node_id: nodeId("Commit", fullName, info.commit),
  url: Links.git(links, fullName, "commits", info.commit),
  html_url: Links.html(links, fullName, "commit", info.commit),
  author: person(info.author),
  committer: person(info.committer),
  tree: { sha: info.tree, url: Links.git(links, fullName, "trees", info.tree) },
  message: trimEnd(info.message, /\n/),
  parents: info.parents.map((sha) => ({
    sha,
    url: Links.git(links, fullName, "commits", sha),
    html_url: Links.html(links, fullName, "commit", sha)
  })),
  verification: unsigned
})

/** The representation of a commit in `commits`. */
export const commit = (links: Links.Links, fullName: string, info: CommitInfo) => {
  const url = `${Links.repository(links, fullName)}/commits`
  const { author, committer, message, tree, verification } = gitCommit(links, fullName, info)
  return {
    sha: info.commit,
    node_id: nodeId("Commit", fullName, info.commit),
    commit: {
      author,
      committer,
      message,
      tree,
      url: Links.git(links, fullName, "commits", info.commit),
      comment_count: 0,
      verification
    },
    url: `${url}/${info.commit}`,
    html_url: Links.html(links, fullName, "commit", info.commit),
    comments_url: `${url}/${info.commit}/comments`,
    author: null,
    committer: null,
    parents: info.parents.map((sha) => ({
      sha,
      url: `${url}/${sha}`,
      html_url: Links.html(links, fullName, "commit", sha)
    }))
  }
}
