import { randomBytes } from "node:crypto"
import type { Principal } from "./access/Principal.js"
import * as RateLimits from "./access/RateLimits.js"
import * as CorsHeaders from "./CorsHeaders.js"
import * as MediaType from "./reply/MediaType.js"
import type { Headers, Reply } from "./reply/Reply.js"
import type { Version } from "./request/HostCall.js"

const seed = randomBytes(4).toString("hex").toUpperCase()
let requests = 0
const requestId = () => `${seed}:${(++requests).toString(16).toUpperCase().padStart(8, "0")}`

const common: Headers = {
  ...CorsHeaders.headers,
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "origin-when-cross-origin, strict-origin-when-cross-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "deny",
  vary: "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding, X-Requested-With"
}

const noHeaders: Headers = {}
const publicCache: Headers = { "cache-control": "public, max-age=60, s-maxage=60" }
const privateCache: Headers = { "cache-control": "private, max-age=60, s-maxage=60" }

/** The caching of a reply. A success with a body, and 304, may be cached. */
const cacheControl = ({ body, status }: Reply, { login }: Principal): Headers =>
  status === 304 || (status < 300 && body !== undefined)
    ? login === undefined
      ? publicCache
      : privateCache
    : noHeaders

/** Adds the headers of every API reply. Headers of the reply replace the common ones. */
export const withApiHeaders = (
  reply: Reply,
  to: {
    readonly principal: Principal
    readonly version: Version
    readonly media: MediaType.Media
    readonly window: RateLimits.RateWindow
  }
): Reply => {
  // One literal: adding members one by one to a copy took twice as long.
  const headers = {
    ...common,
    ...cacheControl(reply, to.principal),
    ...reply.headers,
    ...RateLimits.headers(to.window),
    "x-github-api-version-selected": to.version,
    "x-github-media-type": MediaType.header(to.media),
    "x-github-request-id": requestId()
  }
  return { status: reply.status, body: reply.body, headers }
}

/** Adds the CORS headers of raw files. */
export const withRawHeaders = (reply: Reply): Reply => ({
  ...reply,
  headers: { ...reply.headers, ...CorsHeaders.headers, vary: "Authorization, Accept-Encoding" }
})
