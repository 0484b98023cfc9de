import { timingSafeEqual } from "node:crypto"
import { FileSystem, Path } from "@effect/platform"
import { Context, Effect, Layer, MutableRef, Option, PubSub, Redacted, Schedule, Stream } from "effect"
import * as IssuedTokens from "./IssuedTokens.js"
import type { Grant, Principal } from "./Principal.js"

/** An additional token. The layer keeps only its hash. */
export interface ExtraToken {
  readonly token: Redacted.Redacted
  readonly login: string
  readonly grants: ReadonlyArray<Grant>
}

export interface TokensOptions {
  /** The directory of the token files. It is created if it is missing. */
  readonly directory: string
  /** The host's own token. By default it is read from its file, or generated. */
  readonly own?: Redacted.Redacted | undefined
  readonly given?: ReadonlyArray<ExtraToken> | undefined
}

type Issued = Effect.Effect.Success<ReturnType<typeof IssuedTokens.make>>

/** The access tokens of the host. */
export class Tokens extends Context.Tag("chainstore/http/host/Tokens")<
  Tokens,
  {
    /** The principal of a token; none if the token is unknown. Tokens are compared in constant time. */
    readonly principal: (token: string) => Option.Option<Principal>
    /** The host's own token, which grants all rights. It is stored in `file`, which only its owner can read. */
    readonly own: Redacted.Redacted
    readonly file: string
    /** Creates a token, which is valid at once. Only its hash is stored. */
    readonly issue: Issued["issue"]
    /** Revokes all issued tokens of `login` at once. Returns their number. */
    readonly revoke: Issued["revoke"]
    /** Emits when the issued tokens may have changed. */
    readonly changes: Stream.Stream<void>
  }
>() {}

/** The hash of a token, and who has it. */
type Entry = readonly [hash: Buffer, principal: Principal]

const entry = (login: string, hash: Buffer, grants: ReadonlyArray<Grant>): Entry => [
  hash,
  { id: hash.toString("hex").slice(0, 16), login, grants }
]

/** How often the file of the issued tokens is looked at. */
const interval = "1 second"

/**
 * Stores the host's own token in `host-token`, with mode 0600. The issued tokens are those of `IssuedTokens`, which other
 * processes may change.
 */
export const layer = (options: TokensOptions) =>
  Layer.scoped(
    Tokens,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const file = path.join(options.directory, "host-token")

      const write = (target: string, content: string) =>
        Effect.gen(function* () {
          const draft = `${target}.${process.pid}.new`
          yield* fs.remove(draft, { force: true })
          yield* fs.writeFileString(draft, content, { mode: 0o600 })
          yield* fs.rename(draft, target)
        })

      yield* fs.makeDirectory(options.directory, { recursive: true, mode: 0o700 })
      const stored = (yield* fs.exists(file)) ? (yield* fs.readFileString(file)).trim() : ""
      const own =
        options.own === undefined ? stored || IssuedTokens.generateToken() : Redacted.value(options.own)
      if (own !== stored) yield* write(file, `${own}\n`)
      // The mode is set only if it differs, because a read-only disk refuses `chmod`.
      if (((yield* fs.stat(file)).mode & 0o777) !== 0o600) yield* fs.chmod(file, 0o600)

      const issued = MutableRef.make({
        version: undefined as string | undefined,
        entries: [] as ReadonlyArray<Entry>
      })
      const changes = yield* PubSub.sliding<void>(1)
      const use = (version: string | undefined, all: ReadonlyArray<IssuedTokens.StoredToken>) => {
        const entries = all.map(({ grants, hash, login }) => entry(login, Buffer.from(hash, "hex"), grants))
        MutableRef.set(issued, { version, entries })
        return Effect.asVoid(PubSub.publish(changes, undefined))
      }
      // One at a time: an older result must not replace a newer one.
      const reading = yield* Effect.makeSemaphore(1)
      // Written tokens are in use at once, also if another program damages the file. The next look at the file reads it
      // again, because another process may have changed it since.
      const tokens = yield* IssuedTokens.make(options.directory, (publish, all) =>
        reading.withPermits(1)(Effect.zipRight(publish, use("written", all)))
      )
      const read = Effect.gen(function* () {
        const version = yield* tokens.version
        yield* use(version, yield* tokens.list)
      }).pipe(reading.withPermits(1))
      yield* read
      const unreadable = MutableRef.make<string | undefined>(undefined)
      yield* Effect.gen(function* () {
        const version = yield* tokens.version
        if (version === MutableRef.get(issued).version) return
        yield* Effect.catchAll(read, ({ message }) =>
          MutableRef.get(unreadable) === version
            ? Effect.void
            : Effect.logWarning(`the issued tokens stay as they were: ${message}`)
        )
        MutableRef.set(unreadable, version)
      }).pipe(Effect.repeat(Schedule.spaced(interval)), Effect.forkScoped)

      const fixed = [
        entry("local", IssuedTokens.digest(own), [{ repository: "*", access: "write" }]),
        ...(options.given ?? []).map(({ grants, login, token }) =>
          entry(login, IssuedTokens.digest(Redacted.value(token)), grants)
        )
      ]

      return Tokens.of({
        own: Redacted.make(own),
        file,
        principal: (token) => {
          const asked = IssuedTokens.digest(token)
          let answer: Principal | undefined
          for (const [hash, principal] of [...fixed, ...MutableRef.get(issued).entries])
            if (timingSafeEqual(hash, asked)) answer ??= principal
          return Option.fromNullable(answer)
        },
        issue: tokens.issue,
        revoke: tokens.revoke,
        changes: Stream.fromPubSub(changes)
      })
    })
  )

/** The token of an `Authorization` header: of `Bearer`, `token` or either part of `Basic` credentials. */
export const fromHeader = (header: string | undefined): Option.Option<string> => {
  const match = /^(bearer|token|basic)\s+(\S+)\s*$/i.exec(header ?? "")
  if (match === null) return Option.none()
  if (match[1]!.toLowerCase() !== "basic") return Option.some(match[2]!)
  const credentials = Buffer.from(match[2]!, "base64").toString()
  const colon = credentials.indexOf(":")
  if (colon < 0) return Option.fromNullable(credentials || undefined)
  const [user, password] = [credentials.slice(0, colon), credentials.slice(colon + 1)]
  return Option.fromNullable((password === "" || password === "x-oauth-basic" ? user : password) || undefined)
}
