import type { IncomingMessage } from "node:http"
import { type HttpError, MisdirectedRequest, ValidationError } from "./HttpError.js"

const loopback = /^(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const nameOf = (authority: string): string => authority.toLowerCase().replace(/:\d*$/, "")

/**
 * Whether a Host may be answered: a loopback name, or the public address. It defends a service on loopback against
 * pages that point their own name at 127.0.0.1 (DNS rebinding).
 */
export const make = (publicUrl: string | undefined): ((host: string | undefined) => boolean) => {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl)
  let last: string | undefined
  return (host) => {
    if (host === undefined) return false
    if (host === last) return true
    const name = nameOf(host)
    const accepted =
      loopback.test(name) || (own !== undefined && (host.toLowerCase() === own.host || name === own.hostname))
    if (accepted) last = host
    return accepted
  }
}

/** Whether an address to listen on can be reached from this machine alone. */
export const isLoopback = (address: string): boolean => address === "::1" || loopback.test(address)

/** The path that a request is for. A target with an authority of its own overrules the Host header, for everything that reads it. */
export const pathOf = (request: IncomingMessage): string => {
  if (request.url!.charCodeAt(0) !== 47) {
    const [, host, rest] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(request.url!) ?? []
    if (host !== undefined && rest !== undefined) {
      request.headers.host = host
      request.url = rest.startsWith("/") ? rest : `/${rest}`
    }
  }
  const url = request.url!
  const query = url.indexOf("?")
  return query === -1 ? url : url.slice(0, query)
}

/** Whether more than one Host header came: Node shows the first, whatever a proxy before it went by. */
const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean => {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === "host") count++
  }
  return count > 1
}

/** Why a request is not answered by its Host alone, if it is not; without a check every Host is accepted. */
export const hostError = (
  request: IncomingMessage,
  acceptsHost: ((host: string | undefined) => boolean) | undefined
): HttpError | undefined => {
  if (hasSeveralHosts(request)) {
    return new ValidationError({ message: "The request names more than one Host." })
  }
  if (acceptsHost === undefined || acceptsHost(request.headers.host)) return undefined
  return new MisdirectedRequest({
    message: "This service answers to loopback names and to its public address (CHAINSTORE_PUBLIC_URL) only."
  })
}
