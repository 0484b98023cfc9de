import type * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { AmbiguousWriteError, ValidationError } from "../../../../domain/errors/StoreError.js"
import { isOid, type Oid } from "../../../../domain/identifiers/Oid.js"
import type {
  BranchMove,
  Change,
  EditResult,
  GitRemoteService,
  Head,
  NewCommit,
  RemoteFailure
} from "../../GitRemote.js"
import { type CommitReads, snapshotLater } from "../../RemoteSnapshot.js"
import * as GitHost from "../../wire/GitHost.js"
import type { Client } from "../client/Client.js"
import { withOperation } from "../client/OperationContext.js"
import { makeWriteCheck, type RemoteOperation } from "../client/RemoteOperation.js"
import { type BranchCachesOptions, makeBranchCaches } from "../reads/BranchCaches.js"
import { ApiLag } from "./ApiLag.js"
import { gitAddress, makePushCredentials } from "./PushCredentials.js"

interface Parts extends BranchCachesOptions {
  /** The remote over the API. */
  readonly api: GitRemoteService
  readonly client: Client
  readonly http: HttpClient.HttpClient
  readonly asOperation: RemoteOperation
}

/** The number of blobs of one read from which on they are fetched by Git's protocol. */
const bulk = 16

/** The same repository as a remote over Git's protocol. */
const byWire = ({ client, http }: Parts): Effect.Effect<GitRemoteService, ValidationError, Scope.Scope> => {
  const { address, cacheDirectory, maxRetries, pushInterval, timeout } = client.settings
  return GitHost.scoped({
    url: gitAddress(address),
    ...makePushCredentials(client, http),
    timeout,
    maxRetries,
    pushInterval,
    cache: cacheDirectory === undefined ? undefined : { directory: cacheDirectory }
  }).pipe(
    Effect.mapError(({ hint, message }) => {
      const path = cacheDirectory
      return new ValidationError({
        operation: "GitHub.layer",
        path,
        message: `commitVia: "push" cannot be used here: ${message}`,
        hint
      })
    })
  )
}

/**
 * A remote that reads by the API and writes by pushes. The clone of `GitHost` builds and pushes commits. The head of a push
 * counts as the head of the branch until the API shows it, or until Git's protocol shows another one. Objects that the API
 * may not have yet are read from the clone, which fetches missing ones.
 */
export const makePushRemote = (parts: Parts): Effect.Effect<GitRemoteService, ValidationError, Scope.Scope> =>
  Effect.gen(function* () {
    const { api, branchHeads, client, snapshots, asOperation } = parts
    const { settings } = client
    const wire = yield* byWire(parts)
    const branchCaches = makeBranchCaches(parts)
    const checkWrite = makeWriteCheck(false)
    const unshown = new ApiLag()
    /** Temporary branches of this process, which the server may never have. */
    const temporary = new Set<string>()

    /**
     * The head of a branch by Git's protocol. If a write of this process ended meanwhile, the found head may be older: it is
     * right for a read that began before, and is not recorded.
     */
    const seen = (branch: string): Effect.Effect<Option.Option<Head>, RemoteFailure> =>
      Effect.suspend(() => {
        const before = unshown.version(branch)
        return Effect.tap(wire.head(branch), (found) =>
          Effect.sync(() => {
            if (unshown.version(branch) === before) unshown.put(branch, found)
            else if (Option.isSome(found)) unshown.addObjects(branch, found.value)
          })
        )
      })

    const head = (branch: string): Effect.Effect<Option.Option<Head>, RemoteFailure> =>
      Effect.suspend(() => {
        const place = unshown.place(branch)
        if (temporary.has(branch)) return seen(branch)
        if (place === undefined) return api.head(branch)
        if (place === "unknown") return seen(branch)
        const commitOf = (at: Option.Option<Head>) => Option.getOrUndefined(at)?.commit
        return Effect.flatMap(branchHeads.headShownByHost(branch).pipe(asOperation("head")), (shown) => {
          if (commitOf(shown) === commitOf(place)) {
            unshown.confirm(branch, place)
            return Effect.succeed(place)
          }
          // The API lags, or another client has moved the branch.
          return Effect.tap(seen(branch), (now) =>
            Effect.sync(() => {
              if (commitOf(shown) === commitOf(now)) unshown.confirm(branch, now)
            })
          )
        })
      }).pipe(asOperation("head"))

    const holder = (at: Head | Oid) => (unshown.isInClone(at) ? wire : api)
    const teller = (...all: ReadonlyArray<Head | Oid>) =>
      all.some((at) => unshown.mayBeHidden(at)) ? wire : api

    /** The branch of a name whose head the API does not show yet. */
    const unshownBranch = (name: string): string | undefined =>
      [name, /^(?:refs\/)?heads\/(.+)$/.exec(name)?.[1] ?? name].find(
        (branch) => unshown.place(branch) !== undefined
      )

    /** Whether the last read by Git's protocol succeeded. If it failed, files are read by the API. */
    let isAnswering = true

    /** Whether one fetch replaces many requests of the API. */
    const isBulk = (files: Parameters<CommitReads["blobs"]>[1]) =>
      files.length >= bulk && files.every(({ oid }) => oid !== undefined)

    const blobs: CommitReads["blobs"] = (at, files, how) => {
      if (unshown.isInClone(at)) return wire.blobs(at, files, how)
      if (!isAnswering || !isBulk(files)) return api.blobs(at, files, how)
      let read = 0
      return wire.blobs(at, files, how).pipe(
        Stream.mapChunks((chunk) => {
          read += chunk.length
          return chunk
        }),
        Stream.catchAll(() => {
          isAnswering = false
          return api.blobs(at, files.slice(read), how)
        })
      )
    }

    const reads: CommitReads = {
      resolve: (ref) => {
        if (isOid(ref)) return teller(ref).resolve(ref)
        const branch = unshownBranch(ref)
        return branch === undefined ? api.resolve(ref) : head(branch)
      },
      tree: (at, ...how) => holder(at).tree(at, ...how),
      file: (at, ...how) => holder(at).file(at, ...how),
      blobs: (at, files, how) => Stream.suspend(() => blobs(at, files, how)),
      prefetch: (at, wants) => Effect.suspend(() => holder(at).prefetch?.(at, wants) ?? Effect.void)
    }

    const treeAfter: GitRemoteService["treeAfter"] = (at, ...how) =>
      Effect.suspend(() => (Option.isSome(at) ? holder(at.value) : api).treeAfter(at, ...how))

    const signed = (commit: NewCommit): NewCommit => ({
      ...commit,
      author: commit.author ?? settings.author,
      committer: commit.committer ?? settings.committer
    })

    /** Discards everything that is cached about a branch. */
    const distrust = (branch: string) => {
      unshown.distrust(branch, undefined)
      snapshots.forgetBranch(branch)
      branchHeads.forget(branch)
    }

    /** A pushed commit in the clone; none if the clone could not store it. */
    const placeOf = (commit: Oid) => Effect.orElseSucceed(wire.resolve(commit), () => Option.none<Head>())

    /** Marks the head of a branch as unknown unless the write succeeds. */
    const doubting =
      (branch: string, at: () => Head | undefined = () => undefined) =>
      <A, E extends { readonly _tag: string }, R>(self: Effect.Effect<A, E, R>) =>
        Effect.onExit(self, (exit) =>
          exit._tag === "Success" ? Effect.void : Effect.sync(() => unshown.distrust(branch, at()))
        )

    const committed = (
      branch: string,
      parent: Option.Option<Head>,
      changes: ReadonlyArray<Change>,
      made: { readonly commit: Oid; readonly blobs: ReadonlyMap<string, Oid> },
      begun: number
    ) =>
      Effect.gen(function* () {
        isAnswering = true
        const at = yield* placeOf(made.commit)
        if (Option.isNone(at)) return distrust(branch)
        const committed = { ...at.value, blobs: made.blobs }
        const isLast = yield* branchCaches.recordCommit(branch, parent, changes, committed, begun)
        if (isLast) unshown.put(branch, at)
        else unshown.addObjects(branch, at.value)
      })

    const commit: GitRemoteService["commit"] = (branch, expected, wanted) =>
      checkWrite("commit", branch, ...wanted.changes.map(({ path }) => path)).pipe(
        Effect.zipRight(
          Effect.flatMap(branchHeads.now, (begun) =>
            Effect.tap(wire.commit(branch, expected, signed(wanted)), (made) =>
              committed(branch, expected, wanted.changes, made, begun)
            )
          )
        ),
        branchCaches.invalidateOnFailure(branch),
        doubting(branch),
        asOperation("commit")
      )

    const commitNext: GitRemoteService["commitNext"] = <A, E>(
      branch: string,
      edit: (
        snapshot: Parameters<Parameters<GitRemoteService["commitNext"]>[1]>[0]
      ) => Effect.Effect<EditResult<A, E>, E>
    ) => {
      let parent: Head | undefined
      let changes: ReadonlyArray<Change> = []
      const write = Effect.flatMap(branchHeads.now, (begun) =>
        Effect.tap(
          wire.commitNext(branch, (snapshot) => {
            parent = snapshot.knownHead()
            if (parent !== undefined) unshown.addObjects(branch, parent)
            return Effect.map(edit(snapshot), (edited): EditResult<A, E> => {
              changes = Option.match(edited.commit, { onNone: () => [], onSome: (next) => next.changes })
              return { commit: Option.map(edited.commit, signed), result: edited.result }
            })
          }),
          (answer) =>
            Option.isSome(answer.committed)
              ? committed(branch, Option.fromNullable(parent), changes, answer.committed.value, begun)
              : Effect.sync(() => unshown.distrust(branch, parent))
        )
      )
      return checkWrite("commitNext", branch).pipe(
        Effect.zipRight(write),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (exit._tag === "Success") return
            const error = Cause.failureOption(exit.cause)
            const isRefused = Option.exists(error, (one) => !(one instanceof AmbiguousWriteError))
            if (isRefused) unshown.distrust(branch, parent)
            else distrust(branch)
          })
        ),
        withOperation("commitNext", settings.deadline)
      )
    }

    /** Moves branches and records their heads. */
    const moving = <E extends { readonly _tag: string }>(
      moves: ReadonlyArray<BranchMove>,
      move: Effect.Effect<void, E>
    ) => {
      const write = Effect.flatMap(branchHeads.now, (begun) =>
        Effect.zipRight(
          move,
          Effect.gen(function* () {
            yield* branchCaches.recordMoves(moves, begun)
            for (const { branch, to } of moves) {
              if (Option.isNone(to)) temporary.delete(branch)
              const at = Option.isNone(to) ? Option.none<Head>() : yield* placeOf(to.value)
              if (Option.isSome(to) && Option.isNone(at)) distrust(branch)
              else unshown.put(branch, at)
            }
          })
        )
      )
      return moves.reduce<Effect.Effect<void, E | RemoteFailure>>(
        (careful, { branch }) => doubting(branch)(branchCaches.invalidateOnFailure(branch)(careful)),
        write
      )
    }

    const { moveBranches } = wire

    return {
      ...api,
      ...reads,
      head,
      snapshot: (branch) =>
        unshown.place(branch) === undefined ? api.snapshot(branch) : snapshotLater(reads, () => head(branch)),
      snapshotAt: (ref) =>
        (isOid(ref) ? unshown.mayBeHidden(ref) : unshownBranch(ref) !== undefined)
          ? snapshotLater(reads, () => reads.resolve(ref))
          : api.snapshotAt(ref),
      treeAfter,
      commit,
      commitNext,
      log: (at, ...how) => Stream.suspend(() => teller(at).log(at, ...how)),
      commitInfo: (oid) => Effect.suspend(() => teller(oid).commitInfo(oid)),
      diff: (before, after, ...how) =>
        Effect.suspend(() => teller(...Option.toArray(before), after).diff(before, after, ...how)),
      isAncestor: (ancestor, descendant) =>
        Effect.suspend(() => teller(ancestor, descendant).isAncestor(ancestor, descendant)),
      mergeBases: (a, b) => Effect.suspend(() => teller(a, b).mergeBases(a, b)),
      listBranches: (prefix) => wire.listBranches(prefix).pipe(asOperation("listBranches")),
      createBranch: (branch, at, how) =>
        checkWrite("createBranch", branch).pipe(
          Effect.zipRight(
            moving([{ branch, from: Option.none(), to: Option.some(at) }], wire.createBranch(branch, at, how))
          ),
          Effect.tap(() =>
            Effect.sync(() => {
              if (how?.temporary === true) temporary.add(branch)
            })
          ),
          asOperation("createBranch")
        ),
      deleteBranch: (branch) =>
        checkWrite("deleteBranch", branch).pipe(
          Effect.zipRight(
            moving([{ branch, from: Option.none(), to: Option.none() }], wire.deleteBranch(branch))
          ),
          asOperation("deleteBranch")
        ),
      advance: (branch, from, to) =>
        checkWrite("advance", branch).pipe(
          Effect.zipRight(
            moving([{ branch, from: Option.some(from), to: Option.some(to) }], wire.advance(branch, from, to))
          ),
          asOperation("advance")
        ),
      ...(moveBranches === undefined
        ? {}
        : {
            moveBranches: (moves) =>
              Effect.forEach(moves, ({ branch }) => checkWrite("moveBranches", branch), {
                discard: true
              }).pipe(Effect.zipRight(moving(moves, moveBranches(moves))), asOperation("moveBranches"))
          })
    } satisfies GitRemoteService
  })
