import { randomBytes } from "node:crypto"
import * as Limits from "./access/Limits.js"
import type { Principal } from "./access/Principal.js"
import * as Cors from "./Cors.js"
import * as Media from "./reply/Media.js"
import type { Headers, Reply } from "./reply/Reply.js"
import type { Version } from "./request/Call.js"

const seed = randomBytes(4).toString("hex").toUpperCase()
let requests = 0
const requestId = () => `${seed}:${(++requests).toString(16).toUpperCase().padStart(8, "0")}`

const common: Headers = {
  ...Cors.headers,
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "origin-when-cross-origin, strict-origin-when-cross-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "deny",
  vary: "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding, X-Requested-With"
}

/** What may be kept for a while: what was found or made, and neither a refusal nor nothing. */
const isKept = ({ body, status }: Reply) => status === 304 || (status < 300 && body !== undefined)

/** An answer of the API with the headers that every one carries; its own win over the common ones. */
export const around = (
  reply: Reply,
  to: {
    readonly principal: Principal
    readonly version: Version
    readonly media: Media.Media
    readonly window: Limits.Window
  }
): Reply => {
  const headers: Record<string, string> = { ...common }
  if (isKept(reply)) {
    headers["cache-control"] =
      to.principal.login === undefined
        ? "public, max-age=60, s-maxage=60"
        : "private, max-age=60, s-maxage=60"
  }
  Object.assign(headers, reply.headers, Limits.headers(to.window))
  headers["x-github-api-version-selected"] = to.version
  headers["x-github-media-type"] = Media.header(to.media)
  headers["x-github-request-id"] = requestId()
  return { status: reply.status, body: reply.body, headers }
}

/** A file's bytes, which pages of other origins may read. */
export const aroundRaw = (reply: Reply): Reply => ({
  ...reply,
  headers: { ...reply.headers, ...Cors.headers, vary: "Authorization, Accept-Encoding" }
})
