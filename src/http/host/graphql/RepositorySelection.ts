import { Effect, Option } from "effect"
import { isGranted, type Principal } from "../access/Principal.js"
import type { HostedRepository } from "../repository/Repositories.js"
import { pushedAt } from "../rest/RepositoryView.js"
import type * as RelayConnection from "./RelayConnection.js"

type Affiliation = "OWNER" | "COLLABORATOR" | "ORGANIZATION_MEMBER"

/** The arguments that filter and order an account's repositories. */
export interface RepositoryArguments extends RelayConnection.ConnectionArguments {
  readonly visibility?: "PRIVATE" | "PUBLIC" | "INTERNAL" | null
  readonly privacy?: "PRIVATE" | "PUBLIC" | null
  readonly affiliations?: ReadonlyArray<Affiliation | null> | null
  readonly ownerAffiliations?: ReadonlyArray<Affiliation | null> | null
  readonly isFork?: boolean | null
  readonly isArchived?: boolean | null
  readonly isLocked?: boolean | null
  readonly hasIssuesEnabled?: boolean | null
  readonly orderBy?: {
    readonly field: "CREATED_AT" | "UPDATED_AT" | "PUSHED_AT" | "NAME" | "STARGAZERS"
    readonly direction: "ASC" | "DESC"
  } | null
}

const affiliationOf = (
  principal: Principal,
  { fullName, owner }: HostedRepository
): Affiliation | undefined =>
  principal.login === owner ? "OWNER" : isGranted(principal, "read", fullName) ? "COLLABORATOR" : undefined

/** Filters and orders an account's repositories. The default order is by name. */
export const select = (
  principal: Principal,
  args: RepositoryArguments,
  owned: ReadonlyArray<HostedRepository>
) =>
  Effect.gen(function* () {
    const { affiliations, orderBy, ownerAffiliations, privacy, visibility } = args
    // The host has no forks, archives, locks or issues, and the account owns all its repositories.
    const never = [args.isFork, args.isArchived, args.isLocked, args.hasIssuesEnabled].includes(true)
    if (never || (ownerAffiliations && !ownerAffiliations.includes("OWNER"))) return []
    const wanted = owned.filter((hosted) => {
      const secrecy = hosted.metadata.private ? "PRIVATE" : "PUBLIC"
      const affiliation = affiliationOf(principal, hosted)
      return (
        (!visibility || visibility === secrecy) &&
        (!privacy || privacy === secrecy) &&
        (!affiliations || (affiliation !== undefined && affiliations.includes(affiliation)))
      )
    })
    if (!orderBy || orderBy.field === "STARGAZERS") return wanted
    const keyed = yield* Effect.forEach(wanted, (hosted) =>
      Effect.map(
        orderBy.field === "NAME"
          ? Effect.succeed(hosted.name.toLowerCase())
          : orderBy.field === "CREATED_AT"
            ? Effect.succeed(hosted.metadata.createdAt)
            : Effect.map(
                pushedAt(hosted),
                Option.getOrElse(() => hosted.metadata.createdAt)
              ),
        (key) => ({ key, hosted })
      )
    )
    const sign = orderBy.direction === "DESC" ? -1 : 1
    return keyed
      .sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : 0))
      .map(({ hosted }) => hosted)
  })
