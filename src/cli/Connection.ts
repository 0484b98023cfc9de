import { Options } from "@effect/cli"
import type { Layer } from "effect"
import { Config, Context, Effect, Option, Redacted } from "effect"
import type { SettingsOptions } from "../domain/settings/Settings.js"
import type { ReadError } from "../store/Collection.js"
import { type CommitVia, carriers } from "../store/remote/github/client/Options.js"
import type { Store } from "../store/Store.js"
import { integerOption, rejectCombination, textOption } from "./CommandOptions.js"
import { askToken } from "./Token.js"

/** The location of a repository: a directory of this machine, GitHub's API, or the address of a Git server. */
export type Connection = {
  readonly repo: string
  readonly branch: string
  readonly root: string
  /** The settings of a new store. An existing store rejects settings that differ from its own. */
  readonly layout: SettingsOptions
} & (
  | { readonly _tag: "Local"; readonly directory: string }
  | {
      readonly _tag: "GitHub"
      readonly apiUrl: Option.Option<string>
      readonly commitVia: Option.Option<CommitVia>
      readonly token: Option.Option<Redacted.Redacted>
    }
  | {
      readonly _tag: "Git"
      readonly url: string
      /** Without a token, Git's credential helpers are used. */
      readonly token: Option.Option<Redacted.Redacted>
    }
)

/** The behaviour if the repository does not exist on this machine: fail, create it, or read it as an empty one. */
export type MissingRepository = "fail" | "create" | "empty"

/** Opens stores; `src/layers` provides the implementation. */
export class StoreOpener extends Context.Tag("chainstore/cli/Stores")<
  StoreOpener,
  { readonly open: (connection: Connection, missing: MissingRepository) => Layer.Layer<Store, ReadError> }
>() {}

const fromEnvironment = (name: string) => Config.nonEmptyString(name)

/** The directory in which the service keeps its repositories and tokens. */
export const dataDirectory = Config.withDefault(fromEnvironment("CHAINSTORE_DATA"), ".chainstore")

/** The options of every command over a store. */
export const connectionOptions = {
  repo: Options.text("repo").pipe(
    Options.withDescription("The repository, OWNER/NAME (CHAINSTORE_REPO)"),
    Options.withFallbackConfig(fromEnvironment("CHAINSTORE_REPO")),
    Options.withDefault("local/demo")
  ),
  branch: Options.text("branch").pipe(
    Options.withDescription("The branch (CHAINSTORE_BRANCH)"),
    Options.withFallbackConfig(fromEnvironment("CHAINSTORE_BRANCH")),
    Options.withDefault("main")
  ),
  root: Options.text("root").pipe(
    Options.withDescription(
      "The directory of the collections, empty for the repository's root (CHAINSTORE_ROOT)"
    ),
    Options.withFallbackConfig(Config.string("CHAINSTORE_ROOT")),
    Options.withDefault("data")
  ),
  directory: textOption(
    "directory",
    "Bare repositories on this machine: OWNER/NAME.git below this directory. Without an API and a token it is the service's own, .chainstore/repos (CHAINSTORE_DATA)"
  ),
  apiUrl: textOption("api-url", "GitHub's REST API, or a compatible one (CHAINSTORE_API_URL)"),
  commitVia: Options.choice("commit-via", carriers).pipe(
    Options.withDescription("How commits are sent to GitHub (CHAINSTORE_COMMIT_VIA)"),
    Options.withFallbackConfig(Config.literal(...carriers)("CHAINSTORE_COMMIT_VIA")),
    Options.optional
  ),
  gitUrl: textOption("git-url", "A repository of any Git server, as for `git clone` (CHAINSTORE_GIT_URL)"),
  token: Options.boolean("token").pipe(
    Options.withDescription("Ask for the token; otherwise it is read from CHAINSTORE_TOKEN")
  ),
  index: Options.text("index").pipe(
    Options.withDescription("Keep an index, COLLECTION.FIELD"),
    Options.repeated
  ),
  manifest: Options.text("manifest").pipe(
    Options.withDescription("Keep a manifest, COLLECTION or COLLECTION.FIELD"),
    Options.repeated
  ),
  shardBy: Options.choice("shard-by", ["leading", "hash"]).pipe(
    Options.withDescription(
      "Spread documents over directories by the first characters of their ids, or by a hash"
    ),
    Options.optional
  ),
  shardDepth: integerOption("shard-depth", "Levels of directories"),
  shardWidth: integerOption("shard-width", "Characters per level")
}

type ConnectionInput = {
  readonly repo: string
  readonly branch: string
  readonly root: string
  readonly index: ReadonlyArray<string>
  readonly manifest: ReadonlyArray<string>
  readonly shardBy: Option.Option<"leading" | "hash">
  readonly shardDepth: Option.Option<number>
  readonly shardWidth: Option.Option<number>
  readonly directory: Option.Option<string>
  readonly apiUrl: Option.Option<string>
  readonly commitVia: Option.Option<CommitVia>
  readonly gitUrl: Option.Option<string>
  readonly token: boolean
}

/** Groups names such as `["a.x", "a.y", "b"]` to fields by collection. */
const byCollection = (names: ReadonlyArray<string>) => {
  const fields = new Map<string, ReadonlyArray<string>>()
  for (const name of names) {
    const [collection = "", ...field] = name.split(".")
    fields.set(collection, [
      ...(fields.get(collection) ?? []),
      ...(field.length === 0 ? [] : [field.join(".")])
    ])
  }
  return names.length === 0 ? undefined : Object.fromEntries(fields)
}

const layoutOf = (given: ConnectionInput): SettingsOptions => {
  const depth = Option.getOrUndefined(given.shardDepth)
  return {
    shardBy: Option.getOrUndefined(given.shardBy),
    shardDepth: depth ?? (Option.isSome(given.shardBy) ? 1 : undefined),
    shardWidth: Option.getOrUndefined(given.shardWidth),
    indexes: byCollection(given.index),
    manifests: byCollection(given.manifest)
  }
}

/** The addresses. If the options name a place, the environment does not name another one. */
const addressesOf = ({ apiUrl, directory, gitUrl }: ConnectionInput) =>
  Effect.gen(function* () {
    yield* rejectCombination("connection", "--directory", {
      "--git-url": Option.isSome(directory) && Option.isSome(gitUrl),
      "--api-url": Option.isSome(directory) && Option.isSome(apiUrl)
    })
    yield* rejectCombination("connection", "--git-url", {
      "--api-url": Option.isSome(gitUrl) && Option.isSome(apiUrl)
    })
    if ([directory, gitUrl, apiUrl].some(Option.isSome)) return { apiUrl, gitUrl }
    return yield* Effect.all({
      apiUrl: Config.option(fromEnvironment("CHAINSTORE_API_URL")),
      gitUrl: Config.option(fromEnvironment("CHAINSTORE_GIT_URL"))
    })
  })

/** The connection that the options and the environment describe. */
export const connectionOf = (given: ConnectionInput) =>
  Effect.gen(function* () {
    const { repo, branch, root } = given
    const location = { repo, branch, root, layout: layoutOf(given) }
    const { apiUrl, gitUrl } = yield* addressesOf(given)
    if (Option.isSome(given.directory)) {
      return { ...location, _tag: "Local", directory: given.directory.value } satisfies Connection
    }
    const token = given.token
      ? Option.some(yield* askToken)
      : Option.map(
          Option.filter(yield* Config.option(Config.string("CHAINSTORE_TOKEN")), (text) => text !== ""),
          Redacted.make
        )
    if (Option.isSome(gitUrl)) {
      return { ...location, _tag: "Git", url: gitUrl.value, token } satisfies Connection
    }
    if (Option.isNone(token) && Option.isNone(apiUrl)) {
      return { ...location, _tag: "Local", directory: `${yield* dataDirectory}/repos` } satisfies Connection
    }
    return { ...location, _tag: "GitHub", apiUrl, commitVia: given.commitVia, token } satisfies Connection
  })
