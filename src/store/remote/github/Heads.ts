import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { isOid, type Oid } from "../../../domain/Oid.js"
import type { Head, Wants } from "../GitRemote.js"
import * as Api from "./Api.js"
import { isApiFailure, isKind } from "./ApiFailure.js"
import type { Branches } from "./Branches.js"
import type { Bring, Place } from "./Bring.js"
import type { CallFailure, Client } from "./Client.js"
import type { KnownTrees } from "./KnownTrees.js"
import type { Patches } from "./Patches.js"

type FoundHead = Effect.Effect<Option.Option<Head>, CallFailure>

/** Names to commits, together with what will be read at them where one query brings both. */
export interface Heads {
  readonly resolve: (ref: string, wants?: Wants) => FoundHead
  /** Where the branch is now. */
  readonly now: (branch: string, wants?: Wants) => FoundHead
  /** The same; of a store opened for reading, the commit that the branch was at when first asked. */
  readonly head: (branch: string, wants?: Wants) => FoundHead
  /** Finds a place and what is wanted of it by one query; none where that fails, which plain ways explain better. */
  readonly brought: (place: Place, wants: Wants) => FoundHead
  /** Whether wants come with the head: where GraphQL is used. */
  readonly brings: boolean
  readonly forget: () => void
}

/** A commit tells of this many files, on pages of 300. */
const mostFiles = 3000
const pageOfFiles = 300

/** Files that one query brings; more are read in bulk. */
const mostBrought = 100

export const makeHeads = (
  client: Client,
  branches: Branches,
  known: KnownTrees,
  bring: Bring,
  patches: Patches
): Heads => {
  const { settings } = client
  const brings = settings.useGraphql && !settings.readOnly
  let pins = new Map<string, Option.Option<Head>>()

  const learned = (head: Option.Option<Head>) => {
    if (Option.isSome(head)) known.learnCommit(head.value)
    return head
  }

  const brought: Heads["brought"] = (place, wants) =>
    Effect.catchIf(bring.at(place, wants), isApiFailure, () => Effect.succeed(Option.none<Head>()))

  /** A commit never changes: one that was seen is not asked for. */
  const byOid = (oid: Oid) =>
    Option.match(known.rootAt(oid), {
      onNone: () =>
        Effect.map(
          branches.commit(oid),
          Option.map((found): Head => ({ commit: found.sha, tree: found.tree.sha }))
        ),
      onSome: (tree) => Effect.succeed(Option.some<Head>({ commit: oid, tree }))
    })

  const readCommit = (ref: string, page: { readonly page?: number; readonly per_page?: number }) =>
    client.call(Api.getCommit, { path: { ref }, query: page }).pipe(
      Effect.map((reply) =>
        Option.map(reply.value, (found) => {
          branches.learn(found)
          const head: Head = { commit: found.sha, tree: found.commit.tree.sha }
          const more = /rel="next"/.test(reply.headers["link"] ?? "")
          return { head, parent: found.parents[0]?.sha, files: found.files, more }
        })
      )
    )

  /** What a commit changed, as it was before, where one query brings that together with the parent. */
  const bringParent = (commit: Oid, parent: Oid | undefined): Effect.Effect<void, CallFailure> => {
    const paths = patches.paths(commit)
    if (!brings || parent === undefined || paths.length === 0) return Effect.void
    const trees = new Set(paths.map((path) => path.slice(0, Math.max(0, path.lastIndexOf("/")))))
    const wants = { files: paths.length > mostBrought ? [] : paths, trees: [...trees] }
    return Effect.map(brought({ commit: parent }, wants), learned)
  }

  /** A commit with the patches of what it changed; none where that fails, which plain ways explain better. */
  const withPatches = (ref: string): FoundHead =>
    Effect.gen(function* () {
      const first = yield* readCommit(ref, {})
      if (Option.isNone(first)) return Option.none()
      const { head, parent } = first.value
      let { files, more } = first.value
      for (
        let page = 2;
        patches.keep(head.commit, files) && more && page <= mostFiles / pageOfFiles;
        page++
      ) {
        const next = yield* readCommit(head.commit, { page })
        files = Option.getOrUndefined(next)?.files
        more = Option.getOrUndefined(next)?.more === true
      }
      yield* bringParent(head.commit, parent)
      return Option.some(head)
    }).pipe(Effect.catchIf(isApiFailure, () => Effect.succeedNone))

  const byName = (ref: string): FoundHead =>
    readCommit(ref, { per_page: 1 }).pipe(
      Effect.map(Option.map(({ head }) => head)),
      Effect.catchIf(isKind("Missing", "EmptyRepository", "Invalid", "Conflict"), () =>
        Effect.succeed(Option.none())
      )
    )

  const resolve: Heads["resolve"] = (ref, wants) => {
    // A branch that we have written to is known better by its name alone.
    if (!isOid(ref) && branches.own(ref) !== undefined) return now(ref)
    if (wants?.changes === true) {
      const { files, trees } = wants
      const plain = resolve(ref, files.length + trees.length === 0 ? undefined : { files, trees })
      return Effect.flatMap(withPatches(ref), (found) =>
        Option.isSome(found) ? Effect.succeed(learned(found)) : plain
      )
    }
    if (!isOid(ref)) return Effect.map(byName(ref), learned)
    if (!brings || wants === undefined) return Effect.map(byOid(ref), learned)
    return Effect.flatMap(brought({ commit: ref }, wants), (found) =>
      Effect.map(Option.isSome(found) ? Effect.succeed(found) : byOid(ref), learned)
    )
  }

  const now: Heads["now"] = (branch, wants) =>
    Effect.map(
      brings && wants !== undefined
        ? Effect.flatMap(brought({ branch }, wants), (found) =>
            branches.head(branch, Option.isSome(found) ? Effect.succeed(found) : undefined)
          )
        : branches.head(branch),
      learned
    )

  return {
    resolve,
    now,
    brought,
    brings,
    head: (branch, wants) => {
      if (!settings.readOnly || (!settings.pinRef && Option.isNone(settings.ref))) return now(branch, wants)
      const pinned = pins.get(branch)
      if (pinned !== undefined) return Effect.succeed(pinned)
      const asked = pins
      // Of readers that ask at once the first answer holds for all; what is absent is asked for again.
      return Effect.map(Option.isSome(settings.ref) ? resolve(settings.ref.value) : now(branch), (found) => {
        const first = asked.get(branch)
        if (first !== undefined) return first
        if (Option.isSome(found)) asked.set(branch, found)
        return found
      })
    },
    forget: () => {
      pins = new Map()
    }
  }
}
