import { Context, type Effect, type Option, type Redacted, type Scope, type Stream } from "effect"
import type { ReadError } from "../../store/Collection.js"
import type { GitRemoteService } from "../../store/remote/GitRemote.js"
import type { StoreService } from "../../store/StoreService.js"

/** The store that a sign-in requests. */
export interface StoreRequest {
  /** The name of a configured API, or `embedded`. */
  readonly api: string
  readonly repo: string
  readonly branch: string
  readonly root: string
  readonly token: Option.Option<Redacted.Redacted>
}

/** The store of a session and its remote. */
export interface OpenStore {
  readonly store: StoreService
  readonly remote: GitRemoteService
  readonly readOnly: boolean
  /** The store of another data root of the repository. */
  readonly atRoot: (root: string) => Effect.Effect<StoreService, ReadError>
  /** Whether the token still has the rights that it had when the store was opened. */
  readonly isAuthorized: Effect.Effect<boolean>
}

/** The API name of the embedded host. */
export const embeddedApi = "embedded"

/** The repository of the embedded host that needs no token. */
export const demoRepo = "local/demo"

/** Opens the store of each console session. The token stays inside the opened store. */
export class ConsoleStores extends Context.Tag("chainstore/http/console/ConsoleStores")<
  ConsoleStores,
  {
    /** The names of the configured APIs, the default first. */
    readonly apis: ReadonlyArray<string>
    /** Whether the embedded demo needs no token. True only if the service is bound to loopback. */
    readonly demo: boolean
    /** Emits when tokens may have lost rights. */
    readonly rightsChanges: Stream.Stream<void>
    readonly open: (request: StoreRequest) => Effect.Effect<OpenStore, ReadError, Scope.Scope>
  }
>() {}
