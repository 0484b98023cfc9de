import { Context, type Effect, type Option, type Redacted, type Scope } from "effect"
import type { ReadError } from "../../store/Collection.js"
import type { GitRemoteService } from "../../store/remote/GitRemote.js"
import type { StoreService } from "../../store/StoreService.js"

/** What somebody who signs in wants to look at. */
export interface StoreRequest {
  /** Name of one of the configured APIs, or `embedded`. */
  readonly api: string
  readonly repo: string
  readonly branch: string
  readonly root: string
  readonly token: Option.Option<Redacted.Redacted>
}

/** A store of one session, and the remote that it is written against. */
export interface OpenStore {
  readonly store: StoreService
  readonly remote: GitRemoteService
  readonly readOnly: boolean
}

/** The name under which the embedded host is signed in to. */
export const embeddedApi = "embedded"

/** The repository that needs no token there. */
export const demoRepo = "local/demo"

/** Opens the stores that console sessions look at, one a session; the token stays inside what is opened. */
export class ConsoleStores extends Context.Tag("chainstore/http/console/ConsoleStores")<
  ConsoleStores,
  {
    /** Names of the API addresses that may be chosen, the default first. */
    readonly apis: ReadonlyArray<string>
    /** Whether the embedded demo may be signed in to without a token: on a loopback binding only. */
    readonly demo: boolean
    readonly open: (request: StoreRequest) => Effect.Effect<OpenStore, ReadError, Scope.Scope>
  }
>() {}
