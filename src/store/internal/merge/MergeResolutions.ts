import * as Effect from "effect/Effect"
import { type Unmerged, ValidationError } from "../../../domain/errors/StoreError.js"
import type { MergeOptions, Resolution } from "../../Branches.js"

/**
 * The resolutions of conflicts by `onConflict`. A function may take long, or write to the store itself, so it is called
 * between the attempts, while no other writer is blocked. Its results are kept.
 */
export interface Resolutions {
  /** The resolution of a conflict; undefined, in this attempt, if `onConflict` has not been called for it yet. */
  readonly get: (conflict: Unmerged) => Resolution
  /** Calls `onConflict` for the open conflicts; returns false if there were none. */
  readonly askOpen: Effect.Effect<boolean, ValidationError>
  readonly isOpen: () => boolean
}

export const invalidResolution = (message: string, conflict: Unmerged) =>
  new ValidationError({
    operation: "Store.merge",
    path: conflict.path,
    collection: conflict.collection,
    id: conflict.id,
    message,
    hint: 'return "ours", "theirs", a function of each place, a document, null for none, or undefined to leave it a conflict'
  })

export const makeResolutions = (onConflict: MergeOptions["onConflict"]): Resolutions => {
  const said = new Map<string, Resolution>()
  let open = new Map<string, Unmerged>()
  const constant = onConflict === "ours" || onConflict === "theirs" ? onConflict : undefined
  if (typeof onConflict !== "function") {
    return { get: () => constant, askOpen: Effect.succeed(false), isOpen: () => false }
  }
  const asked = (conflict: Unmerged) =>
    Effect.flatMap(
      Effect.try({
        try: () => onConflict(conflict),
        catch: (cause) =>
          invalidResolution(`onConflict failed for ${conflict.path}: ${String(cause)}`, conflict)
      }),
      (given) => (Effect.isEffect(given) ? given : Effect.succeed(given))
    )
  return {
    get: (conflict) => {
      const key = JSON.stringify(conflict)
      if (!said.has(key)) open.set(key, conflict)
      return said.get(key)
    },
    askOpen: Effect.suspend(() => {
      const asking = open
      open = new Map()
      return Effect.as(
        Effect.forEach(
          asking,
          ([key, conflict]) => Effect.map(asked(conflict), (resolution) => void said.set(key, resolution)),
          { discard: true }
        ),
        asking.size > 0
      )
    }),
    isOpen: () => open.size > 0
  }
}
