import * as Effect from "effect/Effect"
import type { Unmerged } from "../../../domain/StoreError.js"
import type { MergeOptions, Resolution, Resolver } from "../../Branches.js"

type OnConflict = MergeOptions["onConflict"]

/** What is said of conflicts, for a merge and for the same merge the other way round. */
export interface TurnedConflicts {
  /** Decides as `onConflict` does, and keeps what it says. */
  readonly asGiven: OnConflict
  /** Decides what was kept, of the same versions: what were their values there are ours here. */
  readonly turned: OnConflict
}

const key = (conflict: Unmerged, isTurned: boolean): string => {
  const { ours, theirs } = "blobs" in conflict ? conflict.blobs : conflict
  const sides = [ours ?? null, theirs ?? null]
  return JSON.stringify([conflict.path, conflict.kind, ...(isTurned ? sides.reverse() : sides)])
}

const opposite = (side: "ours" | "theirs" | undefined) =>
  side === undefined ? undefined : side === "ours" ? "theirs" : "ours"

const turn = (said: Resolution): Resolution =>
  typeof said === "function"
    ? ({ ours, theirs, ...place }) =>
        opposite(
          said({
            ...place,
            ...(theirs === undefined ? {} : { ours: theirs }),
            ...(ours === undefined ? {} : { theirs: ours })
          })
        )
    : said === "ours" || said === "theirs"
      ? opposite(said)
      : said

export const makeTurnedConflicts = (onConflict: OnConflict): TurnedConflicts => {
  if (onConflict === "ours" || onConflict === "theirs")
    return { asGiven: onConflict, turned: opposite(onConflict) }
  if (typeof onConflict !== "function") return { asGiven: onConflict, turned: onConflict }
  const said = new Map<string, Resolution>()
  const keep = (conflict: Unmerged) => (resolution: Resolution) => {
    said.set(key(conflict, false), resolution)
  }
  const asGiven: Resolver = (conflict) => {
    const given = onConflict(conflict)
    if (Effect.isEffect(given)) return Effect.tap(given, (found) => Effect.sync(() => keep(conflict)(found)))
    keep(conflict)(given)
    return given
  }
  return { asGiven, turned: (conflict) => turn(said.get(key(conflict, true))) }
}
