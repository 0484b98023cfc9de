import { hash as hashOf, randomBytes } from "node:crypto"
import { FileSystem, Path } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, identity, Option, ParseResult, Redacted, Schedule, Schema } from "effect"
import { NotFoundError, RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { Grant } from "./Principal.js"

const StoredGrant = Schema.Struct({ repository: Schema.String, access: Schema.Literal("read", "write") })

/** A token in the file. */
export class StoredToken extends Schema.Class<StoredToken>("StoredToken")({
  login: Schema.String,
  /** SHA-256 of the token, in hexadecimal digits. */
  hash: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)),
  grants: Schema.Array(StoredGrant)
}) {}

const StoredTokens = Schema.parseJson(Schema.Array(StoredToken), { space: 2 })

export const digest = (token: string): Buffer => hashOf("sha256", token, "buffer")

export const generateToken = (): string => `chs_${randomBytes(30).toString("base64url")}`

const operation = "host.tokens"

const invalid = (message: string, hint: string) =>
  Effect.fail(new ValidationError({ operation, message, hint }))

const checkGrants = (login: string, grants: ReadonlyArray<Grant>): Effect.Effect<void, ValidationError> => {
  if (!/^[a-z\d](?:[a-z\d-]{0,37}[a-z\d])?$/i.test(login))
    return invalid(
      `${JSON.stringify(login)} is not a login`,
      "a login has up to 39 letters, digits and hyphens, and a hyphen neither first nor last"
    )
  if (grants.length === 0) return invalid("the token would grant nothing", "name at least one repository")
  const wrong = grants.find(({ repository }) => !/^(?:\*|[^\s/*]+\/(?:\*|[^\s/*]+))$/.test(repository))
  return wrong === undefined
    ? Effect.void
    : invalid(`${JSON.stringify(wrong.repository)} names no repositories`, "use owner/name, owner/* or *")
}

type FileError = NotFoundError | PlatformError | RemoteError | ValidationError

/** How long a change waits for another process that changes the file. */
const retries = Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(40))

/**
 * The issued tokens of a data directory, in its file `host-tokens.json`, which has their hashes and which only its owner
 * can read. Several processes may change it: each creates `host-tokens.json.lock`, writes it, and renames it to the file.
 * `publishing` runs the effect that makes a change of this process visible, and receives all its tokens.
 */
export const make = (
  directory: string,
  publishing: <E>(
    publish: Effect.Effect<void, E>,
    all: ReadonlyArray<StoredToken>
  ) => Effect.Effect<void, E> = identity
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const file = path.join(directory, "host-tokens.json")
    const lock = `${file}.lock`

    const list: Effect.Effect<ReadonlyArray<StoredToken>, PlatformError | ValidationError> = fs
      .readFileString(file)
      .pipe(
        Effect.flatMap(Schema.decodeUnknown(StoredTokens)),
        Effect.catchTags({
          SystemError: (error) => (error.reason === "NotFound" ? Effect.succeed([]) : Effect.fail(error)),
          ParseError: (error) => {
            const [first] = ParseResult.ArrayFormatter.formatErrorSync(error)
            const where = [file, ...(first?.path ?? [])].join(" ")
            return invalid(
              `${where} is not valid: ${first?.message.replace(/\s+/g, " ")}`,
              "correct the file, or move it away: its tokens are then invalid, and can be created again with `chainstore token`"
            )
          }
        })
      )

    /** A value that differs after each change of the file; undefined if there is no file. */
    const version = fs.stat(file).pipe(
      Effect.map(({ ino, mtime, size }) =>
        [Option.getOrElse(ino, () => 0), Number(Option.getOrElse(mtime, () => 0)), size].join(":")
      ),
      Effect.orElseSucceed(() => undefined)
    )

    const openLock = fs.open(lock, { flag: "wx", mode: 0o600 }).pipe(
      Effect.retry({
        schedule: retries,
        while: (error) => error._tag === "SystemError" && error.reason === "AlreadyExists"
      }),
      Effect.catchTag("SystemError", (error): Effect.Effect<never, FileError> => {
        if (error.reason === "AlreadyExists")
          return new RemoteError({
            operation,
            reason: "Locked",
            message: `another process changes the tokens: ${lock} exists`,
            hint: "if no process does, remove that file"
          })
        if (error.reason === "NotFound")
          return new NotFoundError({
            operation,
            message: `there is no data directory ${directory}`,
            hint: "start the service once, or set CHAINSTORE_DATA"
          })
        return Effect.fail(error)
      })
    )

    const change = <A>(
      next: (all: ReadonlyArray<StoredToken>) => readonly [A, ReadonlyArray<StoredToken>]
    ): Effect.Effect<A, FileError> =>
      Effect.gen(function* () {
        const draft = yield* openLock
        let isRenamed = false
        yield* Effect.addFinalizer(() => (isRenamed ? Effect.void : Effect.ignore(fs.remove(lock))))
        const [result, all] = next(yield* list)
        yield* draft.writeAll(Buffer.from(Schema.encodeSync(StoredTokens)(all)))
        yield* draft.sync
        // The host, which runs as the directory's owner, must be able to read what root has changed.
        if (process.getuid?.() === 0) {
          const { gid, uid } = yield* fs.stat(directory)
          yield* fs.chown(
            lock,
            Option.getOrElse(uid, () => 0),
            Option.getOrElse(gid, () => 0)
          )
        }
        const rename = Effect.map(fs.rename(lock, file), () => {
          isRenamed = true
        })
        yield* publishing(rename, all)
        return result
      }).pipe(Effect.scoped, Effect.uninterruptible)

    return {
      file,
      list,
      version,
      /** Creates a token. Only its hash is stored. */
      issue: (login: string, grants: ReadonlyArray<Grant>): Effect.Effect<Redacted.Redacted, FileError> =>
        Effect.zipRight(
          checkGrants(login, grants),
          change((all) => {
            const token = generateToken()
            const stored = new StoredToken({ login, hash: digest(token).toString("hex"), grants })
            return [Redacted.make(token), [...all, stored]]
          })
        ),
      /** Revokes all tokens of a login. Returns their number. */
      revoke: (login: string): Effect.Effect<number, FileError> =>
        change((all) => {
          const kept = all.filter((token) => token.login.toLowerCase() !== login.toLowerCase())
          return [all.length - kept.length, kept]
        })
    }
  })
