import { createHash } from "node:crypto"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect, Option, Redacted, Schema, Stream } from "effect"
import * as TimeSlice from "../../domain/concurrency/TimeSlice.js"
import type { StoreError } from "../../domain/errors/StoreError.js"
import type { Endpoint } from "../../domain/http/Endpoint.js"
import { stringifySliced } from "../../domain/json/SlicedStringify.js"
import { openBrowse } from "../../store/browse/BrowseService.js"
import { parseValue } from "../../store/browse/Filter.js"
import type { ReadError, WriteError } from "../../store/Collection.js"
import * as ClientAddress from "../server/ClientAddress.js"
import { Failure } from "../server/HttpError.js"
import * as RequestBody from "../server/RequestBody.js"
import * as ValidationMessage from "../server/ValidationMessage.js"
import * as Api from "./Api.js"
import { fromStore, isLocalRepository, isStoreError, notSignedIn, sessionSwitched } from "./ConsoleError.js"
import { ConsoleStores, demoRepo, embeddedApi } from "./ConsoleStores.js"
import * as Edits from "./edits/Api.js"
import * as SameOrigin from "./SameOrigin.js"
import { anonymousOwner, type Session, Sessions } from "./Sessions.js"
import * as SignInThrottle from "./SignInThrottle.js"
import { sessionTarget, sessionTargetHeader } from "./session/Api.js"
import { timelineRoutes } from "./TimelineHandlers.js"

export interface ConsoleOptions {
  /** The public URL of the service (`CHAINSTORE_PUBLIC_URL`). */
  readonly publicUrl?: string | undefined
}

const invalid = (message: string) => new Failure({ _tag: "ValidationError", status: 422, message })

const malformed = (message: string) => new Failure({ _tag: "ValidationError", status: 400, message })

const mapStoreErrors = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    effect,
    (error): error is E & StoreError => isStoreError(error),
    (error) =>
      Effect.zipRight(
        isLocalRepository(error) ? Effect.logError("A repository of this server failed", error) : Effect.void,
        Effect.flatMap(Clock.currentTimeMillis, (now) => fromStore(error, now))
      )
  )

const withCookie = (
  response: HttpServerResponse.HttpServerResponse,
  { cookie, secure }: SameOrigin.PageOrigin,
  value: string,
  more: { readonly maxAge?: number } = {}
) =>
  HttpServerResponse.unsafeSetCookie(response, cookie, value, {
    httpOnly: true,
    sameSite: "strict",
    path: "/",
    secure,
    ...more
  })

/** Identifies the owner of a session by a hash of the token. */
const ownerOf = ({ token }: Api.LoginRequest): string =>
  token === undefined || token === "" ? anonymousOwner : createHash("sha256").update(token).digest("hex")

const viewOf = (
  { api, branch, browse, readOnly, repo, root }: Session,
  collections: ReadonlyArray<string>
): Effect.Effect<Api.SessionView> =>
  Effect.map(Effect.option(browse.newer(undefined)), (found) => {
    const head = Option.getOrUndefined(found)?.head ?? undefined
    return { api, repo, branch, root, readOnly, collections, ...(head === undefined ? {} : { head }) }
  })

/** The routes under `/api`. Their failures are `HttpError`s. */
export const router = (options: ConsoleOptions = {}) =>
  Effect.gen(function* () {
    const stores = yield* ConsoleStores
    const sessions = yield* Sessions
    const attempts = yield* SignInThrottle.make
    yield* Effect.forkScoped(Stream.runForEach(stores.rightsChanges, () => sessions.sweep))

    const sameOriginRequest = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const own = SameOrigin.pageOrigin(request, options.publicUrl)
      yield* SameOrigin.check(request, own)
      return { request, own, id: request.cookies[own.cookie] }
    })

    const body = <A, I>(request: HttpServerRequest.HttpServerRequest, schema: Schema.Schema<A, I>) =>
      Effect.gen(function* () {
        if (!/^application\/json\s*(?:;|$)/i.test(request.headers["content-type"] ?? "")) {
          return yield* new Failure({
            _tag: "UnsupportedMediaType",
            status: 415,
            message: "The request body must be application/json."
          })
        }
        const refusal = RequestBody.headerError(request)
        if (refusal !== undefined) return yield* Effect.fail(refusal)
        const json = yield* request.json
        if (typeof json !== "object" || json === null || Array.isArray(json)) {
          return yield* malformed("The request body must be a JSON object.")
        }
        return yield* Schema.decodeUnknown(schema, { errors: "all" })(json).pipe(
          Effect.mapError((error) => malformed(ValidationMessage.forBody(error.issue)))
        )
      })

    const jsonReply = <A, I>(schema: Schema.Schema<A, I>, value: A) =>
      TimeSlice.yieldIfSpent().pipe(
        Effect.zipRight(Effect.orDie(Schema.encode(schema)(value))),
        Effect.flatMap(stringifySliced),
        Effect.map((json) =>
          HttpServerResponse.text(json, {
            contentType: "application/json",
            headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" }
          })
        )
      )

    const currentSession = Effect.gen(function* () {
      const { id, request } = yield* sameOriginRequest
      const session = yield* sessions.find(id)
      if (Option.isNone(session)) return yield* notSignedIn()
      const target = request.headers[sessionTargetHeader]
      if (target !== undefined && target !== sessionTarget(session.value)) return yield* sessionSwitched()
      return { session: session.value, request }
    })

    const route = <P, A, E>(
      endpoint: Endpoint<`/api/${string}`, P, A>,
      handle: (session: Session, payload: P) => Effect.Effect<A, E>
    ) =>
      HttpRouter.route(endpoint.method)(
        endpoint.path,
        mapStoreErrors(
          Effect.gen(function* () {
            const { request, session } = yield* currentSession
            const payload = endpoint.body === undefined ? undefined : yield* body(request, endpoint.body)
            return yield* jsonReply(endpoint.reply, yield* handle(session, payload as P))
          })
        )
      )

    const storeRoute = <P, A>(
      endpoint: Endpoint<`/api/${string}`, P, A>,
      handle: (session: Session, payload: P) => Effect.Effect<A, ReadError | WriteError>
    ) => route(endpoint, handle)

    const open = Effect.fn("Console.login")(function* <A>(
      payload: Api.LoginRequest,
      owner: string,
      answer: (session: Session, view: Api.SessionView) => Effect.Effect<A>
    ) {
      const api = payload.api ?? stores.apis[0] ?? embeddedApi
      if (api === embeddedApi ? !stores.demo && payload.token === undefined : !stores.apis.includes(api)) {
        return yield* invalid(
          `api must be one of ${[...stores.apis, ...(stores.demo ? [embeddedApi] : [])].join(", ")}`
        )
      }
      const token = payload.token === undefined || payload.token === "" ? undefined : payload.token
      if (api === embeddedApi && token === undefined && payload.repo !== demoRepo) {
        return yield* new Failure({
          _tag: "AuthError",
          status: 401,
          message: `Only ${demoRepo} needs no token: enter the embedded host's token.`
        })
      }
      const opening = (id: string) =>
        Effect.gen(function* () {
          const opened = yield* stores.open({
            api,
            repo: payload.repo,
            branch: payload.branch,
            root: payload.root,
            token: Option.map(Option.fromNullable(token), Redacted.make)
          })
          const browse = yield* openBrowse(opened)
          const session: Session = {
            id,
            owner,
            api,
            repo: payload.repo,
            branch: payload.branch,
            root: payload.root,
            readOnly: browse.readOnly,
            browse,
            atRoot: (root) =>
              Effect.flatMap(opened.atRoot(root), (store) => openBrowse({ ...opened, store })),
            isAuthorized: opened.isAuthorized
          }
          return { session, result: yield* viewOf(session, yield* browse.collections) }
        })
      return yield* sessions.create(opening, ({ result, session }) => answer(session, result))
    })

    const login = HttpRouter.post(
      Api.login.path,
      mapStoreErrors(
        Effect.gen(function* () {
          const { id, own, request } = yield* sameOriginRequest
          const payload = yield* body(request, Api.login.body)
          const address = ClientAddress.fromRequest(request, options.publicUrl)
          const owner = ownerOf(payload)
          // Sign-ins without a token are counted separately, because they guess no token.
          const client = owner === anonymousOwner ? `${address} without a token` : address
          const signIn = open(payload, owner, (session, view) =>
            Effect.zipRight(
              sessions.end(id),
              Effect.map(jsonReply(Api.SessionView, view), (reply) => withCookie(reply, own, session.id))
            )
          )
          return yield* attempts.guard(client, signIn, owner)
        })
      )
    )

    const logout = HttpRouter.post(
      Api.logout.path,
      Effect.gen(function* () {
        const { id, own } = yield* sameOriginRequest
        yield* sessions.end(id)
        return withCookie(HttpServerResponse.empty({ status: 204 }), own, "", { maxAge: 0 })
      })
    )

    /**
     * The session for the first page load. A session with a revoked token ends. Collections are empty if they cannot
     * be read.
     */
    const initialView = (session: Session) =>
      session.browse.collections.pipe(
        Effect.flatMap((collections): Effect.Effect<Api.SessionView | null> => viewOf(session, collections)),
        Effect.catchTag("AuthError", () => Effect.as(sessions.end(session.id), null)),
        Effect.catchAll(() => viewOf(session, []))
      )

    const setup = HttpRouter.get(
      Api.session.path,
      mapStoreErrors(
        Effect.gen(function* () {
          const { id } = yield* sameOriginRequest
          const session = yield* sessions.find(id)
          return yield* jsonReply(Api.Setup, {
            apis: [...stores.apis, embeddedApi],
            demo: stores.demo,
            session: Option.isNone(session) ? null : yield* initialView(session.value)
          })
        })
      )
    )

    const router = HttpRouter.empty.pipe(
      login,
      logout,
      setup,
      route(Api.collections, ({ branch, browse, repo, root }) =>
        Effect.map(browse.collections, (collections) => ({ repo, branch, root, collections }))
      ),
      route(Api.query, ({ browse }, { field, filters, value, ...query }) =>
        Effect.gen(function* () {
          if ((field === undefined) !== (value === undefined)) {
            return yield* invalid("field and value are given together")
          }
          const one =
            field === undefined || value === undefined
              ? []
              : [
                  {
                    path: field,
                    operator: "is" as const,
                    value: typeof value === "string" ? parseValue(value) : value
                  }
                ]
          return yield* browse.query({ ...query, filters: [...one, ...(filters ?? [])] })
        })
      ),
      route(Api.document, ({ browse }, { at, collection, id }) =>
        Effect.map(browse.document(collection, id, at), (document) => ({
          document: Option.getOrNull(document)
        }))
      ),
      route(Api.history, ({ browse }, { collection, id, limit }) =>
        Effect.map(browse.history(collection, id, limit), (entries) => ({ entries }))
      ),
      route(Api.restore, ({ browse }, { collection, commit, expectedRev, id }) =>
        Effect.map(browse.restore(collection, id, commit, expectedRev), (document) => ({ document }))
      ),
      route(Edits.editable, ({ browse }, { collection, ids }) =>
        Effect.flatMap(browse.edits, (edits) => edits.documents(collection, ids)).pipe(
          Effect.map((documents) => ({ documents: documents.map(Option.getOrNull) }))
        )
      ),
      route(Edits.schema, ({ browse }, { collection }) =>
        Effect.flatMap(browse.edits, (edits) => edits.schema(collection)).pipe(
          Effect.map((schema) => ({ schema: Option.getOrNull(schema) }))
        )
      ),
      route(Edits.review, ({ browse }, { edits }) =>
        Effect.flatMap(browse.edits, ({ review }) => review(edits))
      ),
      route(Edits.publish, ({ browse }, { edits, message }) =>
        Effect.flatMap(browse.edits, ({ publish }) => publish(edits, message))
      ),
      route(Edits.propose, ({ browse }, { body, edits, title }) =>
        Effect.flatMap(browse.edits, ({ propose }) => propose(edits, { title, body }))
      ),
      route(Edits.createIndex, ({ browse }, { collection, field, unique }) =>
        Effect.map(browse.createIndex(collection, { field, unique }), (commit) => ({
          commit: Option.getOrNull(commit)
        }))
      ),
      route(Api.newer, ({ browse }, { since }) => browse.newer(since)),
      route(Api.roots, ({ browse }) => Effect.map(browse.roots, (roots) => ({ roots }))),
      route(Api.switchPlace, (session, { branch = session.branch, root = session.root }) =>
        Effect.gen(function* () {
          const at = root === session.root ? session.browse : yield* session.atRoot(root)
          const browse = yield* at.onBranch(branch)
          const next = { ...session, browse, branch, root, readOnly: browse.readOnly }
          const view = yield* viewOf(next, yield* browse.collections)
          yield* sessions.replace(next)
          return view
        })
      ),
      route(Api.rate, ({ browse }) => Effect.map(browse.rate, (budgets) => ({ budgets })))
    )
    return timelineRoutes(storeRoute).reduce((all, add) => add(all), router)
  })
