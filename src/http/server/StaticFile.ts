import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** The headers of every page. A page loads resources only from its own origin and has no inline scripts or styles. */
export const security = {
  "content-security-policy": policy,
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()"
}

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  woff2: "font/woff2"
}

/** A static file in memory. */
export interface StaticFile {
  readonly bytes: Uint8Array
  readonly gzipped: Uint8Array
  readonly etag: string
  readonly type: string
  /** Whether the file's name changes with its content, so that it may be cached forever. */
  readonly immutable: boolean
}

const typeOf = (name: string): string =>
  types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream"

const make = (name: string, bytes: Uint8Array, lasting: boolean): StaticFile => ({
  bytes,
  gzipped: gzipSync(bytes, { level: 9 }),
  etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
  type: typeOf(name),
  immutable: lasting
})

/** Loads a file into memory. */
export const load = (file: string, lasting: boolean, change?: (text: string) => string): StaticFile => {
  const read = readFileSync(file)
  return make(file, change === undefined ? read : Buffer.from(change(read.toString("utf8"))), lasting)
}

/** A file with generated text. Its type is derived from the name. */
export const ofText = (name: string, text: string): StaticFile => make(name, Buffer.from(text), false)

/** Serves a file, compressed if the client accepts gzip. Replies 304 if the client's `ETag` matches. */
export const respond = (file: StaticFile, own: Readonly<Record<string, string>> = {}) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const headers = {
      ...security,
      ...own,
      etag: file.etag,
      vary: "accept-encoding",
      "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache"
    }
    if (request.headers["if-none-match"] === file.etag) {
      return HttpServerResponse.empty({ status: 304, headers })
    }
    return /\bgzip\b/.test(request.headers["accept-encoding"] ?? "")
      ? HttpServerResponse.uint8Array(file.gzipped, {
          contentType: file.type,
          headers: { ...headers, "content-encoding": "gzip" }
        })
      : HttpServerResponse.uint8Array(file.bytes, { contentType: file.type, headers })
  })

/** A 503 page that reports a missing part of the build. */
export const notBuilt = (message: string) =>
  HttpServerResponse.text(`<!doctype html><html lang="en"><title>Chainstore</title><p>${message}`, {
    status: 503,
    contentType: "text/html; charset=utf-8",
    headers: security
  })
