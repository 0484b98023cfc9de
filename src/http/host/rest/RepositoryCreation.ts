import { Effect, Option } from "effect"
import { isRepositoryName } from "../../../git/disk/GitRepositories.js"
import { isGranted, type Principal } from "../access/Principal.js"
import { notFound, notPermitted, unprocessable } from "../reply/HostError.js"
import { isOwnerName } from "../repository/HostNames.js"
import type { HostedRepository, Repositories } from "../repository/Repositories.js"
import type { GivenMetadata } from "../repository/RepositoryMetadata.js"

const failed = (field: string, message: string) =>
  unprocessable("Repository creation failed.", [{ resource: "Repository", code: "custom", field, message }])

/** Normalizes a repository name as GitHub does. */
export const nameFrom = (typed: string): string =>
  typed.replace(/\.git$/i, "").replace(/[^A-Za-z0-9._-]+/g, "-")

/** GitHub's error for an invalid description; undefined if it is valid. */
export const descriptionProblem = (description: string | null): string | undefined => {
  if (description === null) return undefined
  if (Array.from(description.slice(0, 701)).length > 350)
    return "description cannot be more than 350 characters"
  return /[\x00-\x1f\x7f]/.test(description) ? "description control characters are not allowed" : undefined
}

/** Creates a repository with the content that `write` adds. The principal must have write access. */
export const make = <E = never, R = never>(
  repositories: typeof Repositories.Service,
  principal: Principal,
  { name, owner }: { readonly owner: string; readonly name: string },
  settings: GivenMetadata,
  write?: (hosted: HostedRepository) => Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function* () {
    if (!isOwnerName(owner)) return yield* notFound
    if (!isGranted(principal, "write", `${owner}/${name}`)) return yield* notPermitted("administration=write")
    if (!isRepositoryName(name)) return yield* failed("name", "name is invalid")
    const problem = descriptionProblem(settings.description)
    if (problem !== undefined) return yield* failed("description", problem)
    const created = yield* repositories.create(owner, name, settings, write)
    if (Option.isNone(created)) return yield* failed("name", "name already exists on this account")
    return created.value
  })
