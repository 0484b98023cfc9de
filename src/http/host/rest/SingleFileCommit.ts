import { Clock, Effect, Option } from "effect"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Change, CommitInfo } from "../../../git/Commit.js"
import type { DatedSignature, GitRepository } from "../../../git/disk/port/GitRepository.js"
import { isRefName } from "../../../git/Names.js"
import type { TreeEntry } from "../../../git/Tree.js"
import { conflict, HostError, notFound, unprocessable } from "../reply/HostError.js"
import * as FirstBranch from "../repository/FirstBranch.js"
import { isPath } from "../repository/HostNames.js"
import * as RefLock from "../repository/RefLock.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as FileContent from "../request/FileContent.js"
import type { HostCall } from "../request/HostCall.js"
import * as JsonFields from "../request/JsonFields.js"
import * as Signatures from "./Signatures.js"

/** A write of one file: its path, branch, precondition and signatures. */
export interface FileWrite {
  readonly path: string
  readonly branch: string
  readonly sha: string | undefined
  readonly author: DatedSignature
  readonly committer: DatedSignature
  /** Whether the branch did not exist when the request arrived. */
  readonly createsBranch: boolean
  /** Whether the request has an author or committer date. */
  readonly hasDates: boolean
}

const noBranch = (branch: string) =>
  new HostError({ status: 404, message: `Branch ${branch.slice(0, 255)} not found` })

/** Fails unless the branch exists or would be the first one. */
const checkBranch = (git: GitRepository, branch: string, isThere: boolean) =>
  isThere
    ? Effect.void
    : Effect.flatMap(RevisionLookup.isEmpty(git), (empty) => (empty ? Effect.void : noBranch(branch)))

/** Parses and checks the common part of PUT and DELETE in GitHub's order: the branch before the blob. */
export const parse = (call: HostCall, hosted: HostedRepository, body: JsonFields.Fields, path: string) =>
  Effect.gen(function* () {
    const { git } = hosted
    const branch = (yield* JsonFields.string(body, "branch")) ?? (yield* git.defaultBranch)
    const sha = yield* JsonFields.string(body, "sha")
    if (!isRefName(branch)) return yield* noBranch(branch)
    const begins = Option.isNone(yield* git.ref(`refs/heads/${branch}`))
    yield* checkBranch(git, branch, !begins)
    if (!isPath(path)) return yield* unprocessable("path contains a malformed path component")
    const fallback = { ...Signatures.signatureOfPrincipal(call.principal), date: undefined }
    const committer = (yield* Signatures.signatureFrom(body, "committer")) ?? fallback
    const author = (yield* Signatures.signatureFrom(body, "author")) ?? committer
    const now = yield* Clock.currentTimeMillis
    return {
      path,
      branch,
      sha,
      createsBranch: begins,
      author: yield* Signatures.withDate(author, now),
      committer: yield* Signatures.withDate(committer, now),
      hasDates: author.date !== undefined || committer.date !== undefined
    } satisfies FileWrite
  })

/** A precondition on the existing entry at the path; none if there is none. */
export type Precondition = (existing: Option.Option<TreeEntry>) => Effect.Effect<void, HostError>

const entryAt = (git: GitRepository, head: Option.Option<{ readonly tree: Oid }>, path: string) =>
  Option.isSome(head) ? git.lookup(head.value.tree, path) : Effect.succeedNone

/**
 * The change that writes the content. A large file is written as a blob first, unless the precondition already fails.
 */
export const changeFor = (
  hosted: HostedRepository,
  { branch, path }: FileWrite,
  content: FileContent.FileContent,
  judge: Precondition
) =>
  Effect.gen(function* () {
    const { bytes } = content
    if (bytes instanceof Uint8Array)
      return { _tag: "Put", path, content: bytes, replacesSubmodule: true } satisfies Change
    const { git } = hosted
    const head = yield* git.ref(`refs/heads/${branch}`)
    const commit = Option.isSome(head) ? yield* git.commit(head.value) : Option.none()
    yield* judge(yield* entryAt(git, commit, path))
    return { _tag: "Link", path, oid: yield* FileContent.store(git, content) } satisfies Change
  })

/** Makes a commit of one change. The precondition is checked against the parent of the commit. */
export const commit = (
  hosted: HostedRepository,
  write: FileWrite,
  message: string,
  change: Change,
  judge: Precondition
) => {
  const { git } = hosted
  const committed = Effect.tap(commitNext(hosted, write, message, change, judge), ({ info }) =>
    info.parents.length > 0 ? Effect.void : git.withExclusiveAccess(FirstBranch.makeDefault(git))
  )
  return write.createsBranch ? FirstBranch.exclusively(git, committed) : committed
}

const commitNext = (
  hosted: HostedRepository,
  write: FileWrite,
  message: string,
  change: Change,
  judge: Precondition
) =>
  Effect.gen(function* () {
    const { git } = hosted
    if (write.hasDates) return yield* commitExactly(hosted, write, message, change, judge)
    const { author, committer } = write
    const { committed, result } = yield* git
      .commitNext(write.branch, (head) =>
        Effect.gen(function* () {
          // A branch that was deleted since the request arrived is not created again.
          yield* checkBranch(git, write.branch, Option.isSome(head))
          const existing = yield* entryAt(git, head, write.path)
          yield* judge(existing)
          const special = change._tag !== "Remove" && modeOf(existing) !== "100644"
          return {
            commit: special ? Option.none() : Option.some({ message, author, committer, changes: [change] }),
            result: { existed: Option.isSome(existing), special }
          }
        })
      )
      .pipe(Effect.mapError(toConflict))
    if (result.special) return yield* commitExactly(hosted, write, message, change, judge)
    if (Option.isNone(committed)) return yield* notFound
    const info = yield* git.commit(committed.value.commit)
    return {
      existed: result.existed,
      blob: change._tag === "Link" ? change.oid : committed.value.blobs.get(write.path),
      info: Option.getOrThrow<CommitInfo>(info)
    }
  })

const modeOf = (existing: Option.Option<TreeEntry>): TreeEntry["mode"] =>
  Option.isSome(existing) && existing.value.kind === "blob" ? existing.value.mode : "100644"

/** Makes a commit with explicit dates, or of an executable file or a symbolic link, whose mode is kept. */
const commitExactly = (
  { git }: HostedRepository,
  write: FileWrite,
  message: string,
  change: Change,
  judge: Precondition
) => {
  const ref = `refs/heads/${write.branch}`
  return RefLock.optimistic(git, ref, (move) =>
    Effect.gen(function* () {
      const head = yield* git.ref(ref)
      yield* checkBranch(git, write.branch, Option.isSome(head))
      const base = Option.isSome(head) ? yield* git.commit(head.value) : Option.none()
      const existing = yield* entryAt(git, base, write.path)
      yield* judge(existing)
      const blob =
        change._tag === "Put"
          ? yield* git.writeObject("blob", change.content)
          : change._tag === "Link"
            ? change.oid
            : undefined
      const tree = yield* git.writeTree(
        Option.map(base, (commit) => commit.tree),
        [{ path: write.path, mode: modeOf(existing), oid: Option.fromNullable(blob) }]
      )
      const { author, committer } = write
      const oid = yield* git.writeCommit({ tree, parents: Option.toArray(head), author, committer, message })
      yield* move(ref, head, Option.some(oid))
      const info = yield* git.commit(oid)
      return { existed: Option.isSome(existing), blob, info: Option.getOrThrow<CommitInfo>(info) }
    })
  ).pipe(Effect.mapError(toConflict))
}

/** Converts a lost race to GitHub's error. */
const toConflict = <E>(error: E | RefMoved): E | HostError => {
  if (!(error instanceof RefMoved)) return error
  const at = (oid: Option.Option<Oid>) => Option.getOrElse(oid, () => "0".repeat(40))
  return conflict(`is at ${at(error.actual)} but expected ${at(error.expected)}`)
}
