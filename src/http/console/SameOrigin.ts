import type { HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"
import type { Failure } from "../server/HttpError.js"
import { foreignOrigin } from "./ConsoleError.js"

/** The port that the browser sees: cookies ignore ports, so the cookie's name holds it. */
const portOf = (host: string, secure: boolean): string => /:(\d+)$/.exec(host)?.[1] ?? (secure ? "443" : "80")

/** Where the page of this service is, as the browser sees it. */
export interface PageOrigin {
  readonly origin: string
  readonly secure: boolean
  readonly cookie: string
}

/** The service's own origin, from the Host, which the server has checked, and the public address, if there is one. */
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

/** Refuses what a foreign page sent: a foreign Origin always, a missing one where something may change. */
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
