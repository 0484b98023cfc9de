import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { LoginRequest } from "../http/console/Api.js"
import * as Browse from "../store/browse/Browse.js"
import type { ReadError } from "../store/Collection.js"
import { GitRemote } from "../store/remote/GitRemote.js"
import * as GitHub from "../store/remote/github/GitHub.js"
import { Store } from "../store/Store.js"
import type { Api } from "./Config.js"

/** A store that is open in this page; `close` forgets it, its token included. */
export interface HostedSession {
  readonly browse: Browse.Browse
  readonly collections: ReadonlyArray<string>
  readonly close: Effect.Effect<void>
}

/** Opens the store library on a GitHub-compatible API. A person waits for it, so it fails soon. */
export const open = (api: Api, request: LoginRequest): Effect.Effect<HostedSession, ReadError> =>
  Effect.gen(function* () {
    const readOnly = request.token === undefined
    const scope = yield* Scope.make()
    const close = Scope.close(scope, Exit.void)
    const remote = GitHub.layerFetch({
      repo: request.repo,
      token: request.token === undefined ? undefined : Redacted.make(request.token),
      apiUrl: api.apiUrl,
      rawUrl: api.rawUrl,
      readOnly,
      listVia: "contents",
      concurrency: 8,
      paceRequests: false,
      maxRetries: 1,
      maxWait: "2 seconds",
      timeout: "20 seconds"
    })
    const store = Store.layer({
      branch: request.branch,
      root: request.root,
      readOnly,
      concurrency: 8
    })
    return yield* Effect.gen(function* () {
      const context = yield* Layer.buildWithScope(Layer.provideMerge(store, remote), scope)
      const browse = yield* Browse.open({
        store: Context.get(context, Store),
        remote: Context.get(context, GitRemote),
        readOnly
      })
      return { browse, collections: yield* browse.collections, close }
    }).pipe(Effect.onError(() => close))
  })
