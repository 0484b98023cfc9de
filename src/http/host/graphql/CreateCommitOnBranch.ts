import { Effect, Option } from "effect"
import type { GraphQLError } from "graphql"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import type { Change } from "../../../git/Commit.js"
import { isRefName } from "../../../git/Names.js"
import { isPath } from "../repository/HostNames.js"
import * as Base64Content from "../request/Base64Content.js"
import * as FileContent from "../request/FileContent.js"
import { LongText } from "../request/LongText.js"
import { signatureOfPrincipal } from "../rest/Signatures.js"
import { failure } from "./GraphQlFailure.js"
import { fail, type MutationInput, refById, repositoryForWrite } from "./MutationTarget.js"
import type { ResolverContext } from "./ResolverContext.js"

interface Addition {
  readonly path: string
  readonly contents: string | LongText
}

export interface CommitInput extends MutationInput {
  readonly branch: {
    readonly id?: string | null
    readonly branchName?: string | null
    readonly repositoryNameWithOwner?: string | null
  }
  readonly expectedHeadOid: string
  readonly message: { readonly headline: string; readonly body?: string | null }
  readonly fileChanges?: {
    readonly additions?: ReadonlyArray<Addition> | null
    readonly deletions?: ReadonlyArray<{ readonly path: string }> | null
  } | null
}

const contentOf = ({ contents, path }: Addition): Effect.Effect<FileContent.FileContent, GraphQLError> => {
  const shape =
    contents instanceof LongText
      ? contents.base64
      : typeof contents === "string"
        ? Base64Content.scan(contents)
        : undefined
  return shape?.strict === true
    ? Effect.catchAll(FileContent.fromBase64(contents), () => notBase64(path))
    : notBase64(path)
}

const notBase64 = (path: string) =>
  fail("UNPROCESSABLE", `The contents of ${path.slice(0, 200)} are not valid Base64.`)

/** Fails if a path is invalid or occurs twice. */
const checkPaths = (paths: ReadonlyArray<string>): Effect.Effect<void, GraphQLError> =>
  Effect.gen(function* () {
    yield* TimeSlice.forEach(paths, (path) =>
      isPath(path)
        ? Effect.void
        : fail("UNPROCESSABLE", `A path was requested which is not valid: ${path.slice(0, 200)}`)
    )
    if (new Set(paths).size < paths.length)
      return yield* fail("UNPROCESSABLE", "A path was requested more than once in the file changes.")
  })

const branchOf = (
  context: ResolverContext,
  { branchName, id, repositoryNameWithOwner }: CommitInput["branch"]
) =>
  Effect.gen(function* () {
    if (id) {
      const { hosted, name } = yield* refById(context, id)
      return { hosted, branch: name.replace(/^refs\/heads\//, "") }
    }
    if (!repositoryNameWithOwner || !branchName) {
      return yield* fail(
        "UNPROCESSABLE",
        "Either id, or repositoryNameWithOwner and branchName, must be given."
      )
    }
    return {
      hosted: yield* repositoryForWrite(context, repositoryNameWithOwner),
      branch: branchName.replace(/^refs\/heads\//, "")
    }
  })

/** Commits additions and deletions if the branch is at the expected head. */
export const createCommitOnBranch = (context: ResolverContext, input: CommitInput) =>
  Effect.gen(function* () {
    const { branch, hosted } = yield* branchOf(context, input.branch)
    const { git } = hosted
    const name = `refs/heads/${branch}`
    const additions = input.fileChanges?.additions ?? []
    const deletions = input.fileChanges?.deletions ?? []
    const contents = yield* TimeSlice.forEach(additions, contentOf)
    yield* checkPaths([...additions, ...deletions].map(({ path }) => path))
    const at = isRefName(name) ? yield* git.ref(name) : Option.none()
    if (Option.isNone(at)) {
      return yield* fail("NOT_FOUND", `The branch "${branch.slice(0, 200)}" does not exist.`)
    }
    const stale = failure(
      "STALE_DATA",
      `Expected branch to point to "${input.expectedHeadOid}" but it did not.  Pull and try again.`
    )
    const expected = input.expectedHeadOid.toLowerCase()
    const changes: Array<Change> = deletions.map(({ path }) => ({ _tag: "Remove", path }))
    for (const [index, { path }] of additions.entries()) {
      const content = contents[index]!
      if (content.bytes instanceof Uint8Array) {
        changes.push({ _tag: "Put", path, content: content.bytes, replacesSubmodule: true })
      } else {
        // A large file is written as a blob first, unless the mutation would already fail now.
        if (at.value !== expected) return yield* Effect.fail(stale)
        changes.push({ _tag: "Link", path, oid: yield* FileContent.store(git, content) })
      }
    }
    const author = signatureOfPrincipal(context.call.principal)
    const body = input.message.body ?? ""
    const message = body === "" ? input.message.headline : `${input.message.headline}\n\n${body}`
    const { committed } = yield* git
      .commitNext(branch, (head) =>
        Effect.gen(function* () {
          if (Option.isNone(head) || head.value.commit !== expected) {
            return yield* Effect.fail(stale)
          }
          const { commit, tree } = head.value
          yield* TimeSlice.forEach(deletions, ({ path }) =>
            Effect.filterOrFail(
              git.lookup(tree, path),
              (found) => Option.isSome(found) && found.value.kind !== "tree",
              () =>
                failure(
                  "UNPROCESSABLE",
                  `A path was requested for deletion which does not exist as of commit oid ${commit}`
                )
            )
          )
          return { commit: Option.some({ message, author, committer: author, changes }), result: undefined }
        })
      )
      .pipe(Effect.mapError((error) => (error instanceof RefMoved ? stale : error)))
    const oid = Option.getOrThrow(committed).commit
    const info = Option.getOrThrow(yield* git.commit(oid))
    return {
      clientMutationId: input.clientMutationId,
      commit: context.objects.commit(context, hosted, info),
      ref: context.objects.ref(context, hosted, name, oid)
    }
  })
