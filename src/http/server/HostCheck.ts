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
