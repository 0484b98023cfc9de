import { LruCache } from "../../../domain/runtime/LruCache.js"
import type { Reply } from "../reply/Reply.js"

interface CachedReply {
  readonly key: string
  readonly etag: string
  readonly reply: Reply
}

/** Replies that follow from object ids alone, remembered by what was asked. They hold for as long as their key does. */
export interface ReplyCache {
  readonly get: (asked: string, key: string) => CachedReply | undefined
  readonly set: (asked: string, key: string, etag: string, reply: Reply) => void
}

/** One answer takes at most this share, so that no few large ones push everything else out. */
const maxShare = 1 / 8

/** A text of this length is kept as the bytes that it is sent as. */
const minBufferedLength = 32_768

/** Remembers at most about `bytes`, the least recently used first to go; streams are not remembered. */
export const make = (bytes: number): ReplyCache => {
  const known = new LruCache<CachedReply>(bytes, undefined, { largest: bytes * maxShare })
  return {
    get: (asked, key) => {
      const found = known.get(asked)
      return found?.key === key ? found : undefined
    },
    set: (asked, key, etag, reply) => {
      const { body: made } = reply
      const body = typeof made === "string" && made.length > minBufferedLength ? Buffer.from(made) : made
      if (typeof body !== "string" && !(body instanceof Uint8Array)) return
      const weight = 2 * (asked.length + key.length) + 1000 + body.length * (typeof body === "string" ? 2 : 1)
      known.set(asked, { key, etag, reply: { ...reply, body } }, weight)
    }
  }
}
