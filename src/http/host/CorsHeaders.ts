import * as Reply from "./reply/Reply.js"

/** What a page of another origin may read, as GitHub exposes it. */
const exposed =
  "ETag, Link, Location, Retry-After, X-GitHub-OTP, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Used, " +
  "X-RateLimit-Resource, X-RateLimit-Reset, X-OAuth-Scopes, X-Accepted-OAuth-Scopes, X-Poll-Interval, " +
  "X-GitHub-Media-Type, X-GitHub-SSO, X-GitHub-Request-Id, Deprecation, Sunset"

/** What a page of another origin may send: the headers that GitHub documents, and no other. */
const allowed =
  "Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Unmodified-Since, X-GitHub-OTP, " +
  "X-Requested-With"

/** Every origin may ask, with a token of its own: no cookie is ever looked at. */
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
