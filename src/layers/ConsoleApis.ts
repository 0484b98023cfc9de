import { Effect, Either } from "effect"
import { makeAddress } from "../store/remote/github/client/Address.js"

/** An API that console sessions can use. */
export interface ConsoleApi {
  readonly name: string
  readonly apiUrl: string
  readonly rawUrl: string | undefined
}

const parseNamedAddresses = (text: string): ReadonlyArray<readonly [name: string, address: string]> =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => {
      const [, name, address] = /^([^=:/]+)=(.+)$/.exec(part) ?? []
      if (name !== undefined && address !== undefined) return [name.trim(), address.trim()]
      const hostname = URL.canParse(part) ? new URL(part).hostname : part
      return [hostname === "api.github.com" ? "GitHub" : hostname, part]
    })

/** The problem of a list of addresses, validated like the options of the GitHub client; undefined if it is valid. */
export const addressListProblem = (kind: "apiUrl" | "rawUrl", text: string): string | undefined => {
  const addresses = parseNamedAddresses(text)
  if (addresses.length === 0) return "contains no address"
  for (const [, address] of addresses) {
    const checked = Effect.runSync(Effect.either(makeAddress({ repo: "owner/name", [kind]: address })))
    if (Either.isLeft(checked)) return [checked.left.message, checked.left.hint].filter(Boolean).join("; ")
  }
  return undefined
}

/** Parses `CHAINSTORE_API_URL` and `CHAINSTORE_RAW_URL`: one address, or several with names. */
export const apisOf = (
  apiUrl = "https://api.github.com",
  rawUrl: string | undefined = undefined
): ReadonlyArray<ConsoleApi> => {
  const apis = parseNamedAddresses(apiUrl)
  const raws = rawUrl === undefined ? [] : parseNamedAddresses(rawUrl)
  return apis.map(([name, address]) => ({
    name,
    apiUrl: address,
    rawUrl:
      raws.find(([other]) => other === name)?.[1] ??
      (apis.length === 1 ? raws[0]?.[1] : undefined) ??
      (address === "https://api.github.com" ? "https://raw.githubusercontent.com" : undefined)
  }))
}
