import { Effect, Option } from "effect"
import type { GraphQLError } from "graphql"
import { RefMoved } from "../../../domain/Ref.js"
import type { Change } from "../../../store/GitRemote.js"
import { isPath, isRefName } from "../Names.js"
import { personOf } from "../rest/People.js"
import type { Context } from "./Context.js"
import { failure } from "./GraphQlFailure.js"
import { fail, type Given, refById, writing } from "./Target.js"

export interface CommitInput extends Given {
  readonly branch: {
    readonly id?: string | null
    readonly branchName?: string | null
    readonly repositoryNameWithOwner?: string | null
  }
  readonly expectedHeadOid: string
  readonly message: { readonly headline: string; readonly body?: string | null }
  readonly fileChanges?: {
    readonly additions?: ReadonlyArray<{ readonly path: string; readonly contents: string }> | null
    readonly deletions?: ReadonlyArray<{ readonly path: string }> | null
  } | null
}

const strictBase64 = /^[A-Za-z0-9+/]*={0,2}$/

const changesOf = (input: CommitInput): Effect.Effect<ReadonlyArray<Change>, GraphQLError> =>
  Effect.gen(function* () {
    const changes: Array<Change> = []
    for (const { contents, path } of input.fileChanges?.additions ?? []) {
      if (contents.length % 4 !== 0 || !strictBase64.test(contents)) {
        return yield* fail("UNPROCESSABLE", `The contents of ${path.slice(0, 200)} are not valid Base64.`)
      }
      changes.push({ _tag: "Put", path, content: Buffer.from(contents, "base64") })
    }
    for (const { path } of input.fileChanges?.deletions ?? []) changes.push({ _tag: "Remove", path })
    const wrong = changes.find(({ path }) => !isPath(path))
    if (wrong !== undefined) {
      return yield* fail(
        "UNPROCESSABLE",
        `A path was requested which is not valid: ${wrong.path.slice(0, 200)}`
      )
    }
    const paths = new Set(changes.map(({ path }) => path))
    if (paths.size < changes.length) {
      return yield* fail("UNPROCESSABLE", "A path was requested more than once in the file changes.")
    }
    return changes
  })

const branchOf = (context: Context, { branchName, id, repositoryNameWithOwner }: CommitInput["branch"]) =>
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
      hosted: yield* writing(context, repositoryNameWithOwner),
      branch: branchName.replace(/^refs\/heads\//, "")
    }
  })

/** Commits additions and deletions at once, at the expected head alone. */
export const createCommitOnBranch = (context: Context, input: CommitInput) =>
  Effect.gen(function* () {
    const { branch, hosted } = yield* branchOf(context, input.branch)
    const { git } = hosted
    const name = `refs/heads/${branch}`
    const changes = yield* changesOf(input)
    if (!isRefName(name) || Option.isNone(yield* git.ref(name))) {
      return yield* fail("NOT_FOUND", `The branch "${branch.slice(0, 200)}" does not exist.`)
    }
    const stale = failure(
      "STALE_DATA",
      `Expected branch to point to "${input.expectedHeadOid}" but it did not.  Pull and try again.`
    )
    const author = personOf(context.call.principal)
    const body = input.message.body ?? ""
    const message = body === "" ? input.message.headline : `${input.message.headline}\n\n${body}`
    const { committed } = yield* git
      .commitNext(branch, (head) =>
        Effect.gen(function* () {
          if (Option.isNone(head) || head.value.commit !== input.expectedHeadOid.toLowerCase()) {
            return yield* Effect.fail(stale)
          }
          for (const change of changes) {
            if (change._tag !== "Remove") continue
            const found = yield* git.lookup(head.value.tree, change.path)
            if (Option.isNone(found) || found.value.kind === "tree") {
              return yield* fail(
                "UNPROCESSABLE",
                `A path was requested for deletion which does not exist as of commit oid ${head.value.commit}`
              )
            }
          }
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
