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

/** Whether a reply may be cached: a success with a body, or 304. */
const isCacheable = ({ body, status }: Reply) => status === 304 || (status < 300 && body !== undefined)

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
  const headers: Record<string, string> = { ...common }
  if (isCacheable(reply)) {
    headers["cache-control"] =
      to.principal.login === undefined
        ? "public, max-age=60, s-maxage=60"
        : "private, max-age=60, s-maxage=60"
  }
  Object.assign(headers, reply.headers, RateLimits.headers(to.window))
  headers["x-github-api-version-selected"] = to.version
  headers["x-github-media-type"] = MediaType.header(to.media)
  headers["x-github-request-id"] = requestId()
  return { status: reply.status, body: reply.body, headers }
}

/** Adds the CORS headers of raw files. */
export const withRawHeaders = (reply: Reply): Reply => ({
  ...reply,
  headers: { ...reply.headers, ...CorsHeaders.headers, vary: "Authorization, Accept-Encoding" }
})
