import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { isOid } from "../../domain/Oid.js"
import { RefMoved } from "../../domain/Ref.js"
import {
  type AmbiguousWriteError,
  type ConflictError,
  NotFoundError,
  ValidationError
} from "../../domain/StoreError.js"
import { branchProblem, pathProblem } from "../GitName.js"
import {
  type Change,
  type CommitInfo,
  type Committed,
  GitRemote,
  type GitRemoteService,
  type Head,
  type Probe,
  type RemoteFailure,
  type SingleFile,
  type Wants
} from "../GitRemote.js"
import * as Api from "./Api.js"
import type { ApiFailure } from "./ApiFailure.js"
import { makeBranches } from "./Branches.js"
import { makeBranchMoves } from "./BranchMoves.js"
import { makeBring, type Place } from "./Bring.js"
import { operation } from "./Call.js"
import { type CallFailure, makeClient } from "./Client.js"
import { makeCommit } from "./Commits.js"
import { estimateWith } from "./Estimate.js"
import { makeFiles } from "./Files.js"
import { type FileWrite, makeFileWrite } from "./FileWrites.js"
import { makeGraphqlCommit } from "./GraphqlCommit.js"
import { makeDiff, makeLog } from "./History.js"
import { toBudget } from "./Limits.js"
import { toTree } from "./Listing.js"
import { makeObjectCache } from "./ObjectCache.js"
import { type GitHubOptions, resolveOptions } from "./Options.js"
import { makeRefWrites } from "./RefWrites.js"
import { makeRepositoryId } from "./RepositoryId.js"
import { lagging } from "./Retry.js"
import { readOnly, translate } from "./Translate.js"
import { building, makeTrees } from "./Trees.js"

export { type Authorization, config, type GitHubOptions, type WriteLane } from "./Options.js"

type Known = RemoteFailure | RefMoved | ConflictError | AmbiguousWriteError

const isKind =
  (...kinds: ReadonlyArray<ApiFailure["kind"]>) =>
  (error: { readonly _tag: string }): error is ApiFailure =>
    error._tag === "ApiFailure" && kinds.includes((error as ApiFailure).kind)

const isApiFailure = (error: { readonly _tag: string }): error is ApiFailure => error._tag === "ApiFailure"

/**
 * A repository on GitHub, on a GitHub Enterprise server or on our own host.
 *
 * Where it promises less than the port: without `commitVia: "graphql"` a branch that somebody moved back to an
 * ancestor of the expected head is not noticed, since GitHub checks for a fast-forward, not for equality; a file where
 * a directory lies is replaced by GitHub without a word; and the first commit of an empty repository that has more
 * than one file stands on another commit, since GitHub knows no other way to begin.
 */
export const make = (
  options: GitHubOptions
): Effect.Effect<GitRemoteService, ValidationError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const settings = yield* resolveOptions(options)
    const client = yield* makeClient(settings)
    const cache = makeObjectCache(settings.objectCacheBytes)
    const branches = makeBranches(client)
    const trees = makeTrees(client, cache, settings.listVia === "contents")
    const repositoryId = makeRepositoryId(client)
    const bring = makeBring(client, cache, trees, repositoryId)
    /** Wants come with the head where GraphQL is used. */
    const brings = settings.useGraphql && !settings.readOnly
    const refs = makeRefWrites(client)
    const moveTogether = makeBranchMoves(client, refs, repositoryId)
    const log = makeLog(client)
    const diff = makeDiff(trees)
    const turns = new Map<string, Effect.Semaphore>()
    const pins = new Map<string, Option.Option<Head>>()

    const learned = (head: Option.Option<Head>) => {
      if (Option.isSome(head)) trees.learnCommit(head.value)
      return head
    }

    /** A query that fails leaves it to the plain ways, which know the host's errors better. */
    const brought = (place: Place, wants: Wants) =>
      Effect.catchIf(bring.at(place, wants), isApiFailure, () => Effect.succeed(Option.none<Head>()))

    const resolve = (ref: string, wants?: Wants): Effect.Effect<Option.Option<Head>, CallFailure> =>
      (isOid(ref) && brings && wants !== undefined
        ? Effect.flatMap(brought({ commit: ref }, wants), (found) =>
            Option.isSome(found) ? Effect.succeed(found) : resolve(ref)
          )
        : isOid(ref)
          ? Effect.map(
              branches.commit(ref),
              Option.map((found): Head => ({ commit: found.sha, tree: found.tree.sha }))
            )
          : client.call(Api.getCommit, { path: { ref }, query: { per_page: 1 } }).pipe(
              Effect.map((reply) =>
                Option.map(reply.value, (found): Head => {
                  branches.learn(found)
                  return { commit: found.sha, tree: found.commit.tree.sha }
                })
              ),
              Effect.catchIf(isKind("Missing", "EmptyRepository", "Invalid", "Conflict"), () =>
                Effect.succeed(Option.none())
              )
            )
      ).pipe(Effect.map(learned))

    const headNow = (branch: string, wants?: Wants) =>
      Effect.map(
        brings && wants !== undefined
          ? Effect.flatMap(brought({ branch }, wants), (found) =>
              branches.head(branch, Option.isSome(found) ? Effect.succeed(found) : undefined)
            )
          : branches.head(branch),
        learned
      )

    /** The branch's head; of a store opened for reading, the commit that it was at when first asked. */
    const head = (branch: string, wants?: Wants): Effect.Effect<Option.Option<Head>, CallFailure> => {
      if (!settings.readOnly || (!settings.pinRef && Option.isNone(settings.ref))) {
        return headNow(branch, wants)
      }
      const pinned = pins.get(branch)
      if (pinned !== undefined) return Effect.succeed(pinned)
      return Effect.tap(
        Option.isSome(settings.ref)
          ? resolve(settings.ref.value)
          : Effect.map(branches.head(branch), learned),
        (found) => Effect.sync(() => void pins.set(branch, found))
      )
    }

    const files = makeFiles(client, cache, trees, branches, head, refs.isAncestor)
    const writeFile = makeFileWrite(client)
    const commitNow = makeCommit({
      client,
      refs,
      writeFile,
      viaGraphql: makeGraphqlCommit(client, refs, repositoryId, files.file),
      resolveTree: (oid) =>
        Effect.flatMap(branches.commit(oid), (found) =>
          Option.isSome(found)
            ? Effect.succeed(found.value.tree.sha)
            : Effect.fail(
                new NotFoundError({
                  operation: "GitRemote.commit",
                  message: `commit ${oid} is not there yet`
                })
              )
        )
    })

    const told =
      (name: string, path?: string) =>
      <A, E extends Known, R>(
        self: Effect.Effect<A, E | ApiFailure, R>
      ): Effect.Effect<A, Exclude<E, ApiFailure> | RemoteFailure, R> =>
        self.pipe(
          Effect.catchIf(isApiFailure, translate({ operation: `GitRemote.${name}`, path })),
          operation(name, settings.deadline, path === undefined ? {} : { path })
        ) as Effect.Effect<A, Exclude<E, ApiFailure> | RemoteFailure, R>

    const writable = (name: string, branch: string, ...paths: ReadonlyArray<string>) =>
      Effect.suspend((): Effect.Effect<void, RemoteFailure> => {
        const place = `GitRemote.${name}`
        if (settings.readOnly) return Effect.fail(readOnly(place))
        const problem = branchProblem(branch)
        if (problem !== undefined) {
          return Effect.fail(
            new ValidationError({ operation: place, message: `branch ${JSON.stringify(branch)}: ${problem}` })
          )
        }
        const path = paths.find((candidate) => pathProblem(candidate) !== undefined)
        return path === undefined
          ? Effect.void
          : Effect.fail(
              new ValidationError({ operation: place, path, message: `${path}: ${pathProblem(path)}` })
            )
      })

    const turn = (branch: string) => {
      const known = turns.get(branch) ?? Effect.unsafeMakeSemaphore(1)
      turns.set(branch, known)
      return known.withPermits(1)
    }

    /** What is remembered of a branch is no longer to be trusted once a write has not clearly succeeded. */
    const careful =
      (branch: string) =>
      <A, E, R>(self: Effect.Effect<A, E, R>) =>
        Effect.onExit(self, (exit) =>
          exit._tag === "Success" ? Effect.void : Effect.sync(() => branches.forget(branch))
        )

    /** After a lost race: where the branch is by now. Replicas may still tell the old place. */
    const lookAgain = (branch: string, lost: RefMoved): Effect.Effect<RefMoved, CallFailure> =>
      Effect.gen(function* () {
        const before = Option.getOrUndefined(lost.expected)
        branches.forget(branch)
        const now = yield* Effect.map(branches.head(branch), learned).pipe(
          Effect.flatMap((found) =>
            before !== undefined && Option.isSome(found) && found.value.commit === before
              ? Effect.fail("behind" as const)
              : Effect.succeed(found)
          ),
          Effect.retry({ schedule: lagging, while: (error) => error === "behind" }),
          Effect.catchAll((error) =>
            error === "behind" ? Effect.succeed(Option.none<Head>()) : Effect.fail(error)
          )
        )
        return new RefMoved({ ...lost, actual: Option.map(now, (found) => found.commit) })
      })

    const remember = (
      branch: string,
      parent: Option.Option<Head>,
      changes: ReadonlyArray<Change>,
      made: Committed
    ) =>
      Effect.forEach(
        changes,
        (change) => {
          const before = Option.isNone(parent) ? Option.none() : trees.locate(parent.value, change.path)
          const after =
            change._tag === "Remove"
              ? Option.none()
              : Option.fromNullable(change._tag === "Link" ? change.oid : made.blobs.get(change.path))
          files.forgetFile(branch, change.path)
          const known = before === undefined ? undefined : Option.map(before, (entry) => entry.oid)
          return branches.wroteFile(branch, change.path, known, after)
        },
        { discard: true }
      ).pipe(
        Effect.zipRight(
          branches.wrote(
            branch,
            Option.map(parent, (at) => at.commit),
            { commit: made.commit, tree: Option.some(made.tree) }
          )
        )
      )

    const commit: GitRemoteService["commit"] = (branch, expected, wanted) =>
      writable("commit", branch, ...wanted.changes.map((change) => change.path)).pipe(
        Effect.zipRight(
          Effect.suspend(() => {
            const changes = wanted.changes.map((change) =>
              change._tag === "Put" ? { ...change, content: change.content.slice() } : change
            )
            const place = { operation: "GitRemote.commit" }
            return Effect.tap(commitNow(place, branch, expected, { ...wanted, changes }), (made) => {
              for (const change of changes) {
                const oid = made.blobs.get(change.path)
                if (change._tag === "Put" && oid !== undefined) cache.putBlob(oid, change.content)
              }
              trees.derive(Option.getOrUndefined(expected), changes, made)
              return remember(branch, expected, changes, made)
            })
          })
        ),
        careful(branch),
        Effect.catchTag("RefMoved", (lost) => Effect.flatMap(lookAgain(branch, lost), Effect.fail)),
        Effect.catchTag("ConflictError", () =>
          Effect.flatMap(
            lookAgain(
              branch,
              new RefMoved({
                ref: `refs/heads/${branch}`,
                expected: Option.map(expected, (at) => at.commit),
                actual: Option.none()
              })
            ),
            Effect.fail
          )
        ),
        told("commit")
      )

    const commitNext: GitRemoteService["commitNext"] = (branch, build, wants) =>
      writable("commitNext", branch).pipe(
        Effect.zipRight(
          Effect.gen(function* () {
            const remembered = branches.remembered(branch)
            const optimistic = remembered !== undefined && Option.isSome(remembered)
            let at = optimistic ? remembered : yield* told("head")(headNow(branch, wants))
            if (brings && optimistic && wants !== undefined) {
              const missing = bring.missing(remembered.value, wants)
              if (missing.files.length + missing.trees.length > 0) {
                yield* told("head")(brought({ commit: remembered.value.commit }, missing))
              }
            }
            let built = yield* Effect.either(Effect.locally(build(at), building, true))
            if (optimistic && (built._tag === "Left" || Option.isNone(built.right.commit))) {
              // A refusal is never issued from memory alone.
              const now = yield* branchHead(branch)
              if (Option.getOrUndefined(now)?.commit !== remembered.value.commit) {
                at = now
                built = yield* Effect.either(Effect.locally(build(at), building, true))
              }
            }
            if (built._tag === "Left") return yield* Effect.fail(built.left)
            const { commit: next, result } = built.right
            if (Option.isNone(next)) return { committed: Option.none(), result }
            const made = yield* Effect.either(commit(branch, at, next.value))
            if (made._tag === "Right") return { committed: Option.some(made.right), result }
            const guessed = optimistic && at === remembered
            if (made.left._tag !== "RefMoved" || !guessed) return yield* Effect.fail(made.left)
            // What was remembered was old: no race is lost yet.
            const now = yield* branchHead(branch)
            if (Option.getOrUndefined(now)?.commit === remembered.value.commit) {
              return yield* Effect.fail(made.left)
            }
            const again = yield* Effect.locally(build(now), building, true)
            if (Option.isNone(again.commit)) return { committed: Option.none(), result: again.result }
            const second = yield* commit(branch, now, again.commit.value)
            return { committed: Option.some(second), result: again.result }
          })
        ),
        turn(branch),
        operation("commitNext", settings.deadline)
      )

    const branchHead = (branch: string) => Effect.map(branches.head(branch), learned).pipe(told("head"))

    const single = (name: string, write: FileWrite): ReturnType<SingleFile["put"]> =>
      writable(name, write.branch, write.path).pipe(
        Effect.zipRight(writeFile(write)),
        careful(write.branch),
        Effect.tap((made) =>
          Effect.gen(function* () {
            const before = branches.remembered(write.branch)
            const parent = before !== undefined && Option.isSome(before) ? before.value : undefined
            if (Option.isSome(write.content) && Option.isSome(made.blob)) {
              cache.putBlob(made.blob.value, write.content.value)
            }
            files.forgetFile(write.branch, write.path)
            yield* branches.wroteFile(write.branch, write.path, write.expected, made.blob)
            yield* branches.wrote(
              write.branch,
              Option.fromNullable(made.parents?.[0] ?? parent?.commit),
              made
            )
            if (Option.isSome(made.tree)) {
              const change: Change = Option.match(write.content, {
                onNone: () => ({ _tag: "Remove", path: write.path }),
                onSome: (content) => ({ _tag: "Put", path: write.path, content })
              })
              trees.derive(
                parent !== undefined && parent.commit === made.parents?.[0] ? parent : undefined,
                [change],
                { commit: made.commit, tree: made.tree.value }
              )
            }
          })
        ),
        turn(write.branch),
        told(name, write.path)
      )

    const moveBranches: NonNullable<GitRemoteService["moveBranches"]> = (moves) =>
      Effect.forEach(moves, ({ branch }) => writable("moveBranches", branch), { discard: true }).pipe(
        Effect.zipRight(moveTogether({ operation: "GitRemote.moveBranches" }, moves)),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (exit._tag === "Failure") for (const { branch } of moves) branches.forget(branch)
          })
        ),
        Effect.zipRight(
          Effect.forEach(
            moves,
            ({ branch, from, to }) =>
              branches.wrote(
                branch,
                from,
                Option.getOrUndefined(Option.map(to, (commit) => ({ commit, tree: trees.rootAt(commit) })))
              ),
            { discard: true }
          )
        ),
        told("moveBranches")
      )

    const probe = (branch: string): Effect.Effect<Probe, CallFailure> =>
      client.call(Api.getRepository, { path: {} }).pipe(
        Effect.flatMap((reply) => {
          const found = Option.getOrUndefined(reply.value)
          const known = {
            defaultBranch: Option.fromNullable(found?.default_branch),
            write: settings.readOnly ? Option.some(false) : Option.fromNullable(found?.permissions?.push)
          }
          return refs.read(branch).pipe(
            Effect.map((at): Probe => ({ ...known, repository: "present", branch: Option.isSome(at) })),
            Effect.catchIf(isKind("EmptyRepository"), () =>
              Effect.succeed<Probe>({ ...known, repository: "empty", branch: false })
            )
          )
        }),
        Effect.catchIf(isKind("Missing"), () =>
          Effect.succeed<Probe>({
            repository: "absent",
            branch: false,
            defaultBranch: Option.none(),
            write: Option.none(),
            hint: client.authenticated
              ? "there is no such repository, or the token has no rights on it: a private one looks absent then"
              : "there is no such repository, or it is private: a token is needed then"
          })
        )
      )

    return GitRemote.of({
      name: `${settings.address.api}/${settings.address.owner}/${settings.address.repo}`,
      probe: (branch) => told("probe")(probe(branch)),
      resolve: (ref, wants) => told("resolve")(resolve(ref, wants)),
      head: (branch, wants) => told("head")(head(branch, wants)),
      brings,
      tree: (at, path, treeOptions) =>
        trees
          .list(at, path, treeOptions?.recursive === true)
          .pipe(
            Effect.map(Option.map((listing) => toTree(listing, treeOptions?.recursive === true))),
            told("tree", path)
          ),
      treeAtBranch: (branch, path, treeOptions) =>
        Effect.gen(function* () {
          const recursive = treeOptions?.recursive === true
          const lately = yield* branches.writtenLately(branch)
          // After a write of ours a listing by name may be old; it is not when it is the one that we expect.
          const own = lately ? branches.remembered(branch) : undefined
          const expected =
            own !== undefined && Option.isSome(own) ? trees.directory(own.value.tree, path) : undefined
          if (!settings.readOnly && (!lately || typeof expected === "string")) {
            const tree = yield* trees.atBranch(branch, path, recursive)
            if (!lately || Option.getOrUndefined(tree)?.oid === expected) {
              return Option.map(tree, (found) => ({ tree: found, head: Option.none<Head>() }))
            }
          }
          const at = yield* head(branch)
          const listing = Option.isNone(at) ? Option.none() : yield* trees.list(at.value, path, recursive)
          return Option.map(listing, (found) => ({ tree: toTree(found, recursive), head: at }))
        }).pipe(told("treeAtBranch", path)),
      treeAfter: (at, path, changes) => told("treeAfter", path)(trees.after(at, path, changes)),
      file: (at, path) => told("file", path)(files.file(at, path)),
      fileAtBranch: (branch, path, readOptions) =>
        told("fileAtBranch", path)(files.atBranch(branch, path, readOptions ?? {})),
      blobs: (at, wanted, blobOptions) =>
        files.many(at, wanted, blobOptions?.concurrency ?? settings.concurrency).pipe(
          Stream.catchAll((error) => Stream.fromEffect(translate({ operation: "GitRemote.blobs" })(error))),
          Stream.withSpan("GitHub.blobs", { attributes: { files: wanted.length } })
        ),
      commit,
      commitNext,
      singleFile: Option.some({
        maxBytes: settings.contentsMaxBytes,
        put: (branch, path, content, expected, text) =>
          Effect.suspend(() =>
            single("singleFile.put", {
              operation: "GitRemote.singleFile.put",
              branch,
              path,
              content: Option.some(content.slice()),
              expected,
              text
            })
          ),
        delete: (branch, path, expected, text) =>
          single("singleFile.delete", {
            operation: "GitRemote.singleFile.delete",
            branch,
            path,
            content: Option.none(),
            expected: Option.some(expected),
            text
          })
      }),
      log: (at, path, logOptions) =>
        log(
          typeof at === "string" ? at : at.commit,
          path,
          logOptions?.limit ?? Number.POSITIVE_INFINITY
        ).pipe(
          Stream.catchAll((error) =>
            Stream.fromEffect(translate({ operation: "GitRemote.log", path })(error))
          )
        ),
      commitInfo: (oid) =>
        branches.commit(oid).pipe(
          Effect.map(
            Option.map(
              (found): CommitInfo => ({
                commit: found.sha,
                tree: found.tree.sha,
                parents: found.parents.map((parent) => parent.sha),
                message: found.message.trimEnd(),
                author: found.author,
                committer: found.committer,
                url: found.html_url
              })
            )
          ),
          told("commitInfo")
        ),
      diff: (before, after, diffOptions) =>
        told("diff", diffOptions?.under)(diff(before, after, diffOptions?.under ?? "")),
      isAncestor: (ancestor, descendant) => told("isAncestor")(refs.isAncestor(ancestor, descendant)),
      createBranch: (branch, at) =>
        writable("createBranch", branch).pipe(
          Effect.zipRight(refs.create({ operation: "GitRemote.createBranch" }, branch, at)),
          careful(branch),
          Effect.zipRight(branches.wrote(branch, Option.none(), { commit: at, tree: trees.rootAt(at) })),
          told("createBranch")
        ),
      deleteBranch: (branch) =>
        writable("deleteBranch", branch).pipe(
          Effect.zipRight(refs.remove(branch)),
          Effect.zipRight(branches.wrote(branch, Option.none(), undefined)),
          told("deleteBranch")
        ),
      listBranches: (prefix) =>
        client.call(Api.listMatchingRefs, { path: { ref: `heads/${prefix}` } }).pipe(
          Effect.map((reply) =>
            Option.getOrElse(reply.value, () => [])
              .filter((ref) => ref.ref.startsWith(`refs/heads/${prefix}`))
              .map((ref) => ({ name: ref.ref.slice("refs/heads/".length), commit: ref.object.sha }))
          ),
          Effect.catchIf(isKind("Missing", "EmptyRepository"), () => Effect.succeed([])),
          told("listBranches")
        ),
      advance: (branch, from, to) =>
        writable("advance", branch).pipe(
          Effect.zipRight(refs.move({ operation: "GitRemote.advance" }, branch, from, to)),
          careful(branch),
          Effect.zipRight(branches.wrote(branch, Option.some(from), { commit: to, tree: trees.rootAt(to) })),
          told("advance")
        ),
      ...(settings.commitVia === "graphql" && !settings.readOnly ? { moveBranches } : {}),
      budget: client.call(Api.getRateLimit, { path: {} }).pipe(
        Effect.map((reply) => {
          const { core, graphql } = Option.getOrThrow(reply.value).resources
          return [
            ...(core === undefined ? [] : [toBudget("core", core)]),
            ...(graphql === undefined ? [] : [toBudget("graphql", graphql)])
          ]
        }),
        Effect.catchIf(isKind("Missing"), () => Effect.succeed([])),
        told("budget")
      ),
      estimate: estimateWith(settings),
      invalidate: Effect.sync(() => {
        branches.clear()
        trees.forget()
        files.forget()
        pins.clear()
      })
    })
  })

/** The remote over the `HttpClient` of the environment: `fetch`, undici, a proxy or a recorder. */
export const layer = (
  options: GitHubOptions
): Layer.Layer<GitRemote, ValidationError, HttpClient.HttpClient> => Layer.effect(GitRemote, make(options))

/** The remote over the platform's own `fetch`, in Node as in a browser. */
export const layerFetch = (options: GitHubOptions): Layer.Layer<GitRemote, ValidationError> =>
  Layer.provide(layer(options), FetchHttpClient.layer)
