import { Effect } from "effect"
import type { Signature } from "../../../git/Commit.js"
import type { DatedSignature } from "../../../git/disk/port/GitRepository.js"
import { cleanIdentity } from "../../../git/Names.js"
import type { Principal } from "../access/Principal.js"
import { type HostError, unprocessable } from "../reply/HostError.js"
import { isOwnerName } from "../repository/HostNames.js"
import * as JsonFields from "../request/JsonFields.js"

const ownAddress = "@users.noreply.localhost"

/** The account of an e-mail address of this host; undefined for other addresses. */
export const loginOf = (email: string): string | undefined => {
  const login = email.endsWith(ownAddress) ? email.slice(0, -ownAddress.length) : ""
  return isOwnerName(login) ? login : undefined
}

/** The default author and committer of a principal. */
export const signatureOfPrincipal = (principal: Principal): Signature => {
  const login = principal.login ?? "anonymous"
  return { name: login, email: `${login}${ownAddress}` }
}

const cleaned = (text: string) => cleanIdentity(text.replace(/[\x00-\x1f<>\x7f]/g, " "))

/**
 * Reads a signature, which needs both name and e-mail, from a member of the body; undefined if the member is absent.
 */
export const signatureFrom = (
  body: JsonFields.Fields,
  name: string
): Effect.Effect<(Signature & { readonly date: string | undefined }) | undefined, HostError> =>
  Effect.gen(function* () {
    const fields = yield* JsonFields.object(body, name)
    if (fields === undefined) return undefined
    yield* JsonFields.requireFields(fields, "name", "email")
    const given = cleaned(yield* JsonFields.text(fields, "name"))
    const email = cleaned(yield* JsonFields.text(fields, "email"))
    if (given === "" || email === "") {
      return yield* unprocessable(
        `Invalid request.\n\nFor 'properties/${name}', name and email must not be empty.`
      )
    }
    return {
      name: given,
      email,
      date: yield* JsonFields.string(fields, "date", `properties/${name}/properties/date`)
    }
  })

const dated = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(Z|[+-]\d{2}:?\d{2})$/

/** Adds a date to a signature: its own date, or `now` in milliseconds. */
export const withDate = (
  signature: Signature & { readonly date?: string | undefined },
  now: number
): Effect.Effect<DatedSignature, HostError> =>
  Effect.suspend(() => {
    const { date, email, name } = signature
    if (date === undefined) return Effect.succeed({ name, email, seconds: Math.floor(now / 1000), offset: 0 })
    const zone = dated.exec(date)?.[1]
    const millis = Date.parse(date)
    if (zone === undefined || Number.isNaN(millis) || millis < 0) {
      return Effect.fail(
        unprocessable(`Invalid request.\n\n"${date.slice(0, 60)}" is not a valid date-time.`)
      )
    }
    const minutes = zone === "Z" ? 0 : Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
    return Effect.succeed({
      name,
      email,
      seconds: Math.floor(millis / 1000),
      offset: zone.startsWith("-") ? -minutes : minutes
    })
  })
