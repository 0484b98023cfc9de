import * as HttpClient from "@effect/platform/HttpClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type AuthError, ValidationError } from "../../../../domain/errors/StoreError.js"
import {
  atLeast,
  duration,
  type FieldsOf,
  flag,
  oneOf,
  optional,
  optionsReader,
  person,
  secret,
  text,
  valueKind,
  wholeNumber,
  withDefault
} from "../../../../domain/options/Options.js"
import type { DurationInput } from "../../../../domain/time/DurationInput.js"
import type { Signature } from "../../GitRemote.js"
import { type Address, isGitHubCloud, makeAddress } from "./Address.js"
import { isHeaderValue } from "./HeaderValue.js"

/**
 * The value of an `Authorization` header and its expiry.
 *
 * @since 0.1.0
 * @category models
 */
export interface Authorization {
  /** The value of the `authorization` header. */
  readonly header: Redacted.Redacted<string>
  /** When it expires; absent: never. */
  readonly expiresAt?: Date | undefined
}

/**
 * Limits on content-creating requests and points; `Infinity`: no limit.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteLane {
  /** The maximum number of writes in a minute. */
  readonly perMinute: number
  /** The maximum number of writes in an hour. */
  readonly perHour: number
  /** The maximum number of points in a minute for each endpoint: a read is 1 point, a write 5. */
  readonly pointsPerMinute: number
}

/**
 * How commits are sent.
 *
 * @since 0.1.0
 * @category models
 */
export type CommitVia = (typeof carriers)[number]

/** The values of `commitVia`. */
export const carriers = ["git-data", "graphql", "push"] as const

/**
 * The repository on GitHub, GitHub Enterprise or a compatible host, and how to access it.
 *
 * @since 0.1.0
 * @category options
 */
export interface GitHubOptions {
  /** `owner/name`. */
  readonly repo: string
  /** Sent to `apiUrl` only, never to the target of a redirect. */
  readonly token?: Redacted.Redacted<string> | undefined
  /** An effect that yields an `Authorization` header. It runs again a minute before the header expires, and when it is refused. */
  readonly auth?: Effect.Effect<Authorization, AuthError> | undefined
  /** Default `https://api.github.com`; `https://HOST/api/v3` for an Enterprise server. GraphQL's address follows from it. */
  readonly apiUrl?: string | undefined
  /** Default `https://raw.githubusercontent.com`. Never gets the token. */
  readonly rawUrl?: string | undefined
  /** Sends every request instead of the layer's `HttpClient`: a proxy, a recorder, a client that signs requests. */
  readonly session?: HttpClient.HttpClient | undefined
  /** Retries of a request after a limit, a 5xx or a broken connection. Default 3. */
  readonly maxRetries?: number | undefined
  /** First step of the exponential backoff. Default 500 ms. */
  readonly backoffFactor?: DurationInput | undefined
  /** The time limit of one request. Default 30 s. */
  readonly timeout?: DurationInput | undefined
  /** The longest wait for a rate limit. A longer one fails at once with `RateLimitError`. Default 60 s. */
  readonly maxWait?: DurationInput | undefined
  /** The time limit of one operation with all its requests and waits. Default 5 min. */
  readonly deadline?: DurationInput | undefined
  /** Requests in flight of one bulk read. Default 1. */
  readonly concurrency?: number | undefined
  /** Reads many documents by GraphQL, which needs a token. Default false. */
  readonly useGraphql?: boolean | undefined
  /** Lookups in one GraphQL request. Default 50. */
  readonly graphqlBatchSize?: number | undefined
  /** Larger documents, in bytes, are written by the Git Data API. Default 900,000. */
  readonly contentsMaxBytes?: number | undefined
  /** Spreads requests over the rate limit window once too many were used early, and applies `writeLane`. Default true. */
  readonly paceRequests?: boolean | undefined
  /**
   * Default 80 a minute, 500 an hour, 900 points a minute: the limits of github.com and ghe.com. On other hosts it applies
   * only if it is given, or if the host's headers are those of github.com.
   */
  readonly writeLane?: Partial<WriteLane> | undefined
  /** Reads documents from `rawUrl` without a token. Writes fail with `AuthError`. Default false. */
  readonly readOnly?: boolean | undefined
  /** A fixed commit or tag instead of the branch; implies `readOnly`. */
  readonly ref?: string | undefined
  /** A read-only store stays at the head of its first read; false: it reads by branch name, minutes stale. Default true. */
  readonly pinRef?: boolean | undefined
  /** The committer of every commit. Default: GitHub's choice for the token. */
  readonly committer?: Signature | undefined
  /** The author of every commit. Default: GitHub's choice for the token. */
  readonly author?: Signature | undefined
  /**
   * `graphql`: one request; the host signs the commit, so `author` and `committer` cannot be given. `push`: by Git's own
   * protocol; one request for the commits of all waiting callers, which the API's limits do not count; needs Node, Git 2.39,
   * and `GitHub.layer` or `GitHub.scoped`. Default `git-data`.
   */
  readonly commitVia?: CommitVia | undefined
  /** With `commitVia: "push"`: the shortest time between the starts of two pushes. Default 10 s on github.com, else 0. */
  readonly pushInterval?: DurationInput | undefined
  /** With `commitVia: "push"`: the directory of a bare repository for the objects of commits. Default: a temporary one. */
  readonly cacheDirectory?: string | undefined
  /**
   * `contents` reads a directory by the Contents API. That API silently truncates at 1,000 entries; such a directory is read
   * by its tree. Default `trees`.
   */
  readonly listVia?: "trees" | "contents" | undefined
  /** Default `chainstore`; never sent by a browser. */
  readonly userAgent?: string | undefined
  /** The size of the object cache in memory. Default 64 MiB. */
  readonly objectCacheBytes?: number | undefined
}

/** The options with defaults filled in. */
export interface Settings {
  readonly address: Address
  readonly token: Option.Option<Redacted.Redacted<string>>
  readonly auth: Option.Option<Effect.Effect<Authorization, AuthError>>
  readonly session: Option.Option<HttpClient.HttpClient>
  readonly maxRetries: number
  readonly backoffFactor: Duration.Duration
  readonly timeout: Duration.Duration
  readonly maxWait: Duration.Duration
  readonly deadline: Duration.Duration
  readonly concurrency: number
  readonly useGraphql: boolean
  readonly graphqlBatchSize: number
  readonly contentsMaxBytes: number
  readonly paceRequests: boolean
  readonly writeLane: WriteLane
  /** Whether the host is known to limit how much content a client creates. */
  readonly contentLimits: boolean
  readonly readOnly: boolean
  readonly ref: Option.Option<string>
  readonly pinRef: boolean
  readonly committer: Signature | undefined
  readonly author: Signature | undefined
  readonly commitVia: CommitVia
  readonly pushInterval: Duration.Duration | undefined
  readonly cacheDirectory: string | undefined
  readonly listVia: "trees" | "contents"
  readonly userAgent: string
  readonly objectCacheBytes: number
}

export const invalid = (message: string, hint?: string) =>
  new ValidationError({ operation: "GitHub.layer", message, hint })

const own = <A>(wanted: string, id: symbol, hint?: string) =>
  valueKind<A>(wanted, (value) => isObject(value) && id in value, hint === undefined ? {} : { hint })

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function"

const lane: WriteLane = { perMinute: 80, perHour: 500, pointsPerMinute: 900 }

/** The schemas of the options. */
export const gitHubFields = {
  repo: text,
  token: optional(secret),
  auth: optional(
    own<Effect.Effect<Authorization, AuthError>>("an Effect of an Authorization", Effect.EffectTypeId)
  ),
  apiUrl: optional(text),
  rawUrl: optional(text),
  session: optional(own<HttpClient.HttpClient>("an HttpClient", HttpClient.TypeId)),
  maxRetries: withDefault(wholeNumber(0), 3),
  backoffFactor: withDefault(duration(), Duration.millis(500)),
  timeout: withDefault(duration({ positive: true }), Duration.seconds(30)),
  maxWait: withDefault(duration(), Duration.seconds(60)),
  deadline: withDefault(duration({ positive: true }), Duration.minutes(5)),
  concurrency: withDefault(wholeNumber(1), 1),
  useGraphql: withDefault(flag, false),
  graphqlBatchSize: withDefault(wholeNumber(1), 50),
  contentsMaxBytes: withDefault(wholeNumber(0), 900_000),
  paceRequests: withDefault(flag, true),
  writeLane: withDefault(
    Schema.Struct({
      perMinute: withDefault(atLeast(1), lane.perMinute),
      perHour: withDefault(atLeast(1), lane.perHour),
      pointsPerMinute: withDefault(atLeast(5), lane.pointsPerMinute)
    }),
    lane
  ),
  readOnly: withDefault(flag, false),
  ref: optional(text),
  pinRef: withDefault(flag, true),
  committer: optional(person),
  author: optional(person),
  commitVia: withDefault(oneOf(...carriers), "git-data"),
  pushInterval: optional(duration()),
  cacheDirectory: optional(text),
  listVia: withDefault(oneOf("trees", "contents"), "trees"),
  userAgent: withDefault(text, "chainstore"),
  objectCacheBytes: withDefault(atLeast(0), 64 * 1024 * 1024)
} satisfies FieldsOf<GitHubOptions>

const read = optionsReader(Schema.Struct(gitHubFields))

/** Checks the options and fills in defaults. */
export const resolveOptions = (given: GitHubOptions): Effect.Effect<Settings, ValidationError> =>
  Effect.gen(function* () {
    const options = yield* read("GitHub.layer", given)
    const address = yield* makeAddress(options)
    const authenticated = options.token ?? options.auth ?? options.session
    if (options.commitVia === "graphql" && (options.author ?? options.committer) !== undefined) {
      return yield* invalid(
        'commitVia: "graphql" commits as the token\'s owner: author and committer cannot be chosen',
        'leave them out, or use commitVia: "git-data"'
      )
    }
    if (options.commitVia !== "push" && (options.pushInterval ?? options.cacheDirectory) !== undefined) {
      return yield* invalid('pushInterval and cacheDirectory need commitVia: "push"')
    }
    for (const name of ["author", "committer"] as const) {
      if (options[name]?.email.trim() === "") {
        return yield* invalid(`${name} needs both a name and an email`)
      }
    }
    if (!isHeaderValue(options.userAgent)) {
      return yield* invalid(
        "userAgent must be visible ASCII, which GitHub asks for",
        "name your program: my-program/1.0"
      )
    }
    const token =
      options.token === undefined ? undefined : Redacted.make(Redacted.value(options.token).trim())
    if (token !== undefined && !isHeaderValue(Redacted.value(token))) {
      return yield* invalid(
        "the token is empty, or holds characters that no header can carry",
        "it was copied with a line break or a typographic quote"
      )
    }
    return {
      ...options,
      address,
      token: Option.fromNullable(token),
      auth: Option.fromNullable(options.auth),
      session: Option.fromNullable(options.session),
      useGraphql: options.useGraphql && authenticated !== undefined,
      contentLimits: given.writeLane !== undefined || isGitHubCloud(address),
      readOnly: options.readOnly || options.ref !== undefined,
      ref: Option.fromNullable(options.ref),
      committer: options.committer,
      author: options.author,
      pushInterval: options.pushInterval,
      cacheDirectory: options.cacheDirectory
    }
  })
