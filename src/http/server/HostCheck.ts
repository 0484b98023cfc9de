import type { IncomingMessage } from "node:http"
import { type HttpError, MisdirectedRequest, ValidationError } from "./HttpError.js"

const loopback = /^(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const nameOf = (authority: string): string => authority.toLowerCase().replace(/:\d*$/, "")

/**
 * Returns a check that accepts the `Host` of loopback names and of the public URL. It protects a service on loopback
 * from web pages whose domain resolves to 127.0.0.1 (DNS rebinding).
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

/** Whether an address is reachable only from this machine. */
export const isLoopback = (address: string): boolean => address === "::1" || loopback.test(address)

/** The path of a request. A target in absolute form replaces the `Host` header, as RFC 9112 requires. */
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

/** Whether the request has several `Host` headers. Node uses the first, but a proxy may have used another one. */
const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean => {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === "host") count++
  }
  return count > 1
}

/** The error of a request with an unacceptable `Host`; undefined if it is acceptable. Without a check every `Host` is accepted. */
export const hostError = (
  request: IncomingMessage,
  acceptsHost: ((host: string | undefined) => boolean) | undefined
): HttpError | undefined => {
  if (hasSeveralHosts(request)) {
    return new ValidationError({ message: "The request has more than one Host header." })
  }
  if (acceptsHost === undefined || acceptsHost(request.headers.host)) return undefined
  return new MisdirectedRequest({
    message:
      "This service accepts only loopback host names and the host of its public URL (CHAINSTORE_PUBLIC_URL)."
  })
}
