import * as Effect from "effect/Effect"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
import type { CallFailure, Client } from "./Client.js"

/** The last reply for a key, with its validator. */
interface ValidatedReply<A> {
  readonly etag: string
  readonly generation: number
  readonly value: A
}

/** Replies with their entity tags. An entity tag is valid only for the authorization header that it was sent for. */
export interface ValidatorCache<A> {
  readonly get: (key: string) => Effect.Effect<ValidatedReply<A> | undefined, CallFailure>
  /** Whether there is one, for any authorization header. */
  readonly has: (key: string) => boolean
  readonly put: (key: string, etag: string | undefined, generation: number, value: A) => void
  readonly delete: (key: string) => void
  readonly clear: () => void
}

/** Caches the validators that were used last, up to a total weight of `most`. */
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
