import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { LoginRequest, SessionView } from "../../http/console/Api.js"
import type { Browse } from "../../store/browse/Browse.js"
import { openBrowse } from "../../store/browse/BrowseService.js"
import type { ReadError } from "../../store/Collection.js"
import { GitRemote } from "../../store/remote/GitRemote.js"
import * as GitHub from "../../store/remote/github/GitHub.js"
import { Store } from "../../store/Store.js"
import type { Api } from "./Config.js"

/** A store that is open in this page. `close` releases it with its token. */
export interface HostedSession {
  readonly browse: Browse
  readonly view: SessionView
  /** Opens the same repository with another data root or branch. */
  readonly at: (change: {
    readonly root?: string
    readonly branch?: string
  }) => Effect.Effect<HostedSession, ReadError>
  readonly close: Effect.Effect<void>
}

/** Opens a store over a GitHub-compatible API, with short timeouts because a user waits. */
export const open = (api: Api, request: LoginRequest): Effect.Effect<HostedSession, ReadError> =>
  Effect.gen(function* () {
    const readOnly = request.token === undefined
    const scope = yield* Scope.make()
    const close = Scope.close(scope, Exit.void)
    // `layerFetch` would include the Git push code.
    const remote = GitHub.make({
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
    }).pipe(Layer.effect(GitRemote), Layer.provide(FetchHttpClient.layer))
    const store = Store.layer({
      branch: request.branch,
      root: request.root,
      readOnly,
      concurrency: 8
    })
    return yield* Effect.gen(function* () {
      const context = yield* Layer.buildWithScope(Layer.provideMerge(store, remote), scope)
      const git = Context.get(context, GitRemote)
      const browse = yield* openBrowse({ store: Context.get(context, Store), remote: git, readOnly })
      const { branch, repo, root } = request
      const collections = yield* browse.collections
      return {
        browse,
        view: { api: api.name, repo, branch, root, collections, readOnly: browse.readOnly },
        at: (change: Partial<Pick<LoginRequest, "branch" | "root">>) => open(api, { ...request, ...change }),
        close
      }
    }).pipe(Effect.onError(() => close))
  })
