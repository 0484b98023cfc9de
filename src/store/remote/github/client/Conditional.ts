import * as Effect from "effect/Effect"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
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
  /** Whether there is one, of whichever authorization header. */
  readonly has: (key: string) => boolean
  readonly keep: (key: string, etag: string | undefined, generation: number, value: A) => void
  readonly drop: (key: string) => void
  readonly clear: () => void
}

/** Keeps the validators that were used last, so long as their values weigh no more than `most` together. */
export const makeValidators = <A>(
  client: Pick<Client, "generation">,
  most: number,
  weigh: (value: A) => number = () => 1
): Validators<A> => {
  const kept = new LruCache<Validated<A>>(most, ({ value }) => weigh(value), { largest: most })
  return {
    find: (key) =>
      kept.get(key) === undefined
        ? Effect.succeed(undefined)
        : Effect.map(client.generation, (generation) => {
            const found = kept.get(key)
            return found?.generation === generation ? found : undefined
          }),
    has: (key) => kept.get(key) !== undefined,
    keep: (key, etag, generation, value) => {
      if (etag === undefined) kept.delete(key)
      else kept.set(key, { etag, generation, value })
    },
    drop: (key) => kept.delete(key),
    clear: () => kept.clear()
  }
}
