import type { HttpServerRequest } from "@effect/platform"
import { Option } from "effect"
import { isLoopback } from "./HostCheck.js"

/**
 * Who asks. Behind a proxy on this machine, which a public address stands for, it is the last entry of
 * `X-Forwarded-For`: the one that the proxy wrote.
 */
export const of = (request: HttpServerRequest.HttpServerRequest, publicUrl: string | undefined): string => {
  const peer = Option.getOrElse(request.remoteAddress, () => "unknown").replace(/^::ffff:/, "")
  if (publicUrl === undefined || !isLoopback(peer)) return peer
  return request.headers["x-forwarded-for"]?.split(",").at(-1)?.trim() || peer
}
