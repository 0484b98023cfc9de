import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
import * as Monotonic from "../../../../domain/time/MonotonicClock.js"
import type { Head } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { ApiFailure, isKind, isMissing, isUnrelatedHistory } from "../client/ApiFailure.js"
import type { CallFailure, Client, Reply } from "../client/Client.js"
import { retryStaleReply } from "../client/Retry.js"
import { makeValidatorCache } from "../client/ValidatorCache.js"
import { HeadCache, LogicalClock } from "./HeadCache.js"
import { isMissingCommit, type RefReads } from "./RefReads.js"

/** Branches that are remembered, beside those written lately. */
const mostBranches = 256

/** Heads of branches: asked of the host, but never older than what this process wrote. */
export interface BranchHeads {
  /** Where the branch is now. */
  readonly head: (branch: string, ask?: Ask) => Effect.Effect<Option.Option<Head>, CallFailure>
  /** Where the host shows it, which may be older than what this process wrote. */
  readonly headShownByHost: (branch: string) => Effect.Effect<Option.Option<Head>, CallFailure>
  /** What is remembered: good enough to build a commit on, since the commit names it as its parent. */
  readonly cachedHead: (branch: string) => Option.Option<Head> | undefined
  /** The last commit of ours on the branch. */
  readonly lastOwnCommit: (branch: string) => Oid | undefined
  readonly learn: (commit: Api.Commit) => void
  readonly commit: (oid: Oid) => Effect.Effect<Option.Option<GitCommit>, CallFailure>
  /** A commit that was seen to exist: a machine that does not know it is behind the others. */
  readonly existing: (oid: Oid) => Effect.Effect<GitCommit, CallFailure>
  /** The step at which a write begins: what is learned while it is under way may be newer than what it makes. */
  readonly now: Effect.Effect<number>
  /**
   * A write of ours moved the branch; `to` has no tree where the answer did not tell it. False where another write of
   * ours, made on top of it, was answered first.
   */
  readonly recordMove: (
    branch: string,
    from: Option.Option<Oid>,
    to: { readonly commit: Oid; readonly tree: Option.Option<Oid> } | undefined,
    begun: number
  ) => Effect.Effect<boolean>
  /** A write of ours changed a file; `before` undefined: not known. */
  readonly recordFileWrite: (
    branch: string,
    path: string,
    before: Option.Option<Oid> | undefined,
    after: Option.Option<Oid>,
    begun: number
  ) => Effect.Effect<void>
  /** Whether an answer may be older than what we wrote: it is another one, and the head was not seen to have it. */
  readonly mayBeStale: (branch: string, path: string, answer: Option.Option<Oid>) => Effect.Effect<boolean>
  /** The head has this version of a file, as was found by what was asked at a step. */
  readonly confirmFile: (
    branch: string,
    path: string,
    found: Option.Option<Oid>,
    asked: number
  ) => Effect.Effect<void>
  /** Whether a write of ours replaced this version of a file lately: a machine that answers it is behind. */
  readonly wasReplaced: (branch: string, path: string, answer: Option.Option<Oid>) => Effect.Effect<boolean>
  /** What our own last write made of a file, while a machine may be behind it. */
  readonly lastWrittenBlob: (branch: string, path: string) => Effect.Effect<Option.Option<Oid> | undefined>
  /** Whether we wrote to the branch so lately that a listing by its name may be old. */
  readonly writtenLately: (branch: string) => Effect.Effect<boolean>
  readonly forget: (branch: string) => void
  /** What is remembered of a branch is no longer to be trusted once a write has not clearly succeeded. */
  readonly forgetOnFailure: (
    branch: string
  ) => <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly clear: () => void
}

/** Where a branch is, and what its commit stands on. */
export interface Tip extends Head {
  readonly parents: ReadonlyArray<Oid>
}

/** Another way to ask the host where a branch is. */
type Ask = Effect.Effect<Option.Option<Tip>, CallFailure>

type GitCommit = typeof Api.getGitCommit.reply.Type

export const makeBranchHeads = (client: Client, refs: Pick<RefReads, "isAncestorOrFail">): BranchHeads => {
  const memories = new Map<string, HeadCache>()
  const steps = new LogicalClock()
  const validators = makeValidatorCache<Tip>(client, 256)

  const memoryOf = (branch: string, now: number): HeadCache => {
    const memory = memories.get(branch) ?? new HeadCache(steps)
    memories.delete(branch)
    memories.set(branch, memory)
    for (const [oldest, other] of memories) {
      // What replicas may still deny is kept, however many branches there are.
      if (memories.size <= mostBranches || other.writtenLately(now)) break
      memories.delete(oldest)
    }
    return memory
  }

  /** A branch that is put where we brought another one has the files that we wrote there. */
  const noteFilesOf = (commit: Oid, memory: HeadCache, begun: number, now: number) => {
    for (const other of memories.values()) {
      if (other === memory || other.lastOwnCommit !== commit) continue
      for (const [path, file] of other.files.lately(now)) memory.files.note(path, file, begun, now)
    }
  }

  const commits = new LruCache<GitCommit>(512)

  const keep = (commit: GitCommit) => void commits.set(commit.sha, commit)

  /** A commit never changes: each is read once. */
  const commit = (oid: Oid): Effect.Effect<Option.Option<GitCommit>, CallFailure> =>
    Effect.suspend(() => {
      const known = commits.peek(oid)
      if (known !== undefined) return Effect.succeed(Option.some(known))
      return client.call(Api.getGitCommit, { path: { commit_sha: oid } }).pipe(
        Effect.map((reply) => {
          if (Option.isSome(reply.value)) keep(reply.value.value)
          return reply.value
        }),
        Effect.catchIf(isMissing, () => Effect.succeed(Option.none()))
      )
    })

  const existing: BranchHeads["existing"] = (oid) =>
    retryStaleReply(
      Effect.flatMap(
        commit(oid),
        Option.match({
          onNone: () =>
            Effect.fail(
              new ApiFailure({
                kind: "Missing",
                endpoint: Api.getGitCommit.id,
                message: `No commit found: ${oid}`
              })
            ),
          onSome: Effect.succeed
        })
      ),
      isMissing
    )

  const learn: BranchHeads["learn"] = ({
    commit: { author, committer, message, tree },
    html_url,
    parents,
    sha
  }) => {
    const given = Schema.decodeUnknownOption(Api.getGitCommit.reply)({
      sha,
      tree,
      parents,
      message,
      author,
      committer,
      html_url
    })
    if (Option.isSome(given)) keep(given.value)
  }

  /** Where a host does not describe the commit of a branch with the branch, ref and commit are asked for. */
  let viaRef = false

  type Told = Option.Option<{ readonly reply: Reply<unknown>; readonly tip: Api.Commit | Oid | undefined }>

  const askBranch = (branch: string, etag?: string): Effect.Effect<Told, CallFailure> =>
    client.call(Api.getBranch, { path: { branch }, etag }).pipe(
      Effect.map((reply) => {
        const tip = Option.getOrUndefined(reply.value)?.commit
        return Option.some({ reply, tip: Schema.is(Api.Commit)(tip) ? tip : undefined })
      }),
      Effect.catchIf(isMissing, () => Effect.succeedNone)
    )

  const askRef = (branch: string, etag?: string): Effect.Effect<Told, CallFailure> =>
    client.call(Api.getRef, { path: { ref: `heads/${branch}` }, etag }).pipe(
      Effect.map((reply) => Option.some({ reply, tip: Option.getOrUndefined(reply.value)?.object.sha })),
      Effect.catchIf(isKind("Missing", "RefMissing", "EmptyRepository"), () => Effect.succeedNone)
    )

  const ask = (branch: string): Ask =>
    Effect.gen(function* () {
      const known = yield* validators.get(branch)
      const told = yield* (viaRef ? askRef : askBranch)(branch, known?.etag)
      if (Option.isNone(told)) return Option.none()
      const { reply, tip } = told.value
      if (Option.isNone(reply.value)) return Option.fromNullable(known?.value)
      if (tip === undefined) {
        viaRef = true
        return yield* ask(branch)
      }
      if (typeof tip !== "string") learn(tip)
      const { parents, sha, tree } =
        typeof tip === "string" ? yield* existing(tip) : { ...tip, ...tip.commit }
      const head = { commit: sha, tree: tree.sha, parents: parents.map((parent) => parent.sha) }
      validators.put(branch, reply.etag, reply.generation, head)
      return Option.some(head)
    })

  const ownHead = (own: Oid | undefined): Effect.Effect<Option.Option<Head>, CallFailure> =>
    own === undefined
      ? Effect.succeed(Option.none())
      : Effect.map(existing(own), (found) => Option.some({ commit: own, tree: found.tree.sha }))

  /** Of two commits that were seen, a machine that denies one is behind the others. */
  const isBelow: RefReads["isAncestorOrFail"] = (ancestor, descendant) =>
    retryStaleReply(refs.isAncestorOrFail(ancestor, descendant), isMissingCommit).pipe(
      Effect.catchIf(isUnrelatedHistory, () => Effect.succeed(false))
    )

  const head: BranchHeads["head"] = (branch, other) =>
    Effect.gen(function* () {
      const asked = steps.now
      const tip = yield* other ?? ask(branch)
      const answered = Option.map(tip, ({ commit, tree }): Head => ({ commit, tree }))
      const parents = Option.match(tip, { onNone: () => [], onSome: (known) => known.parents })
      const now = yield* Monotonic.millis
      const memory = memoryOf(branch, now)
      const { lastOwnCommit: own } = memory
      let stale = memory.isStale(answered, parents, now)
      if (stale === undefined && own !== undefined && Option.isSome(answered)) {
        stale = yield* isBelow(answered.value.commit, own)
        if (stale) memory.supersede(answered, now)
      }
      if (stale !== true) {
        memory.put(answered, asked)
        return answered
      }
      validators.delete(branch)
      if (memory.head !== undefined) return memory.head
      const asks = steps.now
      const found = yield* ownHead(memory.lastOwnCommit)
      memory.put(found, asks)
      return found
    })

  const forget = (branch: string) => {
    memories.get(branch)?.forgetHead()
    validators.delete(branch)
  }

  return {
    head,
    headShownByHost: (branch) =>
      Effect.map(
        ask(branch),
        Option.map(({ commit, tree }) => ({ commit, tree }))
      ),
    commit,
    existing,
    learn,
    lastOwnCommit: (branch) => memories.get(branch)?.lastOwnCommit,
    cachedHead: (branch) => memories.get(branch)?.head,
    now: Effect.sync(() => steps.now),
    recordMove: (branch, from, to, begun) =>
      Effect.map(Monotonic.millis, (now) => {
        const memory = memoryOf(branch, now)
        validators.delete(branch)
        const isLast = memory.recordMove(from, to, begun, now)
        if (isLast && to !== undefined) noteFilesOf(to.commit, memory, begun, now)
        return isLast
      }),
    recordFileWrite: (branch, path, before, after, begun) =>
      Effect.map(Monotonic.millis, (now) => {
        const replaced = before === undefined ? [] : [Option.getOrElse(before, () => "")]
        const superseded = new Map(replaced.map((version) => [version, now] as const))
        const file = {
          after: Option.getOrElse(after, () => "" as const),
          at: now,
          step: steps.tick(),
          superseded,
          newer: new Set<string>()
        }
        memoryOf(branch, now).files.note(path, file, begun, now)
      }),
    mayBeStale: (branch, path, answer) =>
      Effect.map(Monotonic.millis, (now) => {
        const files = memories.get(branch)?.files
        const file = files?.get(path, now)
        if (file === undefined) return files?.hasForgotten(now) === true
        const key = Option.getOrElse(answer, () => "")
        return key !== file.after && !file.newer.has(key)
      }),
    confirmFile: (branch, path, found, asked) =>
      Effect.map(Monotonic.millis, (now) => {
        const file = memories.get(branch)?.files.get(path, now)
        if (file !== undefined && file.step <= asked) file.newer.add(Option.getOrElse(found, () => ""))
      }),
    wasReplaced: (branch, path, answer) =>
      Effect.map(
        Monotonic.millis,
        (now) =>
          memories
            .get(branch)
            ?.files.get(path, now)
            ?.superseded.has(Option.getOrElse(answer, () => "")) === true
      ),
    lastWrittenBlob: (branch, path) =>
      Effect.map(Monotonic.millis, (now) => {
        const file = memories.get(branch)?.files.get(path, now)
        if (file === undefined) return undefined
        return file.after === "" ? Option.none() : Option.some(file.after)
      }),
    writtenLately: (branch) =>
      Effect.map(Monotonic.millis, (now) => memories.get(branch)?.writtenLately(now) === true),
    forget,
    forgetOnFailure: (branch) => (self) =>
      Effect.onExit(self, (exit) =>
        exit._tag === "Success" ? Effect.void : Effect.sync(() => forget(branch))
      ),
    clear: () => {
      memories.clear()
      validators.clear()
    }
  }
}
