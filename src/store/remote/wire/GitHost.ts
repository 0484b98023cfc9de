import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { DurationInput } from "../../../domain/DurationInput.js"
import {
  duration,
  type FieldsOf,
  kind,
  maybe,
  or,
  person,
  reader,
  secret,
  text,
  wholeNumber
} from "../../../domain/Options.js"
import { type AuthError, RemoteError, ValidationError } from "../../../domain/StoreError.js"
import type { CommitInfo } from "../../../git/Commit.js"
import * as Clone from "../../../git/clone/Clone.js"
import * as SmartHttp from "../../../git/protocol/SmartHttp.js"
import type { Repository } from "../../../git/Repository.js"
import { marked, withoutMark } from "../CommitMark.js"
import {
  type Estimate,
  GitRemote,
  type GitRemoteService,
  type RemoteFailure,
  type Signature
} from "../GitRemote.js"
import { remoteOf } from "../repository/RepositoryRemote.js"

/** Where a repository of any Git server lies, and how to treat it. */
export interface GitHostOptions {
  /** The address that `git clone` takes: `https://HOST/PATH`; `http://` on this machine alone. */
  readonly url: string
  /** The user of the token. Default `git`; some servers want another one, GitHub `x-access-token`. */
  readonly username?: string | undefined
  readonly token?: Redacted.Redacted<string> | undefined
  /** An effect that yields the value of the `Authorization` header, asked for with each request. Instead of a token. */
  readonly auth?: Effect.Effect<Redacted.Redacted<string>, AuthError> | undefined
  /** Where objects that were fetched are kept: a bare repository. Default: a temporary one, removed at the end. */
  readonly cache?: { readonly directory: string } | undefined
  /** Carries every request instead of the platform's `fetch`. */
  readonly session?: HttpClient.HttpClient | undefined
  /** Of a wait for an answer, and for each next piece of it. Default 30 s. */
  readonly timeout?: DurationInput | undefined
  /** Repetitions of a request after a broken connection. Default 3. */
  readonly maxRetries?: number | undefined
  /** Bytes that one fetch may bring. Default 2 GiB. */
  readonly maxFetch?: number | undefined
  /**
   * Between the beginnings of two pushes, at least: the commits of all callers that come meanwhile share the next one.
   * Default 10 s on github.com, which recommends at most 6 pushes a minute, and nothing elsewhere.
   */
  readonly pushInterval?: DurationInput | undefined
  /** Who commits, where a commit does not say. Default `Chainstore <chainstore@localhost>`. */
  readonly signature?: Signature | undefined
}

/** How the options are read. */
export const gitHostFields = {
  url: text,
  username: or(text, "git"),
  token: maybe(secret),
  auth: maybe(kind<Effect.Effect<Redacted.Redacted<string>, AuthError>>("an effect", Effect.isEffect)),
  cache: maybe(Schema.Struct({ directory: text })),
  session: maybe(
    kind<HttpClient.HttpClient>(
      "an HttpClient",
      (value) => typeof value === "function" || typeof value === "object"
    )
  ),
  timeout: maybe(duration({ positive: true })),
  maxRetries: or(wholeNumber(0), 3),
  maxFetch: or(wholeNumber(1), 2 * 1024 ** 3),
  pushInterval: maybe(duration()),
  signature: maybe(person)
} satisfies FieldsOf<GitHostOptions>

const operation = "GitHost.layer"
const read = reader(Schema.Struct(gitHostFields))

const wrong = (message: string, hint: string) => new ValidationError({ operation, message, hint })

/** The address without a slash at its end, or what is wrong with it. */
const addressOf = (given: string): URL | ValidationError => {
  if (!URL.canParse(given)) {
    return wrong(
      `${JSON.stringify(given)} is no address`,
      "give one such as https://git.example.org/me/data.git"
    )
  }
  const url = new URL(given)
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) {
    return wrong(
      `${url.protocol}//${url.host} would carry the token unencrypted`,
      "use https; http is for this machine alone"
    )
  }
  if (url.username !== "" || url.password !== "") {
    return wrong("the address holds a user name or a password", "give them as `username` and `token`")
  }
  if (url.search !== "" || url.hash !== "") {
    return wrong(
      "the address of a repository has no query and no fragment",
      "leave out what follows `?` or `#`"
    )
  }
  url.pathname = url.pathname.replace(/\/+$/, "")
  return url
}

/** A repository whose commits bear a mark by which each writer knows its own. */
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
            : Effect.map(marked(built.commit.value.message), (message) => ({
                ...built,
                commit: Option.map(built.commit, (commit) => ({ ...commit, message }))
              }))
        )
      )
  }
}

/** Requests of a store that has read before: one for the branch's place, one for what is new. */
const estimate = (of: Estimate): number => (of._tag === "Read" ? 1 + Math.ceil(of.documents / 10_000) : 1)

const temporary: Effect.Effect<string, RemoteError, Scope.Scope> = Effect.acquireRelease(
  Effect.try({
    try: () => fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-clone-")),
    catch: (cause) =>
      new RemoteError({
        operation,
        reason: "Denied",
        path: os.tmpdir(),
        message: `no directory for what is fetched can be made in ${os.tmpdir()}: ${String(cause)}`,
        hint: "give one as `cache: { directory }`",
        cause
      })
  }),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

/** As `layer`, as a scoped value. */
export const scoped = (
  options: GitHostOptions
): Effect.Effect<GitRemoteService, RemoteFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const settings = yield* read(operation, options)
    const url = addressOf(settings.url)
    if (url instanceof ValidationError) return yield* url
    const { auth, maxFetch, maxRetries, pushInterval, session, signature, timeout, token, username } =
      settings
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
    const client = session ?? (yield* Effect.provide(HttpClient.HttpClient, FetchHttpClient.layer))
    const agent = "chainstore"
    const transport = SmartHttp.make({
      url: url.href,
      authorization,
      userAgent: agent,
      timeout: timeout ?? Duration.seconds(30),
      client
    })
    const directory =
      settings.cache === undefined
        ? path.join(yield* temporary, "clone.git")
        : path.resolve(settings.cache.directory)
    const repository = yield* Clone.open({
      url: url.href,
      transport,
      agent,
      directory,
      signature,
      maxRetries,
      mostPack: maxFetch,
      pushInterval: pushInterval ?? Duration.seconds(url.hostname === "github.com" ? 10 : 0)
    })
    const repo = /([^/]+)\/([^/]+?)(?:\.git)?$/.exec(url.pathname)
    return {
      ...remoteOf(withMarks(repository), {
        name: url.href,
        ...(repo === null ? {} : { repo: `${repo[1]}/${repo[2]}` })
      }),
      estimate
    }
  })

/**
 * A repository of any Git server as the store's remote, by Git's own protocol: GitLab, Gitea, Forgejo, Bitbucket, or a
 * plain server. Each write is a push that names where the branch is expected, so no write of anybody is lost.
 */
export const layer = (options: GitHostOptions): Layer.Layer<GitRemote, RemoteFailure> =>
  Layer.scoped(GitRemote, scoped(options))
