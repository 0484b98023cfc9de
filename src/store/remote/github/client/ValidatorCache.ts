import * as Effect from "effect/Effect"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
import type { CallFailure, Client } from "./Client.js"

/** What was answered last under a key, with the validator that came with it. */
interface ValidatedReply<A> {
  readonly etag: string
  readonly generation: number
  readonly value: A
}

/** Validators of one kind of answer. They belong to one authorization header: another one's are worth nothing. */
export interface ValidatorCache<A> {
  readonly get: (key: string) => Effect.Effect<ValidatedReply<A> | undefined, CallFailure>
  /** Whether there is one, of whichever authorization header. */
  readonly has: (key: string) => boolean
  readonly put: (key: string, etag: string | undefined, generation: number, value: A) => void
  readonly delete: (key: string) => void
  readonly clear: () => void
}

/** Keeps the validators that were used last, so long as their values weigh no more than `most` together. */
export const makeValidatorCache = <A>(
  client: Pick<Client, "generation">,
  most: number,
  weigh: (value: A) => number = () => 1
): ValidatorCache<A> => {
  const kept = new LruCache<ValidatedReply<A>>(most, ({ value }) => weigh(value), { largest: most })
  return {
    get: (key) =>
      kept.get(key) === undefined
        ? Effect.succeed(undefined)
        : Effect.map(client.generation, (generation) => {
            const found = kept.get(key)
            return found?.generation === generation ? found : undefined
          }),
    has: (key) => kept.get(key) !== undefined,
    put: (key, etag, generation, value) => {
      if (etag === undefined) kept.delete(key)
      else kept.set(key, { etag, generation, value })
    },
    delete: (key) => kept.delete(key),
    clear: () => kept.clear()
  }
}
