import * as Reply from "./reply/Reply.js"

/** The response headers that other origins may read, as on GitHub. */
const exposed =
  "ETag, Link, Location, Retry-After, X-GitHub-OTP, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Used, " +
  "X-RateLimit-Resource, X-RateLimit-Reset, X-OAuth-Scopes, X-Accepted-OAuth-Scopes, X-Poll-Interval, " +
  "X-GitHub-Media-Type, X-GitHub-SSO, X-GitHub-Request-Id, Deprecation, Sunset"

/** The request headers that other origins may send, as GitHub documents them. */
const allowed =
  "Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Unmodified-Since, X-GitHub-OTP, " +
  "X-Requested-With"

/** All origins are allowed: requests are authenticated by tokens, never by cookies. */
export const headers: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposed
}

export const preflight = Reply.make(204, {
  ...headers,
  "access-control-allow-headers": allowed,
  "access-control-allow-methods": "GET, POST, PATCH, PUT, DELETE",
  "access-control-max-age": "86400"
})
