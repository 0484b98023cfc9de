import { Chunk, Stream } from "effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { trim } from "../../../domain/text/TrimText.js"
import * as GitProcessSlots from "../repository/GitProcessSlots.js"
import { isPath } from "../repository/HostNames.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as CommitCount from "../rest/CommitCount.js"
import { failure } from "./GraphQlFailure.js"
import * as RelayConnection from "./RelayConnection.js"
import { andThen, type ResolverContext } from "./ResolverContext.js"

export interface HistoryArguments extends RelayConnection.ConnectionArguments {
  readonly path?: string | null
  readonly since?: string | null
  readonly until?: string | null
  readonly author?: { readonly emails?: ReadonlyArray<string> | null } | null
}

const timestamp = (given: string | null | undefined) => {
  if (given === null || given === undefined) return undefined
  const millis = Date.parse(given)
  if (Number.isNaN(millis)) throw failure("UNPROCESSABLE", `\`${given.slice(0, 60)}\` is not a GitTimestamp.`)
  return CommitCount.gitDate(millis)
}

/** Resolves a page of the history of a commit. */
export const history = (
  context: ResolverContext,
  hosted: HostedRepository,
  from: Oid,
  args: HistoryArguments
) => {
  const { objects, run } = context
  const { git } = hosted
  const wanted = RelayConnection.window("history", args)
  const path = args.path ? trim(args.path, /\//) : ""
  const [since, until] = [timestamp(args.since), timestamp(args.until)]
  const emails = args.author?.emails ?? []
  // `git log --author` treats each line as another author. An e-mail address contains neither a line break nor a NUL.
  const patterns = emails.filter((email) => !/[\n\0]/.test(email)).map((email) => `<${email}>`)
  const author = patterns.length === 0 ? undefined : patterns.join("\n")
  if ((path !== "" && !isPath(path)) || (emails.length > 0 && author === undefined))
    return RelayConnection.page([], 0, false, 0)
  const total = () => run(CommitCount.countCommits(git, from, { path, since, until, author }))
  const page = (skip: number, size: number) =>
    andThen(
      run(
        Stream.runCollect(
          GitProcessSlots.streamWithHistorySlot(
            git.log(from, { ...(path === "" ? {} : { path }), limit: size + 1, skip, since, until, author })
          )
        )
      ),
      (chunk) => {
        const all = Chunk.toReadonlyArray(chunk)
        const nodes = all.slice(0, size).map((info) => objects.commit(context, hosted, info))
        return RelayConnection.page(nodes, skip, all.length > size, total)
      }
    )
  // A page that is counted from the end needs the total number of commits.
  return wanted.backwards || wanted.end !== undefined
    ? andThen(total(), (count) => {
        const { start, stop } = RelayConnection.bounds(wanted, count)
        return page(start, stop - start)
      })
    : page(wanted.skip, wanted.size)
}
