import { Context, Effect, Layer, Option, Redacted } from "effect"
import { AuthError, NotFoundError, type ValidationError } from "../domain/errors/StoreError.js"
import { GitRepositories, parseName } from "../git/disk/GitRepositories.js"
import { ConsoleStores, demoRepo, embeddedApi, type StoreRequest } from "../http/console/ConsoleStores.js"
import { isGranted } from "../http/host/access/Principal.js"
import { Tokens } from "../http/host/access/Tokens.js"
import { isLoopback } from "../http/server/HostCheck.js"
import { GitRemote, type GitRemoteService } from "../store/remote/GitRemote.js"
import * as GitHub from "../store/remote/github/GitHub.js"
import { fromRepository } from "../store/remote/local/LocalGit.js"
import { make as makeStore } from "../store/Store.js"
import type { ConsoleApi } from "./ConsoleApis.js"
import { withoutDirectories } from "./ServerDirectories.js"

const open = (
  remote: Layer.Layer<GitRemote, ValidationError>,
  request: StoreRequest,
  readOnly: boolean,
  isAuthorized: Effect.Effect<boolean>
) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(remote)
    const atRoot = (root: string) =>
      Effect.provide(makeStore({ branch: request.branch, root, readOnly, concurrency: 8 }), context)
    const store = yield* atRoot(request.root)
    return { store, remote: Context.get(context, GitRemote), readOnly, atRoot, isAuthorized }
  })

const onApi = (api: ConsoleApi, request: StoreRequest) => {
  const readOnly = Option.isNone(request.token)
  return open(
    GitHub.layerFetch({
      repo: request.repo,
      token: Option.getOrUndefined(request.token),
      apiUrl: api.apiUrl,
      rawUrl: api.rawUrl,
      readOnly,
      concurrency: 8,
      paceRequests: false,
      maxRetries: 1,
      maxWait: "2 seconds",
      timeout: "20 seconds"
    }),
    request,
    readOnly,
    // The API checks the token of each request.
    Effect.succeed(true)
  )
}

/** Opens stores of console sessions: on the configured APIs, or in process on the repositories of the embedded host. */
export const layer = (options: { readonly bind: string; readonly apis: ReadonlyArray<ConsoleApi> }) =>
  Layer.effect(
    ConsoleStores,
    Effect.gen(function* () {
      const repositories = yield* GitRepositories
      const tokens = yield* Tokens
      const demo = isLoopback(options.bind)

      /** What the token of a request may do now; none if it is unknown. */
      const rights = ({ repo, token }: StoreRequest) => {
        const mayWithout = demo && repo === demoRepo
        return Option.match(token, {
          onNone: () => (mayWithout ? Option.some({ read: true, write: true }) : Option.none()),
          onSome: (given) =>
            Option.map(tokens.principal(Redacted.value(given)), (principal) => ({
              read: isGranted(principal, "read", repo),
              write: isGranted(principal, "write", repo)
            }))
        })
      }

      const embedded = (request: StoreRequest) =>
        Effect.gen(function* () {
          const operation = "Console.login"
          const granted = yield* Effect.mapError(
            rights(request),
            () =>
              new AuthError({
                operation,
                status: 401,
                message: Option.isSome(request.token)
                  ? "the embedded host does not know this token"
                  : "the embedded host needs its token here"
              })
          )
          const { name, owner } = yield* parseName(request.repo)
          if (!granted.read || !(yield* repositories.exists(owner, name))) {
            return yield* new NotFoundError({
              operation,
              message: `the repository ${request.repo} was not found on the embedded host`
            })
          }
          const repository = yield* repositories.open(owner, name)
          const local = fromRepository(repository)
          const remote: GitRemoteService = {
            ...local,
            // Errors then contain the name of the repository instead of a directory of this machine.
            name: request.repo,
            probe: (...args) =>
              Effect.map(local.probe(...args), (probe) => ({
                ...probe,
                write: Option.map(probe.write, (write) => write && granted.write)
              }))
          }
          const isAuthorized = Effect.sync(() =>
            Option.exists(rights(request), ({ read, write }) => read && write === granted.write)
          )
          const opened = yield* open(Layer.succeed(GitRemote, remote), request, !granted.write, isAuthorized)
          const shown = withoutDirectories(repository.directory)
          return {
            ...opened,
            store: shown(opened.store),
            atRoot: (root: string) => Effect.map(opened.atRoot(root), shown)
          }
        })

      return ConsoleStores.of({
        apis: options.apis.map(({ name }) => name),
        demo,
        rightsChanges: tokens.changes,
        open: (request) => {
          const api = options.apis.find(({ name }) => name === request.api)
          return request.api === embeddedApi || api === undefined ? embedded(request) : onApi(api, request)
        }
      })
    })
  )
