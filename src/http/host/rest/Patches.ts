import { Effect, Option } from "effect"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import * as Reply from "../reply/Reply.js"
import * as Git from "../repository/Git.js"
import * as Programs from "../repository/Programs.js"
import type { Call } from "../request/Call.js"

/** The media types by which a commit or a comparison is shown as Git itself shows it. */
export const isAsked = ({ media }: Call): boolean => media === "diff" || media === "patch"

const shown = ["-M", "--no-ext-diff", "--no-color"]

/** What changed from `before` (none: nothing) to `after`: one diff, or a mail for each of the commits that `range` names. */
export const reply = (
  call: Call,
  git: GitRepository,
  before: Option.Option<Oid>,
  after: Oid,
  range: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    yield* Programs.transfer
    const from = Option.getOrElse(before, () => emptyTree)
    const args =
      call.media === "diff"
        ? ["diff-tree", "-r", "-p", ...shown, from, after]
        : ["format-patch", "--stdout", "--no-signature", ...shown, ...range]
    const text = Git.stream({ directory: git.directory, admitted: true, args })
    return Reply.make(200, { "content-type": `application/vnd.github.${call.media}; charset=utf-8` }, text)
  })
