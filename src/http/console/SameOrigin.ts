import type { HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"
import type { Failure } from "../server/HttpError.js"
import { foreignOrigin } from "./ConsoleError.js"

/** The port in the browser's URL. Cookies ignore ports, so the name of the cookie contains it. */
const portOf = (host: string, secure: boolean): string => /:(\d+)$/.exec(host)?.[1] ?? (secure ? "443" : "80")

/** The origin of the console's pages and the name of its cookie. */
export interface PageOrigin {
  readonly origin: string
  readonly secure: boolean
  readonly cookie: string
}

/** Derives the origin from the `Host` header, which the server has checked, and from the public URL. */
export const pageOrigin = (
  request: HttpServerRequest.HttpServerRequest,
  publicUrl: string | undefined
): PageOrigin => {
  const host = request.headers["host"] ?? "localhost"
  const open = publicUrl === undefined ? undefined : new URL(publicUrl)
  const secure = open !== undefined && open.host === host.toLowerCase() && open.protocol === "https:"
  return {
    origin: `${secure ? "https" : "http"}://${host.toLowerCase()}`,
    secure,
    cookie: `chainstore_session_${portOf(host, secure)}`
  }
}

/** Rejects requests from other origins, and requests without an `Origin` that may change something. */
export const check = (
  request: HttpServerRequest.HttpServerRequest,
  own: PageOrigin
): Effect.Effect<void, Failure> => {
  const origin = request.headers["origin"]
  const site = request.headers["sec-fetch-site"]
  const foreign =
    (origin === undefined ? request.method !== "GET" : origin.toLowerCase() !== own.origin) ||
    (site !== undefined && site !== "same-origin" && site !== "none")
  return foreign ? Effect.fail(foreignOrigin()) : Effect.void
}
