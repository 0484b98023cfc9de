import { Effect, Option } from "effect"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import * as Reply from "../reply/Reply.js"
import * as GitCommand from "../repository/GitCommand.js"
import * as GitProcessSlots from "../repository/GitProcessSlots.js"
import type { HostCall } from "../request/HostCall.js"

/** Whether the client requests a diff or patches. */
export const isRequested = ({ media }: HostCall): boolean => media === "diff" || media === "patch"

const diffOptions = ["-M", "--no-ext-diff", "--no-color"]

/**
 * A reply with the diff between two commits (`before` may be none), or with one patch e-mail per commit of `range`.
 */
export const reply = (
  call: HostCall,
  git: GitRepository,
  before: Option.Option<Oid>,
  after: Oid,
  range: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    yield* GitProcessSlots.transferSlot
    const from = Option.getOrElse(before, () => emptyTree)
    const args =
      call.media === "diff"
        ? ["diff-tree", "-r", "-p", ...diffOptions, from, after]
        : ["format-patch", "--stdout", "--no-signature", ...diffOptions, ...range]
    const text = GitCommand.stream({ directory: git.directory, hasSlot: true, args })
    return Reply.make(200, { "content-type": `application/vnd.github.${call.media}; charset=utf-8` }, text)
  })
