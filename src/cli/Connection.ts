import { Options } from "@effect/cli"
import type { Layer } from "effect"
import { Config, Context, Effect, Option, Redacted } from "effect"
import type { ReadError } from "../store/Collection.js"
import type { Store } from "../store/Store.js"
import { askToken } from "./Token.js"

/** Where the repository is: below a directory on this machine, or behind an API. */
export type Connection = {
  readonly repo: string
  readonly branch: string
  readonly root: string
} & (
  | { readonly _tag: "Local"; readonly directory: string }
  | {
      readonly _tag: "GitHub"
      readonly apiUrl: Option.Option<string>
      readonly token: Option.Option<Redacted.Redacted>
    }
)

/** Opens stores; which implementation answers is wired where the command line is started. */
export class Stores extends Context.Tag("chainstore/cli/Stores")<
  Stores,
  { readonly open: (connection: Connection) => Layer.Layer<Store, ReadError> }
>() {}

const fromEnvironment = (name: string) => Config.nonEmptyString(name)

/** The options that every command over a store has. */
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
  directory: Options.text("directory").pipe(
    Options.withDescription(
      "Bare repositories on this machine: OWNER/NAME.git below this directory. Without an API and a token it is the service's own, .chainstore/repos (CHAINSTORE_DATA)"
    ),
    Options.optional
  ),
  apiUrl: Options.text("api-url").pipe(
    Options.withDescription("GitHub's REST API, or a compatible one (CHAINSTORE_API_URL)"),
    Options.withFallbackConfig(fromEnvironment("CHAINSTORE_API_URL")),
    Options.optional
  ),
  token: Options.boolean("token").pipe(
    Options.withDescription("Ask for the token; otherwise it is read from CHAINSTORE_TOKEN")
  )
}

type Given = {
  readonly repo: string
  readonly branch: string
  readonly root: string
  readonly directory: Option.Option<string>
  readonly apiUrl: Option.Option<string>
  readonly token: boolean
}

/** What the options and the environment together say. */
export const connectionOf = (given: Given) =>
  Effect.gen(function* () {
    const { repo, branch, root } = given
    const place = { repo, branch, root }
    if (Option.isSome(given.directory)) {
      return { ...place, _tag: "Local", directory: given.directory.value } satisfies Connection
    }
    const token = given.token
      ? Option.some(yield* askToken)
      : Option.map(
          Option.filter(yield* Config.option(Config.string("CHAINSTORE_TOKEN")), (text) => text !== ""),
          Redacted.make
        )
    if (Option.isNone(token) && Option.isNone(given.apiUrl)) {
      const data = yield* Config.withDefault(fromEnvironment("CHAINSTORE_DATA"), ".chainstore")
      return { ...place, _tag: "Local", directory: `${data}/repos` } satisfies Connection
    }
    return { ...place, _tag: "GitHub", apiUrl: given.apiUrl, token } satisfies Connection
  })
