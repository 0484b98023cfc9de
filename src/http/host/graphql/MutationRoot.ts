import { Effect, Option, type Scope, Stream } from "effect"
import type { GraphQLError } from "graphql"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { HostError } from "../reply/HostError.js"
import * as GitCommand from "../repository/GitCommand.js"
import * as GitProcessSlots from "../repository/GitProcessSlots.js"
import { isNewRefName, isWritableRefName } from "../repository/HostNames.js"
import * as RefCreation from "../repository/RefCreation.js"
import * as RefLock from "../repository/RefLock.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import type { HandlerFailure } from "../request/Route.js"
import { createCommitOnBranch } from "./CreateCommitOnBranch.js"
import { createRepository } from "./CreateRepository.js"
import { failure } from "./GraphQlFailure.js"
import { fail, type MutationInput, refById, repositoryById } from "./MutationTarget.js"
import * as PullRequestResolver from "./PullRequestResolver.js"
import type { MaybePromise, ResolverContext } from "./ResolverContext.js"

const commitFor = (git: GitRepository, name: string, given: string) =>
  Effect.gen(function* () {
    const oid = RevisionLookup.oidFrom(given)
    const info = oid === undefined ? Option.none() : yield* git.objectInfo(oid)
    if (oid === undefined || Option.isNone(info))
      return yield* fail("UNPROCESSABLE", `Oid ${given.slice(0, 60)} does not exist in the repository.`)
    if (name.startsWith("refs/heads/") && info.value.type !== "commit") {
      return yield* fail("UNPROCESSABLE", `Oid ${oid} is not a commit.`)
    }
    return oid
  })

const createRef = (
  context: ResolverContext,
  input: MutationInput & { readonly repositoryId: string; readonly name: string; readonly oid: string }
) =>
  Effect.gen(function* () {
    const hosted = yield* repositoryById(context, input.repositoryId)
    const { name } = input
    if (!isNewRefName(name))
      return yield* fail("UNPROCESSABLE", `${name.slice(0, 200)} is not a valid ref name.`)
    const oid = yield* commitFor(hosted.git, name, input.oid)
    yield* RefCreation.create(hosted.git, name, oid, {
      taken: failure("UNPROCESSABLE", `A ref named "${name}" already exists in the repository.`),
      clash: failure("UNPROCESSABLE", `A ref named "${name}" conflicts with an existing ref.`)
    })
    return { clientMutationId: input.clientMutationId, ref: context.objects.ref(context, hosted, name, oid) }
  })

const deleteRef = (context: ResolverContext, input: MutationInput & { readonly refId: string }) =>
  Effect.gen(function* () {
    const { hosted, name } = yield* refById(context, input.refId)
    yield* RefLock.withLock(hosted.git, name, (move) =>
      Effect.gen(function* () {
        const current = yield* hosted.git.ref(name)
        if (Option.isNone(current)) return yield* fail("NOT_FOUND", `The ref "${name}" does not exist.`)
        yield* move(name, current, Option.none())
      })
    )
    return { clientMutationId: input.clientMutationId }
  })

const updateRef = (
  context: ResolverContext,
  input: MutationInput & { readonly refId: string; readonly oid: string; readonly force?: boolean | null }
) =>
  Effect.gen(function* () {
    const { hosted, name } = yield* refById(context, input.refId)
    yield* updateRefsTogether(hosted, [{ name, afterOid: input.oid, force: input.force ?? false }])
    const oid = RevisionLookup.oidFrom(input.oid)!
    return { clientMutationId: input.clientMutationId, ref: context.objects.ref(context, hosted, name, oid) }
  })

interface RefUpdate {
  readonly name: string
  readonly afterOid: string
  readonly beforeOid?: string | null
  readonly force?: boolean | null
}

/** The prefixes of a ref name, which cannot be refs at the same time. */
const prefixesOf = (name: string) => {
  const parts = name.split("/")
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"))
}

const zeros = "0".repeat(40)

/**
 * Moves several refs atomically. The preconditions are checked while the repository is locked, and a Git ref
 * transaction moves the refs.
 */
const updateRefsTogether = (hosted: HostedRepository, updates: ReadonlyArray<RefUpdate>) => {
  const { git } = hosted
  const line = (update: RefUpdate): Effect.Effect<string, GraphQLError | HostError | RemoteError> =>
    Effect.gen(function* () {
      const { name } = update
      const current = isWritableRefName(name) ? yield* git.ref(name) : Option.none()
      if (Option.isNone(current) && !isNewRefName(name))
        return yield* fail("UNPROCESSABLE", `${name.slice(0, 200)} is not a valid ref name.`)
      const before = Option.getOrElse(current, () => zeros)
      const expected = update.beforeOid ?? undefined
      if (expected !== undefined && expected.toLowerCase() !== before) {
        return yield* fail(
          "STALE_DATA",
          `Expected ${name} to point to "${expected.slice(0, 60)}" but it did not.  Pull and try again.`
        )
      }
      if (update.afterOid === zeros) {
        return before === zeros
          ? yield* fail("NOT_FOUND", `The ref "${name}" does not exist.`)
          : `delete ${name} ${before}`
      }
      if (Option.isNone(current) && (yield* RefCreation.hasConflict(git, name))) {
        return yield* fail("UNPROCESSABLE", `A ref named "${name}" conflicts with an existing ref.`)
      }
      const after: Oid = yield* commitFor(git, name, update.afterOid)
      if (
        Option.isSome(current) &&
        update.force !== true &&
        !(yield* GitProcessSlots.withHistorySlot(git.isAncestor(current.value, after)))
      ) {
        return yield* fail("UNPROCESSABLE", `Update of ${name} is not a fast forward`)
      }
      return `update ${name} ${after} ${before}`
    })
  return git.withExclusiveAccess(
    Effect.gen(function* () {
      if (new Set(updates.map(({ name }) => name)).size < updates.length) {
        return yield* fail("UNPROCESSABLE", "A ref was named more than once.")
      }
      const present = updates.filter(({ afterOid }) => afterOid !== zeros).map(({ name }) => name)
      const all = new Set(present)
      const inTheWay = present.flatMap(prefixesOf).find((name) => all.has(name))
      if (inTheWay !== undefined) {
        return yield* fail("UNPROCESSABLE", `A ref named "${inTheWay}" conflicts with an existing ref.`)
      }
      const lines = yield* Effect.forEach(updates, line)
      const input = Buffer.from(["start", ...lines, "prepare", "commit", ""].join("\n"))
      const { code } = yield* GitCommand.output({
        directory: git.directory,
        args: ["update-ref", "--stdin"],
        input: Stream.make(input)
      })
      if (code !== 0) return yield* fail("STALE_DATA", "A ref was moved meanwhile.  Pull and try again.")
    })
  )
}

const updateRefs = (
  context: ResolverContext,
  input: MutationInput & { readonly repositoryId: string; readonly refUpdates: ReadonlyArray<RefUpdate> }
) =>
  Effect.gen(function* () {
    const hosted = yield* repositoryById(context, input.repositoryId)
    yield* updateRefsTogether(hosted, input.refUpdates)
    return { clientMutationId: input.clientMutationId }
  })

type Resolver<I> = (args: { readonly input: I }, context: ResolverContext) => MaybePromise<unknown>

const resolver =
  <I>(
    mutation: (
      context: ResolverContext,
      input: I
    ) => Effect.Effect<unknown, HandlerFailure | GraphQLError, Scope.Scope>
  ): Resolver<I> =>
  ({ input }, context) =>
    context.run(mutation(context, input))

/** The root value of mutations. */
export const root = {
  closePullRequest: resolver(PullRequestResolver.closePullRequest),
  createCommitOnBranch: resolver(createCommitOnBranch),
  createPullRequest: resolver(PullRequestResolver.createPullRequest),
  createRef: resolver(createRef),
  createRepository: resolver(createRepository),
  deleteRef: resolver(deleteRef),
  mergePullRequest: resolver(PullRequestResolver.mergePullRequest),
  reopenPullRequest: resolver(PullRequestResolver.reopenPullRequest),
  updatePullRequest: resolver(PullRequestResolver.updatePullRequest),
  updateRef: resolver(updateRef),
  updateRefs: resolver(updateRefs)
}
