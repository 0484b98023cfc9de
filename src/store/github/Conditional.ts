import * as Effect from "effect/Effect"
import type { CallFailure, Client } from "./Client.js"

/** What was answered last under a key, with the validator that came with it. */
interface Validated<A> {
  readonly etag: string
  readonly generation: number
  readonly value: A
}

/** Validators of one kind of answer. They belong to one authorization header: another one's are worth nothing. */
export interface Validators<A> {
  readonly find: (key: string) => Effect.Effect<Validated<A> | undefined, CallFailure>
  readonly keep: (key: string, etag: string | undefined, generation: number, value: A) => void
  readonly drop: (key: string) => void
  readonly clear: () => void
}

/** Keeps the validators of the `most` last used keys. */
export const makeValidators = <A>(client: Pick<Client, "generation">, most: number): Validators<A> => {
  const kept = new Map<string, Validated<A>>()
  return {
    find: (key) =>
      kept.has(key)
        ? Effect.map(client.generation, (generation) => {
            const found = kept.get(key)
            return found?.generation === generation ? found : undefined
          })
        : Effect.succeed(undefined),
    keep: (key, etag, generation, value) => {
      kept.delete(key)
      if (etag === undefined) return
      kept.set(key, { etag, generation, value })
      for (const oldest of kept.keys()) {
        if (kept.size <= most) break
        kept.delete(oldest)
      }
    },
    drop: (key) => void kept.delete(key),
    clear: () => kept.clear()
  }
}
