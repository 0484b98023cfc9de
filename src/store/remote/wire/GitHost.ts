import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type AuthError, RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import {
  duration,
  type FieldsOf,
  optional,
  optionsReader,
  person,
  secret,
  text,
  valueKind,
  wholeNumber,
  withDefault
} from "../../../domain/options/Options.js"
import type { DurationInput } from "../../../domain/time/DurationInput.js"
import type { CommitInfo } from "../../../git/Commit.js"
import * as Clone from "../../../git/clone/Clone.js"
import * as Ssh from "../../../git/clone/SshTransport.js"
import * as SmartHttp from "../../../git/protocol/SmartHttpTransport.js"
import type { Transport } from "../../../git/protocol/Transport.js"
import type { Repository } from "../../../git/Repository.js"
import { withMark, withoutMark } from "../CommitMark.js"
import {
  type Estimate,
  GitRemote,
  type GitRemoteService,
  type RemoteFailure,
  type Signature
} from "../GitRemote.js"
import { makeRepositoryRemote } from "../repository/RepositoryRemote.js"
import { withWriteRights } from "../repository/WriteRights.js"
import { countedTransport, countingPushes } from "./Counting.js"
import * as GitAddress from "./GitAddress.js"

/**
 * The repository on a Git server, and how to access it.
 *
 * @since 0.1.0
 * @category options
 */
export interface GitHostOptions {
  /** The URL for `git clone`: `https://HOST/PATH`, `ssh://USER@HOST/PATH` or `USER@HOST:PATH`; `http://` on this machine only. */
  readonly url: string
  /** The user of the token. Default `git`; some servers need another one, GitHub `x-access-token`. */
  readonly username?: string | undefined
  /** Sent as the password of HTTP's basic authentication, to this origin only. */
  readonly token?: Redacted.Redacted<string> | undefined
  /** An effect that yields the `Authorization` header and runs for each request. Instead of a token. */
  readonly auth?: Effect.Effect<Redacted.Redacted<string>, AuthError> | undefined
  /** The bare repository for fetched objects. Default: a temporary one, removed at the end. */
  readonly cache?: { readonly directory: string } | undefined
  /** Sends every request instead of the platform's `fetch`. */
  readonly session?: HttpClient.HttpClient | undefined
  /** For addresses of ssh: a private key, and a file instead of `~/.ssh/config`. Default: what `ssh` itself finds. */
  readonly ssh?:
    | { readonly identityFile?: string | undefined; readonly configFile?: string | undefined }
    | undefined
  /** The time limit for a reply, and for each next chunk of it. Default 30 s. */
  readonly timeout?: DurationInput | undefined
  /** Retries of a request after a broken connection. Default 3. */
  readonly maxRetries?: number | undefined
  /** The largest size of one fetch in bytes. Default 2 GiB. */
  readonly maxFetch?: number | undefined
  /**
   * The filter of fetches, as for `git clone --filter`. Default `blob:none`: a file is fetched when it is first read. With
   * `none` a commit is fetched with all its files, which saves a request if most of the repository is read.
   */
  readonly filter?: "blob:none" | "none" | undefined
  /**
   * The shortest time between the starts of two pushes. Commits of all callers that arrive meanwhile share the next one.
   * Default 10 s on github.com, which recommends at most 6 pushes a minute, and nothing elsewhere.
   */
  readonly pushInterval?: DurationInput | undefined
  /** The author and committer of commits that name none. Default `Chainstore <chainstore@localhost>`. */
  readonly signature?: Signature | undefined
}

/**
 * The schemas of the options.
 *
 * @since 0.1.0
 * @category rules
 */
export const gitHostFields = {
  url: text,
  username: withDefault(text, "git"),
  token: optional(secret),
  auth: optional(
    valueKind<Effect.Effect<Redacted.Redacted<string>, AuthError>>("an effect", Effect.isEffect)
  ),
  cache: optional(Schema.Struct({ directory: text })),
  session: optional(
    valueKind<HttpClient.HttpClient>(
      "an HttpClient",
      (value) => typeof value === "function" || typeof value === "object"
    )
  ),
  ssh: optional(Schema.Struct({ identityFile: optional(text), configFile: optional(text) })),
  timeout: optional(duration({ positive: true })),
  maxRetries: withDefault(wholeNumber(0), 3),
  maxFetch: withDefault(wholeNumber(1), 2 * 1024 ** 3),
  filter: withDefault(Schema.Literal("blob:none", "none"), "blob:none"),
  pushInterval: optional(duration()),
  signature: optional(person)
} satisfies FieldsOf<GitHostOptions>

const operation = "GitHost.layer"
const read = optionsReader(Schema.Struct(gitHostFields))

const wrong = (message: string, hint: string) => new ValidationError({ operation, message, hint })

/** Adds marks to the commits of a repository, by which each writer recognizes its own, and hides them from readers. */
const withMarks = (repository: Repository<Clone.CloneFailure>): Repository<Clone.CloneFailure> => {
  const plain = (info: CommitInfo): CommitInfo => ({ ...info, message: withoutMark(info.message) })
  return {
    ...repository,
    commit: (oid) => Effect.map(repository.commit(oid), Option.map(plain)),
    log: (from, how) => Stream.map(repository.log(from, how), plain),
    commitNext: (branch, build) =>
      repository.commitNext(branch, (head) =>
        Effect.flatMap(build(head), (built) =>
          Option.isNone(built.commit)
            ? Effect.succeed(built)
            : Effect.map(withMark(built.commit.value.message), (message) => ({
                ...built,
                commit: Option.map(built.commit, (commit) => ({ ...commit, message }))
              }))
        )
      )
  }
}

/** The requests of a store that has read before: one for the head, one for new objects. */
const estimate = (of: Estimate): number =>
  // A proposal: its branch, its edits, and the commit that describes it.
  of._tag === "Read" ? 1 + Math.ceil(of.documents / 10_000) : of._tag === "Propose" ? 3 : 1

/** Whether the server lets these credentials push, as far as its reply shows. */
const mayPush = (transport: Transport): Effect.Effect<Option.Option<boolean>> =>
  transport.advertisement("git-receive-pack").pipe(
    Effect.as(Option.some(true)),
    Effect.catchTag("AuthError", () => Effect.succeedSome(false)),
    Effect.orElseSucceed(() => Option.none())
  )

const temporary: Effect.Effect<string, RemoteError, Scope.Scope> = Effect.acquireRelease(
  Effect.try({
    try: () => fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-clone-")),
    catch: (cause) =>
      new RemoteError({
        operation,
        reason: "Denied",
        path: os.tmpdir(),
        message: `no directory for fetched objects can be created in ${os.tmpdir()}: ${String(cause)}`,
        hint: "give one as `cache: { directory }`",
        cause
      })
  }),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

/**
 * The remote of `layer` as a scoped value.
 *
 * @since 0.1.0
 * @category constructors
 */
export const scoped = (
  options: GitHostOptions
): Effect.Effect<GitRemoteService, RemoteFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const settings = yield* read(operation, options)
    const address = GitAddress.parse(settings.url)
    if (address instanceof ValidationError) return yield* address
    const {
      auth,
      filter,
      maxFetch,
      maxRetries,
      pushInterval,
      session,
      signature,
      ssh,
      timeout,
      token,
      username
    } = settings
    if (auth !== undefined && token !== undefined) {
      return yield* wrong("both a token and an `auth` effect are given", "give one of them")
    }
    if (/[:\p{Cc}]/u.test(username))
      return yield* wrong("the user name has a colon or a control character", "check it")
    const authorization =
      auth !== undefined
        ? Effect.map(auth, Option.some)
        : Effect.succeed(
            Option.map(Option.fromNullable(token), (secret) =>
              Redacted.make(`Basic ${Encoding.encodeBase64(`${username}:${Redacted.value(secret)}`)}`)
            )
          )
    const agent = "chainstore"
    const wait = timeout ?? Duration.seconds(30)
    if (address._tag === "Ssh" && [auth, token, session, options.username].some((one) => one !== undefined)) {
      return yield* wrong(
        "ssh takes no token, user name or session",
        "put the user into the address; ssh's own keys say who it is"
      )
    }
    if (address._tag === "Http" && ssh !== undefined) {
      return yield* wrong(`${settings.url} is not reached by ssh`, "leave out `ssh`")
    }
    const client = session ?? (yield* Effect.provide(HttpClient.HttpClient, FetchHttpClient.layer))
    const url = address._tag === "Http" ? address.url.href : address.url
    const transport = countedTransport(
      address._tag === "Http"
        ? SmartHttp.make({ url, authorization, userAgent: agent, timeout: wait, client })
        : Ssh.make({ url, address: address.address, timeout: wait, ...ssh })
    )
    const directory =
      settings.cache === undefined
        ? path.join(yield* temporary, "clone.git")
        : path.resolve(settings.cache.directory)
    const { hostname, pathname } =
      address._tag === "Http" ? address.url : { hostname: address.host, pathname: `/${address.path}` }
    const repository = yield* countingPushes(
      Clone.open({
        url,
        transport,
        agent,
        directory,
        signature,
        maxRetries,
        maxPackBytes: maxFetch,
        filter: filter === "blob:none",
        pushInterval: pushInterval ?? Duration.seconds(hostname === "github.com" ? 10 : 0)
      })
    )
    const repo = /([^/]+)\/([^/]+?)(?:\.git)?$/.exec(pathname)
    const remote = makeRepositoryRemote(withMarks(repository), {
      name: url,
      ...(repo === null ? {} : { repo: `${repo[1]}/${repo[2]}` })
    })
    return {
      ...withWriteRights(remote, (isAsked) => (isAsked ? mayPush(transport) : Effect.succeedNone)),
      estimate
    }
  })

/**
 * A remote over Git's own protocol, for GitLab, Gitea, Forgejo, Bitbucket, or a plain server. Each write is a push with the
 * expected head of the branch, so no write of another client is lost.
 *
 * @example
 * ```ts
 * const remote = GitHost.layer({ url: "https://git.example.org/me/data.git", token: Redacted.make("...") })
 * const live = Store.layer().pipe(Layer.provide(remote))
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: GitHostOptions): Layer.Layer<GitRemote, RemoteFailure> =>
  Layer.scoped(GitRemote, scoped(options))

/**
 * The layer with options from configuration.
 *
 * @example
 * ```ts
 * const remote = GitHost.layerConfig({ url: Config.string("GIT_URL"), token: Config.redacted("GIT_TOKEN") })
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<GitHostOptions>
): Layer.Layer<GitRemote, RemoteFailure | ConfigError.ConfigError> =>
  Layer.scoped(GitRemote, Effect.flatMap(Config.unwrap(options), scoped))
