import { isIPv6 } from "node:net"
import type { HttpServerRequest } from "@effect/platform"
import { Option } from "effect"
import { isLoopback } from "./HostCheck.js"

/** An address without the port and the IPv6 brackets that some proxies add. */
const bare = (entry: string): string =>
  /^\[(.*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry)?.[1] ?? entry

/** The /64 prefix of an IPv6 address. A provider assigns a whole /64 network to one customer. */
const network = (address: string): string => {
  const [before = "", after] = address.split("%")[0]!.toLowerCase().split("::")
  const groups = before === "" ? [] : before.split(":")
  const rest = after === undefined || after === "" ? [] : after.split(":")
  // A dotted IPv4 suffix replaces two groups of the second half.
  const missing = 8 - groups.length - rest.length - (address.includes(".") ? 1 : 0)
  const all =
    after === undefined ? groups : [...groups, ...Array<string>(Math.max(0, missing)).fill("0"), ...rest]
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`
}

const normalized = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "")
  return isIPv6(plain) && !isLoopback(plain) ? network(plain) : plain
}

/**
 * The address of the client: an IPv4 address or the /64 network of an IPv6 address. If a public URL is configured and the
 * peer is a proxy on this machine, it is the last entry of `X-Forwarded-For`, which that proxy wrote.
 */
export const fromRequest = (
  request: HttpServerRequest.HttpServerRequest,
  publicUrl: string | undefined
): string => {
  const peer = normalized(Option.getOrElse(request.remoteAddress, () => "unknown"))
  if (publicUrl === undefined || !isLoopback(peer)) return peer
  const entry = request.headers["x-forwarded-for"]?.split(",").at(-1)?.trim()
  return entry ? normalized(bare(entry)) : peer
}
