import * as Effect from "effect/Effect"
import { makeGatheredCalls } from "../../domain/concurrency/GatheredCalls.js"
import { makeSharedCalls } from "../../domain/concurrency/SharedCalls.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { LruCache } from "../../domain/runtime/LruCache.js"
import * as Monotonic from "../../domain/time/MonotonicClock.js"
import { branchRef } from "../Names.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { ListedRef } from "../protocol/UploadPack.js"
import type { Origin } from "./Origin.js"

/** The id that a listed ref points to. */
export const oidOf = (refs: ReadonlyArray<ListedRef>, name: string): Oid | undefined =>
  refs.find((ref) => ref.name === name)?.oid

/** The milliseconds for which a lost race counts as recent. */
const recentMillis = 5_000

/** The largest number of branches of one lookup for concurrent callers, and for how long it waits for the end of another one. */
const maxGathered = 64
const maxGatherMillis = 250

/** How often a lookup is repeated because pushes ended meanwhile. */
const maxRepeats = 4

/** The largest number of branches whose heads are cached. */
const maxBranches = 4_096

interface HeadToWrite {
  readonly head: Oid | undefined
  readonly isCurrent: boolean
}

/** Caches the last known heads of a server's branches. */
export class ServerHeads {
  /** `oid` is undefined if the branch did not exist. */
  private readonly heads = new LruCache<{ readonly oid: Oid | undefined }>(maxBranches)
  /** When a push to a branch last lost a race. */
  private readonly lostRaces = new LruCache<number>(maxBranches)
  private pushes = 0
  private readonly firstLookups = makeSharedCalls<Oid | undefined, ServerFailure>()
  private readonly gatheredLookups = makeGatheredCalls({
    run: (names: ReadonlyArray<string>) => this.listRefs(names),
    maxSize: maxGathered,
    maxWaitMillis: maxGatherMillis
  })

  constructor(private readonly origin: Origin) {}

  isKnown(branch: string): boolean {
    return this.heads.peek(branch) !== undefined
  }

  lastKnown(branch: string): Oid | undefined {
    return this.heads.get(branch)?.oid
  }

  record(branch: string, head: Oid | undefined): void {
    this.heads.set(branch, { oid: head })
  }

  forget(branch: string): void {
    this.heads.delete(branch)
  }

  /** Records the head that the server named when it refused a push because the branch had moved. */
  recordLostRace(branch: string, head: Oid | undefined, now: number): void {
    this.record(branch, head)
    this.lostRaces.set(branch, now)
  }

  /**
   * Whether a push to a branch lost a race recently; the record is removed. The server named the head in its refusal, so that
   * a writer that loses again has not used an outdated head.
   */
  takeRecentLostRace(branch: string): Effect.Effect<boolean> {
    return Effect.map(Monotonic.millis, (now) => {
      const lostAt = this.lostRaces.get(branch)
      this.lostRaces.delete(branch)
      return lostAt !== undefined && now - lostAt < recentMillis
    })
  }

  /** Records that a push ended: a lookup that began before may have returned heads from before or after the push. */
  recordPush(): void {
    this.pushes++
  }

  /**
   * Looks up refs by their full names. The lookup is repeated if a push of this process ended meanwhile. Pushes may follow each
   * other without end, so the last result is returned in any case, but not cached.
   */
  listRefs(
    names: ReadonlyArray<string>,
    repeats = maxRepeats
  ): Effect.Effect<ReadonlyArray<ListedRef>, ServerFailure> {
    return Effect.suspend(() => {
      const before = this.pushes
      return Effect.flatMap(this.origin.listRefs(names), (refs) => {
        if (before !== this.pushes) {
          return repeats > 0 ? this.listRefs(names, repeats - 1) : Effect.succeed(refs)
        }
        for (const name of names) {
          if (name.startsWith(branchRef(""))) this.record(name.slice(branchRef("").length), oidOf(refs, name))
        }
        return Effect.succeed(refs)
      })
    })
  }

  /** Looks up the head of a branch. Concurrent callers share lookups, each of which begins after their calls. */
  fetchHead(branch: string): Effect.Effect<Oid | undefined, ServerFailure> {
    const name = branchRef(branch)
    return Effect.map(this.gatheredLookups.call([name]), (refs) => oidOf(refs, name))
  }

  /**
   * Looks up the head of a branch that is to be written. The first write takes it from the advertisement of `receive-pack`,
   * which a push needs anyway.
   */
  fetchHeadToWrite(branch: string): Effect.Effect<Oid | undefined, ServerFailure> {
    return Effect.suspend(() => {
      if (this.origin.hasReceivePack()) return this.fetchHead(branch)
      const before = this.pushes
      return Effect.flatMap(this.origin.receivePack, ({ refs }) => {
        if (before !== this.pushes) return this.fetchHead(branch)
        const head = refs.get(branchRef(branch))
        this.record(branch, head)
        return Effect.succeed(head)
      })
    })
  }

  /**
   * The last known head of a branch that is to be written. If none is known, looks it up; concurrent callers share one lookup.
   * `isCurrent` if the lookup began in this call, so that the head is not older than the call.
   */
  requireHeadToWrite(branch: string): Effect.Effect<HeadToWrite, ServerFailure> {
    return Effect.suspend(() => {
      if (this.isKnown(branch)) return Effect.succeed({ head: this.lastKnown(branch), isCurrent: false })
      let isCurrent = false
      const lookup = Effect.suspend(() => {
        isCurrent = true
        return this.fetchHeadToWrite(branch)
      })
      return Effect.map(this.firstLookups(branch, lookup), (head) => ({ head, isCurrent }))
    })
  }
}
