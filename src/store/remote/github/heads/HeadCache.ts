import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import type { Head } from "../../GitRemote.js"
import { maxReplicaLag, WrittenFiles } from "./WrittenFiles.js"

const absentLag = 10_000

/** Counts what is learned of branches, since replies come in any order. */
export class LogicalClock {
  #last = 0

  get now(): number {
    return this.#last
  }

  tick(): number {
    return ++this.#last
  }
}

/** The id of a head; `""` where there is none. */
const idOf = (head: Option.Option<Head>): Oid | "" =>
  Option.match(head, { onNone: () => "", onSome: ({ commit }) => commit })

/**
 * What this process has learned of a branch and has done to it and to its files, as far as replicas may not know it yet.
 * Each thing has the step at which it was learned: what is learned while a write is under way may be newer than what that
 * makes.
 */
export class HeadCache {
  readonly files = new WrittenFiles()
  #head: { readonly found: Option.Option<Head>; readonly step: number } | undefined
  #own: { readonly commit: Oid | undefined; readonly at: number; readonly step: number } | undefined
  /** Ids (`""`: absent) that the branch was at before, and until when they count as stale. */
  readonly #superseded = new Map<string, { readonly until: number; readonly step: number }>()

  constructor(private readonly steps: LogicalClock) {}

  /** Where the branch was seen last; undefined where that is not to be trusted. */
  get head(): Option.Option<Head> | undefined {
    return this.#head?.found
  }

  /** The last commit of ours; undefined too where our last write deleted the branch. */
  get lastOwnCommit(): Oid | undefined {
    return this.#own?.commit
  }

  forgetHead(): void {
    this.#head = undefined
  }

  writtenLately(now: number): boolean {
    return this.#own !== undefined && now < this.#own.at + maxReplicaLag
  }

  /**
   * Whether an answer is older than what we wrote; undefined where nothing that is known tells. `parents`: those of the
   * answered commit.
   */
  isStale(answer: Option.Option<Head>, parents: ReadonlyArray<Oid>, now: number): boolean | undefined {
    if (this.#own === undefined) return false
    const key = idOf(answer)
    const until = this.#superseded.get(key)?.until
    if (until !== undefined && now < until && key !== (this.#own.commit ?? "")) return true
    const { commit } = this.#own
    if (commit === undefined || key === "" || !this.writtenLately(now)) return false
    const newest = this.#head && idOf(this.#head.found)
    return [key, ...parents].some((oid) => oid === commit || oid === newest) ? false : undefined
  }

  /** An answer has proved to be older than what we wrote. */
  supersede(answer: Option.Option<Head>, now: number): void {
    this.#superseded.set(idOf(answer), {
      until: (this.#own?.at ?? now) + maxReplicaLag,
      step: this.steps.tick()
    })
  }

  /** Learns where the branch is, from the answer to what was asked at a step. */
  put(found: Option.Option<Head>, asked: number): void {
    // It may be older than a write of ours that was answered meanwhile.
    if (this.#own !== undefined && this.#own.step > asked && idOf(found) !== (this.#own.commit ?? "")) return
    this.#head = { found, step: this.steps.tick() }
  }

  /** A write of ours that began after a step has moved the branch. False where one that stands on it was answered first. */
  recordMove(
    from: Option.Option<Oid>,
    to: { readonly commit: Oid; readonly tree: Option.Option<Oid> } | undefined,
    begun: number,
    now: number
  ): boolean {
    const step = this.steps.tick()
    const supersede = (id: string, until = now + maxReplicaLag) => this.#superseded.set(id, { until, step })
    const key = to?.commit ?? ""
    const before = Option.getOrElse(from, () => "" as const)
    const overtaken = this.#superseded.get(key)
    supersede(before, before === "" ? now + absentLag : undefined)
    for (const [id, { until }] of this.#superseded) if (until <= now) this.#superseded.delete(id)
    if (overtaken !== undefined && overtaken.step > begun) return false
    const known = this.#head && idOf(this.#head.found)
    const isNewer = this.#head !== undefined && this.#head.step > begun && known !== before && known !== key
    if (known !== undefined && known !== "" && !isNewer) supersede(known)
    if (this.#own?.commit !== undefined && this.#own.step <= begun) supersede(this.#own.commit)
    this.#superseded.delete(key)
    this.#own = { commit: to?.commit, at: now, step }
    const found =
      to === undefined
        ? Option.none<Head>()
        : Option.getOrUndefined(Option.map(to.tree, (tree) => Option.some({ commit: to.commit, tree })))
    this.#head = isNewer || found === undefined ? undefined : { found, step }
    return true
  }
}
