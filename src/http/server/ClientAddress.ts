import { isIPv6 } from "node:net"
import type { HttpServerRequest } from "@effect/platform"
import { Option } from "effect"
import { isLoopback } from "./HostCheck.js"

/** An address without what some proxies write around it: the port, and the brackets of IPv6. */
const bare = (entry: string): string =>
  /^\[(.*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry)?.[1] ?? entry

/** The first half of an IPv6 address: a provider gives whole networks of that size to one customer. */
const network = (address: string): string => {
  const [before = "", after] = address.split("%")[0]!.toLowerCase().split("::")
  const groups = before === "" ? [] : before.split(":")
  const rest = after === undefined || after === "" ? [] : after.split(":")
  // A dotted end takes the place of two groups; it is in the second half.
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
 * Who asks: an IPv4 address, or the network of 64 bits that an IPv6 address is of. Behind a proxy on this machine, which a
 * public address stands for, it is the last entry of `X-Forwarded-For`: the one that the proxy wrote.
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
