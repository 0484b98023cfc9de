import { Effect, Option } from "effect"
import { isRepositoryName } from "../../../git/disk/GitRepositories.js"
import { isOwner } from "../Names.js"
import { may, type Principal } from "../Principal.js"
import { notFound, notPermitted, unprocessable } from "../Problem.js"
import type { Repositories, Settings } from "../Repositories.js"

const failed = (field: string, message: string) =>
  unprocessable("Repository creation failed.", [{ resource: "Repository", code: "custom", field, message }])

/** A repository's name as GitHub makes it of what was typed. */
export const nameFrom = (typed: string): string =>
  typed.replace(/\.git$/i, "").replace(/[^A-Za-z0-9._-]+/g, "-")

/** Makes a repository for a principal that may write it. */
export const make = (
  repositories: typeof Repositories.Service,
  principal: Principal,
  { name, owner }: { readonly owner: string; readonly name: string },
  settings: Pick<Settings, "private" | "description">
) =>
  Effect.gen(function* () {
    if (!isOwner(owner)) return yield* notFound
    if (!may(principal, "write", `${owner}/${name}`)) return yield* notPermitted("administration=write")
    if (!isRepositoryName(name)) return yield* failed("name", "name is invalid")
    const made = yield* repositories.create(owner, name, settings)
    if (Option.isNone(made)) return yield* failed("name", "name already exists on this account")
    return made.value
  })
