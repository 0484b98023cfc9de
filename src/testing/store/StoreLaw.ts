import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { Collection } from "../../store/Collection.js"
import type { Change, CommitInfo } from "../../store/remote/GitRemote.js"
import { GitRemote, type GitRemoteService } from "../../store/remote/GitRemote.js"
import { make } from "../../store/Store.js"
import type { StoreOptions } from "../../store/StoreOptions.js"
import type { StoreService } from "../../store/StoreService.js"
import { formatValue, recordCalls } from "../laws/CallRecord.js"
import type { LawPromise } from "../laws/LawPromise.js"
import * as StoreArbitrary from "../program/StoreArbitrary.js"
import { canonical } from "../program/StoreModel.js"

/**
 * What laws are held against: a repository, and how a store is opened over it.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoreSubject {
  /** A new client of the one repository, with a connection or process of its own. */
  readonly remote: Effect.Effect<GitRemoteService, any, Scope.Scope>
  /** Opens a store over a client. Default: `Store.make`. */
  readonly open?: ((options: StoreOptions) => Effect.Effect<StoreService, any, GitRemote>) | undefined
  /** Options of every store that a law opens, unless the law is about them. */
  readonly options?: StoreOptions | undefined
}

/** A subject of several laws, which share the client that no store uses. */
export interface SharedSubject extends StoreSubject {
  readonly reader?: GitRemoteService | undefined
}

/**
 * A law that does not hold for a store.
 *
 * @since 0.1.0
 * @category errors
 */
export class StoreLawViolation extends Data.TaggedError("StoreLawViolation")<{
  readonly law: string
  readonly promise: LawPromise
  readonly found: string
  /** The calls that led there, as somebody would write them. */
  readonly calls: ReadonlyArray<string>
}> {
  override get message() {
    const { calls, found, law, promise } = this
    return [
      `StoreLaws.${law} does not hold.`,
      `Promise: ${promise.title}`,
      `  "${promise.sentence}" (${promise.link})`,
      `Found: ${found}`,
      "Calls:",
      ...calls.map((call) => `  ${call}`)
    ].join("\n")
  }
}

/** What a law finds wrong. */
export class UnmetExpectation extends Data.TaggedError("Wrong")<{ readonly found: string }> {}

/**
 * A statement about every store. It works below a root of its own, and leaves its commits behind.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoreLaw {
  /** Its name in `StoreLaws.all`. */
  readonly name: string
  /** What it holds a store to, and where that is written. */
  readonly promise: LawPromise
  /** Whether it writes documents that are drawn at random. */
  readonly draws: boolean
  /** Checks the law once, with these documents. */
  readonly run: (
    subject: StoreSubject,
    fields: ReadonlyArray<JsonObject>
  ) => Effect.Effect<void, StoreLawViolation>
}

/** How a client of a law differs from a plain one, such as by its faults. */
export type WrapRemote = (remote: GitRemoteService) => GitRemoteService

/** What the body of a law works with. */
export interface LawContext {
  /** A store, and a collection of it. */
  readonly store: StoreService
  readonly people: Collection
  /** Eight documents without metadata. */
  readonly fields: ReadonlyArray<JsonObject>
  /** Opens another store of the same root, over a client of its own. */
  readonly open: (
    options?: StoreOptions,
    around?: WrapRemote,
    name?: string
  ) => Effect.Effect<StoreService, unknown>
  /** A client that no store uses. */
  readonly remote: GitRemoteService
  readonly branch: string
  readonly root: string
  /** Somebody else's commit: files by their path below the root, null to remove one. Gives the commit's id. */
  readonly push: (files: Readonly<Record<string, string | null>>) => Effect.Effect<string, unknown>
  /** The text of a file below the root, at the branch's head. */
  readonly file: (path: string) => Effect.Effect<string | null, unknown>
  /** The commits of the branch since the law began, newest first. */
  readonly commits: Effect.Effect<ReadonlyArray<CommitInfo>, unknown>
  /** The head's id. */
  readonly head: Effect.Effect<string | undefined, unknown>
  /** Holds two values against each other, as JSON. */
  readonly expectEqual: (
    what: string,
    actual: unknown,
    expected: unknown
  ) => Effect.Effect<void, UnmetExpectation>
  /** Expects a failure with this tag, and gives it. */
  readonly expectFailure: (
    what: string,
    effect: Effect.Effect<unknown, unknown>,
    tag: string
  ) => Effect.Effect<any, UnmetExpectation>
}

let cases = 0

const text = (content: Uint8Array): string => new TextDecoder().decode(content)

const expectEqual: LawContext["expectEqual"] = (what, actual, expected) =>
  canonical(actual as Json) === canonical(expected as Json)
    ? Effect.void
    : new UnmetExpectation({
        found: `${what}: expected ${formatValue(expected)}, got ${formatValue(actual)}`
      })

const tagOf = (error: unknown): string =>
  error instanceof Object && "_tag" in error ? String(error._tag) : String(error)

const expectFailure: LawContext["expectFailure"] = (what, effect, tag) =>
  Effect.matchEffect(effect, {
    onSuccess: (value) =>
      Effect.fail(
        new UnmetExpectation({ found: `${what}: expected ${tag}, got the answer ${formatValue(value)}` })
      ),
    onFailure: (error) =>
      tagOf(error) === tag
        ? Effect.succeed(error)
        : Effect.fail(
            new UnmetExpectation({ found: `${what}: expected ${tag}, got ${tagOf(error)}: ${String(error)}` })
          )
  })

const commitsSince = (remote: GitRemoteService, branch: string, base: string | undefined) =>
  Effect.gen(function* () {
    const found: Array<CommitInfo> = []
    const head = yield* remote.head(branch)
    let next = Option.getOrUndefined(head)?.commit
    while (next !== undefined && next !== base) {
      const info: CommitInfo = Option.getOrThrow(yield* remote.commitInfo(next))
      found.push(info)
      next = info.parents[0]
    }
    return found
  })

const prepare = (
  subject: SharedSubject,
  options: StoreOptions,
  fields: ReadonlyArray<JsonObject>,
  note: (call: string) => void
) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const base = { ...subject.options, ...options }
    const root = `${base.root ?? "laws"}/${now.toString(36)}-${cases++}`
    const branch = base.branch ?? "main"
    const remote = subject.reader ?? (yield* subject.remote)
    const scope = yield* Effect.scope
    const begun = Option.getOrUndefined(yield* remote.head(branch))?.commit
    const open: LawContext["open"] = (more = {}, around = (client) => client, name = "other") =>
      Effect.gen(function* () {
        const client = around(yield* subject.remote)
        const opened = yield* (subject.open ?? make)({ ...base, root, ...more }).pipe(
          Effect.provideService(GitRemote, client)
        )
        return recordCalls(opened, name, note)
      }).pipe(Effect.provideService(scopeTag, scope))
    const store = yield* open({}, undefined, "store")
    const push: LawContext["push"] = (files) =>
      Effect.gen(function* () {
        const changes = Object.entries(files).map(
          ([path, content]): Change =>
            content === null
              ? { _tag: "Remove", path: `${root}/${path}` }
              : { _tag: "Put", path: `${root}/${path}`, content: new TextEncoder().encode(content) }
        )
        note(`// somebody else commits ${formatValue(files)}`)
        const head = yield* remote.head(branch)
        return (yield* remote.commit(branch, head, { message: "somebody else", changes })).commit as string
      })
    return {
      store,
      people: store.collection("people"),
      fields,
      open,
      remote,
      branch,
      root,
      push,
      file: (path) =>
        Effect.map(
          remote.snapshot(branch).file(`${root}/${path}`, { fresh: true }),
          Option.match({ onNone: () => null, onSome: ({ content }) => text(content) })
        ),
      commits: commitsSince(remote, branch, begun),
      head: Effect.map(
        remote.head(branch),
        (head) => Option.getOrUndefined(head)?.commit as string | undefined
      ),
      expectEqual,
      expectFailure
    } satisfies LawContext
  })

const scopeTag = Context.GenericTag<Scope.Scope>("effect/Scope")

/** What a cause says is wrong. */
export const describeCause = (cause: Cause.Cause<unknown>): string => {
  const failure = Cause.squash(cause)
  if (failure instanceof UnmetExpectation) return failure.found
  const what = Cause.isInterruptedOnly(cause) ? "was interrupted" : `${tagOf(failure)}: ${String(failure)}`
  return `a call that has to succeed failed: ${what}`
}

/** The calls of a violation: the last ones, where there are many. */
const maxCalls = 40

const lawOf =
  (draws: boolean) =>
  (
    name: string,
    promise: LawPromise,
    body: (given: LawContext) => Effect.Effect<unknown, unknown, Scope.Scope>,
    options: StoreOptions = {}
  ): StoreLaw => ({
    name,
    promise,
    draws,
    run: (subject, fields) =>
      Effect.suspend(() => {
        const calls: Array<string> = []
        return Effect.scoped(
          Effect.flatMap(
            prepare(subject, options, fields, (call) => void calls.push(call)),
            body
          )
        ).pipe(
          Effect.asVoid,
          Effect.catchAllCause((cause) => {
            const shownCalls =
              calls.length > maxCalls
                ? [`… ${calls.length - maxCalls} calls`, ...calls.slice(-maxCalls)]
                : calls
            return new StoreLawViolation({
              law: name,
              promise,
              found: describeCause(cause),
              calls: shownCalls
            })
          }),
          Effect.withSpan(`StoreLaws.${name}`),
          // What is refused is logged too.
          Logger.withMinimumLogLevel(LogLevel.None)
        )
      })
  })

/** A law whose documents are fixed. */
export const law = lawOf(false)

/** A law about documents that are drawn at random. */
export const drawnLaw = lawOf(true)

/** A promise of a page of the documentation. */
export const promiseOf =
  (page: string) =>
  (title: string, section: string, sentence: string): LawPromise => ({
    title,
    sentence,
    link: `docs/${page}.md#${section}`
  })

/** Eight documents. */
export const documents: FastCheck.Arbitrary<ReadonlyArray<JsonObject>> = FastCheck.array(
  StoreArbitrary.fields,
  {
    minLength: 8,
    maxLength: 8
  }
)

/**
 * The subject of a layer. It is built anew for each client: so a repository in memory has to be given to
 * `Memory.layer`, or each client would have one of its own.
 *
 * @since 0.1.0
 * @category models
 */
export const fromLayer = (layer: Layer.Layer<GitRemote, any>): StoreSubject => ({
  remote: Effect.map(Layer.build(Layer.fresh(layer)), Context.get(GitRemote))
})
