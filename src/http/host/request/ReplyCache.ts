import { type KeyedMutex, makeKeyedMutex } from "../../../domain/concurrency/KeyedMutex.js"
import { LruCache } from "../../../domain/runtime/LruCache.js"
import type { Reply } from "../reply/Reply.js"

interface CachedReply {
  readonly key: string
  readonly etag: string
  readonly reply: Reply
}

/** A cache of replies that object ids determine. An entry is valid only for the same key. */
export interface ReplyCache {
  readonly get: (request: string, key: string) => CachedReply | undefined
  readonly set: (request: string, key: string, etag: string, reply: Reply) => void
  /** Held by the `ETag` of a reply while the reply is made, so that concurrent requests make it once. */
  readonly making: KeyedMutex
}

/** The maximum share of one reply, so that a few large replies do not evict all others. */
const maxShare = 1 / 8

/** Text of at least this length is cached as the bytes that are sent. */
const minBufferedLength = 32_768

/** Creates an LRU cache of at most about `bytes`. Streams are not cached. */
export const make = (bytes: number): ReplyCache => {
  const replies = new LruCache<CachedReply>(bytes, undefined, { largest: bytes * maxShare })
  return {
    making: makeKeyedMutex(),
    get: (request, key) => {
      const found = replies.get(request)
      return found?.key === key ? found : undefined
    },
    set: (request, key, etag, reply) => {
      const { body: made } = reply
      const body = typeof made === "string" && made.length > minBufferedLength ? Buffer.from(made) : made
      if (typeof body !== "string" && !(body instanceof Uint8Array)) return
      const weight =
        2 * (request.length + key.length) + 1000 + body.length * (typeof body === "string" ? 2 : 1)
      replies.set(request, { key, etag, reply: { ...reply, body } }, weight)
    }
  }
}
