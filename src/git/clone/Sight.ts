import * as Effect from "effect/Effect"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { LruCache } from "../../domain/runtime/LruCache.js"
import * as Monotonic from "../../domain/time/MonotonicClock.js"
import { branchRef } from "../Names.js"
import type { ServerFailure } from "../protocol/Transport.js"
import type { ListedRef } from "../protocol/UploadPack.js"
import type { Origin } from "./Origin.js"

/** The place of a ref among those that a server lists. */
export const listed = (refs: ReadonlyArray<ListedRef>, name: string): Oid | undefined =>
  refs.find((ref) => ref.name === name)?.oid

/** A head that the server named after a lost race is news for so many milliseconds. */
const lately = 5_000

/** Branches that are remembered: of another one the server is asked again. */
const mostBranches = 4_096

/** Where the branches of a server were when they were last seen, or moved by this process. */
export class Sight {
  /** `undefined` where a branch was absent. */
  private readonly places = new LruCache<{ readonly oid: Oid | undefined }>(mostBranches)
  /** When a race for a branch was lost. */
  private readonly lost = new LruCache<number>(mostBranches)
  private pushes = 0

  constructor(private readonly origin: Origin) {}

  has(branch: string): boolean {
    return this.places.peek(branch) !== undefined
  }

  at(branch: string): Oid | undefined {
    return this.places.get(branch)?.oid
  }

  set(branch: string, at: Oid | undefined): void {
    this.places.set(branch, { oid: at })
  }

  forget(branch: string): void {
    this.places.delete(branch)
  }

  /** A push has lost a race: the server has named where the branch is. */
  lostRace(branch: string, at: Oid | undefined, now: number): void {
    this.places.set(branch, { oid: at })
    this.lost.set(branch, now)
  }

  /** Whether a race was lost lately, for the try that begins now: whoever loses it lost a race again. */
  isNews(branch: string): Effect.Effect<boolean> {
    return Effect.map(Monotonic.millis, (now) => {
      const lostAt = this.lost.get(branch)
      this.lost.delete(branch)
      return lostAt !== undefined && now - lostAt < lately
    })
  }

  /** A push has ended: what was asked for before it may show what it has changed. */
  pushed(): void {
    this.pushes++
  }

  /** Asks for refs, again where a push of this process has ended meanwhile. */
  private since<A>(ask: Effect.Effect<A, ServerFailure>): Effect.Effect<A, ServerFailure> {
    return Effect.suspend(() => {
      const before = this.pushes
      return Effect.flatMap(ask, (answer) =>
        before === this.pushes ? Effect.succeed(answer) : this.since(ask)
      )
    })
  }

  /** Refs by their whole names, never from before a push of this process. */
  look(names: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<ListedRef>, ServerFailure> {
    return Effect.tap(this.since(this.origin.refs(names)), (refs) =>
      Effect.sync(() => {
        for (const name of names) {
          if (name.startsWith(branchRef(""))) this.set(name.slice(branchRef("").length), listed(refs, name))
        }
      })
    )
  }

  /** Where a branch is now. */
  branch(branch: string): Effect.Effect<Oid | undefined, ServerFailure> {
    const name = branchRef(branch)
    return Effect.map(this.look([name]), (refs) => listed(refs, name))
  }

  /** The same before the first write: the server says it with what it says of itself to those that push. */
  branchToWrite(branch: string): Effect.Effect<Oid | undefined, ServerFailure> {
    return Effect.suspend(() => {
      if (this.origin.isIntroduced()) return this.branch(branch)
      const before = this.pushes
      return Effect.flatMap(this.origin.receiver, ({ refs }) => {
        if (before !== this.pushes) return this.branch(branch)
        const at = refs.get(branchRef(branch))
        this.set(branch, at)
        return Effect.succeed(at)
      })
    })
  }
}
