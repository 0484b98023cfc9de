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
 * The value of an `Authorization` header, and until when it holds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Authorization {
  /** The value of the `authorization` header. */
  readonly header: Redacted.Redacted<string>
  /** When it stops being valid; absent: never. */
  readonly expiresAt?: Date | undefined
}

/**
 * How many content-creating requests and points a client allows itself; `Infinity` lifts a bound.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteLane {
  /** Writes in one minute, at most. */
  readonly perMinute: number
  /** Writes in one hour, at most. */
  readonly perHour: number
  /** Per endpoint: a read is 1 point, a write 5. */
  readonly pointsPerMinute: number
}

/**
 * What carries a commit.
 *
 * @since 0.1.0
 * @category models
 */
export type CommitVia = (typeof carriers)[number]

/** Their names. */
export const carriers = ["git-data", "graphql", "push"] as const

/**
 * Where a repository of GitHub, GitHub Enterprise or our own host lies, and how to treat it.
 *
 * @since 0.1.0
 * @category options
 */
export interface GitHubOptions {
  /** `owner/name`. */
  readonly repo: string
  /** Sent to `apiUrl` alone, and to no address that a reply redirects to. */
  readonly token?: Redacted.Redacted<string> | undefined
  /** Any effect that yields an `Authorization` header; asked again a minute before the header expires, and when it is refused. */
  readonly auth?: Effect.Effect<Authorization, AuthError> | undefined
  /** Default `https://api.github.com`; `https://HOST/api/v3` for an Enterprise server. GraphQL's address follows from it. */
  readonly apiUrl?: string | undefined
  /** Default `https://raw.githubusercontent.com`. Never gets the token. */
  readonly rawUrl?: string | undefined
  /** Carries every request instead of the layer's `HttpClient`: a proxy, a recorder, a client that signs requests. */
  readonly session?: HttpClient.HttpClient | undefined
  /** Retries of a request after a limit, a 5xx or a broken connection. Default 3. */
  readonly maxRetries?: number | undefined
  /** First step of the exponential backoff. Default 500 ms. */
  readonly backoffFactor?: DurationInput | undefined
  /** Of one request. Default 30 s. */
  readonly timeout?: DurationInput | undefined
  /** Advice to wait longer than this fails at once with `RateLimitError`. Default 60 s. */
  readonly maxWait?: DurationInput | undefined
  /** Of one operation with all its requests and waits. Default 5 min. */
  readonly deadline?: DurationInput | undefined
  /** Requests in flight of one bulk read. Default 1. */
  readonly concurrency?: number | undefined
  /** Reads many documents by GraphQL, which needs a token. Default false. */
  readonly useGraphql?: boolean | undefined
  /** Lookups in one GraphQL request. Default 50. */
  readonly graphqlBatchSize?: number | undefined
  /** Above this many bytes a document is written as a Git object. Default 900,000. */
  readonly contentsMaxBytes?: number | undefined
  /** Spreads what is left of the quota once use runs ahead of the clock, and keeps to `writeLane`. Default true. */
  readonly paceRequests?: boolean | undefined
  /**
   * Default 80 a minute, 500 an hour, 900 points a minute: what GitHub allows on github.com and ghe.com. On other hosts
   * it applies only if it is given here, or if the host's headers are those of github.com.
   */
  readonly writeLane?: Partial<WriteLane> | undefined
  /** Documents come from `rawUrl` without a token; writes fail with `AuthError`. Default false. */
  readonly readOnly?: boolean | undefined
  /** A fixed commit or tag instead of the branch; implies `readOnly`. */
  readonly ref?: string | undefined
  /** Read-only stores read the commit that the branch was at when first asked; else by branch name, minutes stale. Default true. */
  readonly pinRef?: boolean | undefined
  /** The committer of every commit. Default: GitHub's choice for the token. */
  readonly committer?: Signature | undefined
  /** The author of every commit. Default: GitHub's choice for the token. */
  readonly author?: Signature | undefined
  /**
   * `graphql`: one request, signed by the host, which rules out `author` and `committer`. `push`: by Git's own protocol,
   * the commits of all callers that wait in one request, which the API's limits do not count; needs Node, Git 2.39, and
   * `GitHub.layer` or `GitHub.scoped`. Default `git-data`.
   */
  readonly commitVia?: CommitVia | undefined
  /** With `commitVia: "push"`, between the beginnings of two pushes to the repository. Default 10 s on github.com, else 0. */
  readonly pushInterval?: DurationInput | undefined
  /** With `commitVia: "push"`, where the objects of commits are kept: a bare repository. Default: a temporary one. */
  readonly cacheDirectory?: string | undefined
  /**
   * `contents` reads a directory by the Contents API, as the console's documentation says, and by its tree only
   * from 1,000 entries on, where that API stops without a word. Default `trees`.
   */
  readonly listVia?: "trees" | "contents" | undefined
  /** Default `chainstore`; never sent by a browser. */
  readonly userAgent?: string | undefined
  /** Objects kept in memory by their ids. Default 64 MiB. */
  readonly objectCacheBytes?: number | undefined
}

/** Options with every default decided. */
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

/** The options of a repository behind GitHub's API, as they are read. */
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

/** Checks the options and fills in what was left out. */
export const resolveOptions = (given: GitHubOptions): Effect.Effect<Settings, ValidationError> =>
  Effect.gen(function* () {
    const options = yield* read("GitHub.layer", given)
    const address = yield* makeAddress(options)
    const authenticated = options.token ?? options.auth ?? options.session
    if (options.commitVia === "graphql" && (options.author ?? options.committer) !== undefined) {
      return yield* Effect.fail(
        invalid(
          'commitVia: "graphql" commits as the token\'s owner: author and committer cannot be chosen',
          'leave them out, or use commitVia: "git-data"'
        )
      )
    }
    if (options.commitVia !== "push" && (options.pushInterval ?? options.cacheDirectory) !== undefined) {
      return yield* Effect.fail(invalid('pushInterval and cacheDirectory need commitVia: "push"'))
    }
    for (const name of ["author", "committer"] as const) {
      if (options[name]?.email.trim() === "") {
        return yield* Effect.fail(invalid(`${name} needs both a name and an email`))
      }
    }
    if (!isHeaderValue(options.userAgent)) {
      return yield* Effect.fail(
        invalid("userAgent must be visible ASCII, which GitHub asks for", "name your program: my-program/1.0")
      )
    }
    const token =
      options.token === undefined ? undefined : Redacted.make(Redacted.value(options.token).trim())
    if (token !== undefined && !isHeaderValue(Redacted.value(token))) {
      return yield* Effect.fail(
        invalid(
          "the token is empty, or holds characters that no header can carry",
          "it was copied with a line break or a typographic quote"
        )
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
