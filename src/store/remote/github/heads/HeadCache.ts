import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import type { Head } from "../../GitRemote.js"
import type { LogicalClock } from "./LogicalClock.js"
import { maxReplicaLag, WrittenFiles } from "./WrittenFiles.js"

/** How long replicas usually lag. A replica may show a branch as absent that this process has created for that long. */
const usualReplicaLag = 10_000

/** The commit id of a head; `""` if there is none. */
const idOf = (head: Option.Option<Head>): Oid | "" =>
  Option.match(head, { onNone: () => "", onSome: ({ commit }) => commit })

/**
 * The cached head of one branch, and the writes of this process that replicas of the host may not show yet. Each entry has
 * the logical time at which it was learned: a head learned while a write is under way may be newer than that write.
 */
export class HeadCache {
  readonly files = new WrittenFiles()
  #head: { readonly found: Option.Option<Head>; readonly time: number } | undefined
  #ownCommit: { readonly commit: Oid | undefined; readonly at: number; readonly time: number } | undefined
  /** Former heads (`""`: absent), and until when a reply with one of them counts as stale. */
  readonly #superseded = new Map<string, { readonly until: number; readonly time: number }>()

  constructor(private readonly clock: LogicalClock) {}

  /** The cached head; undefined if nothing reliable is cached. */
  get head(): Option.Option<Head> | undefined {
    return this.#head?.found
  }

  /** The last commit of this process; undefined also if its last write deleted the branch. */
  get lastOwnCommit(): Oid | undefined {
    return this.#ownCommit?.commit
  }

  forgetHead(): void {
    this.#head = undefined
  }

  /** The host has pruned the last commit of this process: nothing that follows from that commit is valid. */
  forgetOwnCommit(): void {
    this.#head = undefined
    this.#ownCommit = undefined
    this.#superseded.clear()
  }

  /** Whether replicas have usually learned of the last commit of this process, so that one that denies it may be right. */
  mayBePruned(now: number): boolean {
    return this.#ownCommit !== undefined && now >= this.#ownCommit.at + usualReplicaLag
  }

  writtenLately(now: number): boolean {
    return this.#ownCommit !== undefined && now < this.#ownCommit.at + maxReplicaLag
  }

  /**
   * Whether a reply is older than the last write of this process; undefined if the cache cannot decide. `parents` are
   * those of the commit in the reply.
   */
  isStale(reply: Option.Option<Head>, parents: ReadonlyArray<Oid>, now: number): boolean | undefined {
    if (this.#ownCommit === undefined) return false
    const key = idOf(reply)
    const until = this.#superseded.get(key)?.until
    if (until !== undefined && now < until && key !== (this.#ownCommit.commit ?? "")) return true
    const { commit } = this.#ownCommit
    if (commit === undefined || key === "" || !this.writtenLately(now)) return false
    const newest = this.#head && idOf(this.#head.found)
    return [key, ...parents].some((oid) => oid === commit || oid === newest) ? false : undefined
  }

  /** Marks a head as older than the last write of this process. */
  supersede(reply: Option.Option<Head>, now: number): void {
    this.#superseded.set(idOf(reply), {
      until: (this.#ownCommit?.at ?? now) + maxReplicaLag,
      time: this.clock.tick()
    })
  }

  /** Caches the head of a reply to a request that was sent at the logical time `asked`. */
  put(found: Option.Option<Head>, asked: number): void {
    const own = this.#ownCommit
    // A write of this process was confirmed after the request was sent.
    if (own !== undefined && own.time > asked && idOf(found) !== (own.commit ?? "")) return
    this.#head = { found, time: this.clock.tick() }
  }

  /**
   * Records a write of this process that began at the logical time `begun` and has moved the branch. Returns false if a
   * later write of this process, based on this one, was confirmed first.
   */
  recordMove(
    from: Option.Option<Oid>,
    to: { readonly commit: Oid; readonly tree: Option.Option<Oid> } | undefined,
    begun: number,
    now: number
  ): boolean {
    const time = this.clock.tick()
    const supersede = (id: string, until = now + maxReplicaLag) => this.#superseded.set(id, { until, time })
    const key = to?.commit ?? ""
    const before = Option.getOrElse(from, () => "" as const)
    const overtaken = this.#superseded.get(key)
    supersede(before, before === "" ? now + usualReplicaLag : undefined)
    for (const [id, { until }] of this.#superseded) if (until <= now) this.#superseded.delete(id)
    if (overtaken !== undefined && overtaken.time > begun) return false
    const cached = this.#head && idOf(this.#head.found)
    const isNewer = this.#head !== undefined && this.#head.time > begun && cached !== before && cached !== key
    if (cached !== undefined && cached !== "" && !isNewer) supersede(cached)
    if (this.#ownCommit?.commit !== undefined && this.#ownCommit.time <= begun) {
      supersede(this.#ownCommit.commit)
    }
    this.#superseded.delete(key)
    this.#ownCommit = { commit: to?.commit, at: now, time }
    const found =
      to === undefined
        ? Option.none<Head>()
        : Option.getOrUndefined(Option.map(to.tree, (tree) => Option.some({ commit: to.commit, tree })))
    this.#head = isNewer || found === undefined ? undefined : { found, time }
    return true
  }
}
