import { Effect, Option, type Scope, Stream } from "effect"
import type { GraphQLError } from "graphql"
import type { Oid } from "../../../domain/Oid.js"
import { RefMoved } from "../../../domain/Ref.js"
import type { RemoteError } from "../../../domain/StoreError.js"
import type { Change } from "../../../store/GitRemote.js"
import type { GitRepository } from "../../../store/git/GitRepository.js"
import * as Git from "../Git.js"
import { fromNodeId, isPath, isRefName, isWholeRefName } from "../Names.js"
import { Problem } from "../Problem.js"
import * as Programs from "../Programs.js"
import type { Hosted } from "../Repositories.js"
import * as Revision from "../Revision.js"
import type { Failure } from "../Route.js"
import { personOf } from "../rest/People.js"
import type { Context, Eventual } from "./Context.js"
import { failure } from "./GraphQlFailure.js"

interface Given {
  readonly clientMutationId?: string | null
}

const fail = (...args: Parameters<typeof failure>): Effect.Effect<never, GraphQLError> =>
  Effect.fail(failure(...args))

const writing = (
  context: Context,
  fullName: string
): Effect.Effect<Hosted, Failure | GraphQLError, Scope.Scope> => {
  const [owner = "", name = "", ...more] = fullName.split("/")
  const missing = failure(
    "NOT_FOUND",
    `Could not resolve to a Repository with the name '${fullName.slice(0, 200)}'.`
  )
  if (more.length > 0) return Effect.fail(missing)
  return context.repositories
    .writing(context.call.principal, owner, name)
    .pipe(Effect.mapError((error) => (error instanceof Problem && error.status === 404 ? missing : error)))
}

const byId = (context: Context, id: string) => {
  const parts = fromNodeId("Repository", id)
  return parts === undefined
    ? fail("NOT_FOUND", `Could not resolve to a node with the global id of '${id.slice(0, 200)}'.`)
    : writing(context, parts.join("/"))
}

const refById = (context: Context, id: string) =>
  Effect.gen(function* () {
    const [fullName, name, ...more] = fromNodeId("Ref", id) ?? []
    if (fullName === undefined || name === undefined || more.length > 0 || !isWholeRefName(name)) {
      return yield* fail(
        "NOT_FOUND",
        `Could not resolve to a node with the global id of '${id.slice(0, 200)}'.`
      )
    }
    return { hosted: yield* writing(context, fullName), name }
  })

const commitFor = (git: GitRepository, name: string, given: string) =>
  Effect.gen(function* () {
    const oid = Revision.asOid(given)
    const info = oid === undefined ? Option.none() : yield* git.objectInfo(oid)
    if (oid === undefined || Option.isNone(info))
      return yield* fail("UNPROCESSABLE", `Oid ${given.slice(0, 60)} does not exist in the repository.`)
    if (name.startsWith("refs/heads/") && info.value.type !== "commit") {
      return yield* fail("UNPROCESSABLE", `Oid ${oid} is not a commit.`)
    }
    return oid
  })

interface CommitInput extends Given {
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

const createCommitOnBranch = (context: Context, input: CommitInput) =>
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

const createRef = (
  context: Context,
  input: Given & { readonly repositoryId: string; readonly name: string; readonly oid: string }
) =>
  Effect.gen(function* () {
    const hosted = yield* byId(context, input.repositoryId)
    const { name } = input
    if (!isWholeRefName(name))
      return yield* fail("UNPROCESSABLE", `${name.slice(0, 200)} is not a valid ref name.`)
    const oid = yield* commitFor(hosted.git, name, input.oid)
    const duplicate = failure("UNPROCESSABLE", `A ref named "${name}" already exists in the repository.`)
    yield* hosted.git
      .updateRef(name, Option.none(), Option.some(oid))
      .pipe(Effect.mapError((error) => (error instanceof RefMoved ? duplicate : error)))
    return { clientMutationId: input.clientMutationId, ref: context.objects.ref(context, hosted, name, oid) }
  })

const deleteRef = (context: Context, input: Given & { readonly refId: string }) =>
  Effect.gen(function* () {
    const { hosted, name } = yield* refById(context, input.refId)
    const current = yield* hosted.git.ref(name)
    if (Option.isNone(current)) return yield* fail("NOT_FOUND", `The ref "${name}" does not exist.`)
    yield* hosted.git.updateRef(name, current, Option.none())
    return { clientMutationId: input.clientMutationId }
  })

const updateRef = (
  context: Context,
  input: Given & { readonly refId: string; readonly oid: string; readonly force?: boolean | null }
) =>
  Effect.gen(function* () {
    const { hosted, name } = yield* refById(context, input.refId)
    yield* move(hosted, [{ name, afterOid: input.oid, force: input.force ?? false }])
    const oid = Revision.asOid(input.oid)!
    return { clientMutationId: input.clientMutationId, ref: context.objects.ref(context, hosted, name, oid) }
  })

interface RefUpdate {
  readonly name: string
  readonly afterOid: string
  readonly beforeOid?: string | null
  readonly force?: boolean | null
}

const zeros = "0".repeat(40)

/** Moves refs, all or none: every precondition is checked in the writers' turn, and Git's own transaction moves them. */
const move = (hosted: Hosted, updates: ReadonlyArray<RefUpdate>) => {
  const { git } = hosted
  const line = (update: RefUpdate): Effect.Effect<string, GraphQLError | Problem | RemoteError> =>
    Effect.gen(function* () {
      const { name } = update
      if (!isWholeRefName(name))
        return yield* fail("UNPROCESSABLE", `${name.slice(0, 200)} is not a valid ref name.`)
      const current = yield* git.ref(name)
      const before = Option.getOrElse(current, () => zeros)
      if (update.beforeOid && update.beforeOid.toLowerCase() !== before) {
        return yield* fail(
          "STALE_DATA",
          `Expected ${name} to point to "${update.beforeOid}" but it did not.  Pull and try again.`
        )
      }
      if (update.afterOid === zeros) return `delete ${name} ${before}`
      const after: Oid = yield* commitFor(git, name, update.afterOid)
      if (
        Option.isSome(current) &&
        update.force !== true &&
        !(yield* Programs.history(git.isAncestor(current.value, after)))
      ) {
        return yield* fail("UNPROCESSABLE", `Update of ${name} is not a fast forward`)
      }
      return `update ${name} ${after} ${before}`
    })
  return git.exclusively(
    Effect.gen(function* () {
      if (new Set(updates.map(({ name }) => name)).size < updates.length) {
        return yield* fail("UNPROCESSABLE", "A ref was named more than once.")
      }
      const lines = yield* Effect.forEach(updates, line)
      const input = Buffer.from(["start", ...lines, "prepare", "commit", ""].join("\n"))
      const { code } = yield* Git.output({
        directory: git.directory,
        args: ["update-ref", "--stdin"],
        input: Stream.make(input)
      })
      if (code !== 0) return yield* fail("STALE_DATA", "A ref was moved meanwhile.  Pull and try again.")
    })
  )
}

const updateRefs = (
  context: Context,
  input: Given & { readonly repositoryId: string; readonly refUpdates: ReadonlyArray<RefUpdate> }
) =>
  Effect.gen(function* () {
    const hosted = yield* byId(context, input.repositoryId)
    yield* move(hosted, input.refUpdates)
    return { clientMutationId: input.clientMutationId }
  })

type Resolver<I> = (args: { readonly input: I }, context: Context) => Eventual<unknown>

const resolver =
  <I>(
    mutation: (context: Context, input: I) => Effect.Effect<unknown, Failure | GraphQLError, Scope.Scope>
  ): Resolver<I> =>
  ({ input }, context) =>
    context.run(mutation(context, input))

/** The root of mutations. */
export const root = {
  createCommitOnBranch: resolver(createCommitOnBranch),
  createRef: resolver(createRef),
  deleteRef: resolver(deleteRef),
  updateRef: resolver(updateRef),
  updateRefs: resolver(updateRefs)
}
