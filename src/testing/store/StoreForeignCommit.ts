import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { FileMode } from "../../git/Commit.js"
import * as GitObject from "../../git/GitObject.js"
import type { Change } from "../../store/remote/GitRemote.js"
import type { LawContext } from "./StoreLaw.js"

const bytes = (text: string) => new TextEncoder().encode(text)

/** A file of somebody else: its text, null for none, or an object that exists, with a mode. */
export type ForeignFile = string | null | { readonly oid: Oid; readonly mode: FileMode }

/** The id of a text's blob. */
export const blobOf = (text: string): Oid => GitObject.hash("blob", bytes(text))

/** Somebody else's commit on any branch: files by their path below the root. Gives the commit's id. */
export const pushTo =
  ({ remote, root }: LawContext) =>
  (branch: string, files: Readonly<Record<string, ForeignFile>>) =>
    Effect.gen(function* () {
      const changes = Object.entries(files).map(([name, file]): Change => {
        const path = `${root}/${name}`
        if (file === null) return { _tag: "Remove", path }
        return typeof file === "string"
          ? { _tag: "Put", path, content: bytes(file) }
          : { _tag: "Link", path, ...file }
      })
      const head = yield* remote.head(branch)
      return (yield* remote.commit(branch, head, { message: "somebody else", changes })).commit
    })

/** The text of a file below the root at the head of a branch. */
export const textAt = ({ remote, root }: LawContext, branch: string, path: string) =>
  Effect.map(
    remote.snapshot(branch).file(`${root}/${path}`, { fresh: true }),
    Option.match({ onNone: () => null, onSome: ({ content }) => new TextDecoder().decode(content) })
  )

/** Every file below the root at the head of a branch, by its path: its mode and id. */
export const filesAt = ({ remote, root }: LawContext, branch: string) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head(branch))
    const { entries } = Option.getOrThrow(yield* remote.tree(head, root, { recursive: true }))
    return Object.fromEntries(entries.map(({ mode, oid, path }) => [path, `${mode} ${oid}`]))
  })

/** Runs an effect a day later. */
export const aDayLater = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const millis = () => Date.now() + 86_400_000
  const clock: Clock.Clock = Object.assign(Object.create(Clock.make()), {
    unsafeCurrentTimeMillis: millis,
    currentTimeMillis: Effect.sync(millis)
  })
  return Effect.withClock(effect, clock)
}
