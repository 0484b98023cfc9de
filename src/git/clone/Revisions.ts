import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { isOid, type Oid } from "../../domain/identifiers/Oid.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import type { ServerFailure } from "../protocol/Transport.js"
import { parseRevision } from "../Revision.js"
import type { Fetching } from "./Fetching.js"
import type { LocalBranches } from "./LocalBranches.js"
import { listed, type Sight } from "./Sight.js"

/** A name that no ref can have. */
const nothing = "refs/.."

/** What a name means on the server: a ref by its whole name, a tag or a branch, in Git's order. */
const namesOf = (name: string): ReadonlyArray<string> =>
  name.startsWith("refs/") ? [name] : [`refs/${name}`, `refs/tags/${name}`, `refs/heads/${name}`]

export interface RevisionsOptions {
  readonly engine: GitRepository
  readonly fetching: Pick<Fetching, "bring" | "bringHistory" | "fetching" | "place">
  readonly sight: Sight
  readonly local: LocalBranches
}

/** Revisions as the server has them: what they name is brought into the clone, and found there. */
export const make = ({
  engine,
  fetching: { bring, bringHistory, fetching, place },
  local,
  sight
}: RevisionsOptions) => {
  const serverHead = Effect.map(sight.look(["HEAD"]), (refs) => listed(refs, "HEAD"))

  /** Puts what a name may mean into the clone, and answers by which name or id it is found there. */
  const mirrored = (name: string): Effect.Effect<string, ServerFailure> =>
    Effect.gen(function* () {
      if (name === "") return nothing
      if (name === "HEAD") {
        const at = yield* serverHead
        if (at !== undefined) yield* bring(at)
        return at ?? nothing
      }
      if (isOid(name)) return (yield* bring(name)) ? name : nothing
      const here = local.at(name.replace(/^(refs\/)?heads\//, ""))
      if (here !== undefined) return here
      const names = namesOf(name)
      const refs = yield* sight.look(names)
      for (const one of names) {
        const at = listed(refs, one)
        if (at !== undefined) yield* bring(at)
        yield* place(one, at)
      }
      if (names.every((one) => listed(refs, one) === undefined) && /^[0-9a-f]{4,39}$/.test(name)) {
        // The beginning of an id: the server takes none, so it is looked for in its whole history.
        const at = yield* serverHead
        if (at !== undefined && (yield* bring(at))) yield* bringHistory(at)
      }
      return name
    })

  return (revision: string): Effect.Effect<Option.Option<Oid>, ServerFailure> =>
    Effect.gen(function* () {
      const parsed = parseRevision(revision)
      if (parsed === undefined) return Option.none()
      const name = yield* mirrored(parsed.name)
      const steps = revision.slice(parsed.name.length)
      if (steps !== "") {
        const start = yield* engine.resolve(name)
        if (Option.isSome(start)) yield* bringHistory(start.value)
      }
      return yield* fetching(engine.resolve(`${name}${steps}`))
    })
}
