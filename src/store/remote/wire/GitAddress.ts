import { ValidationError } from "../../../domain/errors/StoreError.js"
import type { SshAddress } from "../../../git/clone/SshTransport.js"

/** The address of a repository, by protocol. */
export type GitAddress =
  | { readonly _tag: "Http"; readonly url: URL }
  | {
      readonly _tag: "Ssh"
      readonly url: string
      readonly host: string
      readonly path: string
      readonly address: SshAddress
    }

const wrong = (message: string, hint: string) =>
  new ValidationError({ operation: "GitHost.layer", message, hint })

/** Whether ssh or a shell could misinterpret a word as an option or separator. */
const isUnsafe = (word: string): boolean => word.startsWith("-") || /[\p{Cc}\s]/u.test(word)

/** Decodes percent escapes; undefined if one is invalid. */
const decoded = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

const sshAddress = (url: string, address: SshAddress): GitAddress | ValidationError =>
  address.host === "" ||
  isUnsafe(address.host) ||
  (address.user !== undefined && isUnsafe(address.user)) ||
  /[\p{Cc}]/u.test(address.path) ||
  // Git would interpret it as an option.
  address.path.startsWith("-") ||
  address.path === ""
    ? wrong(
        `${JSON.stringify(url)} is not an address of ssh`,
        "give one such as ssh://git@example.org/me/data.git"
      )
    : { _tag: "Ssh", url, host: address.host, path: address.path, address }

/** Parses an address of the form that `git clone` accepts. */
export const parse = (given: string): GitAddress | ValidationError => {
  // As Git reads it: a colon before any slash, and no scheme.
  const short = /^(?:([^@/:]+)@)?(\[[^\]]+\]|[^@/:]+):(?!\/\/)(.+)$/s.exec(given)
  if (short !== null) {
    const [, user, host = "", path = ""] = short
    return sshAddress(given, { user, host: host.replace(/^\[|\]$/g, ""), port: undefined, path })
  }
  if (given.startsWith("file:") || /^\.{0,2}\//.test(given)) {
    return wrong(
      `${JSON.stringify(given)} is a directory of this machine, not a Git server`,
      "use LocalGit, on the command line --directory and --repo"
    )
  }
  if (!URL.canParse(given)) {
    return wrong(
      `${JSON.stringify(given)} is not an address`,
      "give one such as https://git.example.org/me/data.git"
    )
  }
  const url = new URL(given)
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)
  const isSsh = url.protocol === "ssh:"
  if (!isSsh && url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) {
    return wrong(
      `${url.protocol}//${url.host} would carry the token unencrypted`,
      "use https or ssh; http is for this machine alone"
    )
  }
  if (url.password !== "" || (!isSsh && url.username !== "")) {
    return wrong("the address holds a user name or a password", "give them as `username` and `token`")
  }
  if (url.search !== "" || url.hash !== "") {
    return wrong(
      "the address of a repository has no query and no fragment",
      "leave out what follows `?` or `#`"
    )
  }
  url.pathname = url.pathname.replace(/\/+$/, "")
  if (!isSsh) return { _tag: "Http", url }
  const user = decoded(url.username)
  const path = decoded(url.pathname)
  if (user === undefined || path === undefined) {
    return wrong(
      `${JSON.stringify(given)} has a percent sign that begins no escape`,
      "write %25 for a percent sign"
    )
  }
  return sshAddress(given, {
    user: user === "" ? undefined : user,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? undefined : Number(url.port),
    path: path.replace(/^\/(?=~)/, "")
  })
}
