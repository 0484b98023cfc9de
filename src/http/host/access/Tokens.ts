import { hash as hashOf, randomBytes, timingSafeEqual } from "node:crypto"
import { FileSystem, Path } from "@effect/platform"
import { Context, Effect, Layer, MutableRef, Option, Redacted, Schema } from "effect"
import type { Principal } from "./Principal.js"

const Grant = Schema.Struct({ repository: Schema.String, access: Schema.Literal("read", "write") })

const StoredToken = Schema.Struct({
  login: Schema.String,
  hash: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)),
  grants: Schema.Array(Grant)
})
type StoredToken = typeof StoredToken.Type

const StoredTokens = Schema.parseJson(Schema.Array(StoredToken), { space: 2 })

/** An additional token. The layer keeps only its hash. */
export interface ExtraToken {
  readonly token: Redacted.Redacted
  readonly login: string
  readonly grants: ReadonlyArray<typeof Grant.Type>
}

export interface TokensOptions {
  /** The directory of the token files. It is created if it is missing. */
  readonly directory: string
  /** The host's own token. By default it is read from its file, or generated. */
  readonly own?: Redacted.Redacted | undefined
  readonly given?: ReadonlyArray<ExtraToken> | undefined
}

/** The access tokens of the host. */
export class Tokens extends Context.Tag("chainstore/http/host/Tokens")<
  Tokens,
  {
    /** The principal of a token; none if the token is unknown. Tokens are compared in constant time. */
    readonly principal: (token: string) => Option.Option<Principal>
    /** The host's own token, which grants all rights. It is stored in `file`, which only its owner can read. */
    readonly own: Redacted.Redacted
    readonly file: string
    /** Creates a token. Only its hash is stored. */
    readonly issue: (
      login: string,
      grants: ReadonlyArray<typeof Grant.Type>
    ) => Effect.Effect<Redacted.Redacted>
    /** Revokes all issued tokens of `login`. Returns their number. */
    readonly revoke: (login: string) => Effect.Effect<number>
  }
>() {}

const digest = (token: string) => hashOf("sha256", token, "buffer")

const generate = () => `chs_${randomBytes(30).toString("base64url")}`

const toPrincipal = (token: StoredToken): Principal => ({
  id: token.hash.slice(0, 16),
  login: token.login,
  grants: token.grants
})

/**
 * Stores the host's own token in `host-token` and the hashes of issued tokens in `host-tokens.json`, both with mode
 * 0600.
 */
export const layer = (options: TokensOptions) =>
  Layer.effect(
    Tokens,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const file = path.join(options.directory, "host-token")
      const further = path.join(options.directory, "host-tokens.json")

      const write = (target: string, content: string) =>
        Effect.gen(function* () {
          const draft = `${target}.${process.pid}.new`
          yield* fs.remove(draft, { force: true })
          yield* fs.writeFileString(draft, content, { mode: 0o600 })
          yield* fs.rename(draft, target)
        })

      yield* fs.makeDirectory(options.directory, { recursive: true, mode: 0o700 })
      const stored = (yield* fs.exists(file)) ? (yield* fs.readFileString(file)).trim() : ""
      const own = options.own === undefined ? stored || generate() : Redacted.value(options.own)
      if (own !== stored) yield* write(file, `${own}\n`)
      // The mode is set only if it differs, because a read-only disk refuses `chmod`.
      if (((yield* fs.stat(file)).mode & 0o777) !== 0o600) yield* fs.chmod(file, 0o600)

      const issued = MutableRef.make<ReadonlyArray<StoredToken>>(
        (yield* fs.exists(further))
          ? yield* Schema.decodeUnknown(StoredTokens)(yield* fs.readFileString(further))
          : []
      )
      const save = yield* Effect.makeSemaphore(1)
      const change = <A>(
        next: (all: ReadonlyArray<StoredToken>) => readonly [A, ReadonlyArray<StoredToken>]
      ) =>
        save
          .withPermits(1)(
            Effect.gen(function* () {
              const [result, all] = next(MutableRef.get(issued))
              yield* write(further, yield* Schema.encode(StoredTokens)(all))
              MutableRef.set(issued, all)
              return result
            })
          )
          .pipe(Effect.orDie) // The directory was writable when the layer was built, so a failure here is a defect.

      const fixed: ReadonlyArray<StoredToken> = [
        { login: "local", hash: digest(own).toString("hex"), grants: [{ repository: "*", access: "write" }] },
        ...(options.given ?? []).map(({ token, login, grants }) => ({
          login,
          hash: digest(Redacted.value(token)).toString("hex"),
          grants
        }))
      ]
      const byHash = new Map<string, readonly [Buffer, Principal]>()
      const entry = (token: StoredToken) => {
        const found = byHash.get(token.hash)
        if (found !== undefined) return found
        const hashed = [Buffer.from(token.hash, "hex"), toPrincipal(token)] as const
        byHash.set(token.hash, hashed)
        return hashed
      }

      return Tokens.of({
        own: Redacted.make(own),
        file,
        principal: (token) => {
          const asked = digest(token)
          let answer: Principal | undefined
          for (const all of [fixed, MutableRef.get(issued)]) {
            for (const candidate of all) {
              const [hash, principal] = entry(candidate)
              if (timingSafeEqual(hash, asked)) answer ??= principal
            }
          }
          return Option.fromNullable(answer)
        },
        issue: (login, grants) =>
          change((all) => {
            const token = generate()
            return [Redacted.make(token), [...all, { login, hash: digest(token).toString("hex"), grants }]]
          }),
        revoke: (login) =>
          change((all) => {
            const kept = all.filter((token) => token.login !== login)
            return [all.length - kept.length, kept]
          })
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
