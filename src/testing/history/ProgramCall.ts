import { Cause, Effect, Exit, Option } from "effect"
import type { StoredDocument } from "../../domain/document/Document.js"
import { ConflictError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { DocumentMerge } from "../../domain/merge/MergeRules.js"
import type { Version } from "../../store/Collection.js"
import type { GitRemoteService } from "../../store/remote/GitRemote.js"
import type { StoreService } from "../../store/StoreService.js"
import type { Transaction } from "../../store/Transaction.js"
import type {
  InnerEvent,
  InnerOperation,
  Operation,
  Outcome,
  ResolvedExpectation
} from "../program/ProgramTrace.js"
import type { Edit, Expectation, InnerStep, Step } from "../program/StoreProgram.js"
import { readSnapshot } from "./HistoryReader.js"

/** How a call ended, as its caller knows it. */
export const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (Exit.isSuccess(exit)) return { _tag: "done", value: exit.value }
  const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
  const tag = error instanceof Object && "_tag" in error ? String(error._tag) : undefined
  if (tag === undefined && error !== undefined) return { _tag: "refused", error: String(error) }
  if (tag === undefined || tag === "AmbiguousWriteError") return { _tag: "unknown" }
  return { _tag: "refused", error: tag }
}

type CollectionAccess = Pick<Transaction, "collection" | "batch">

/** A call that is ready to be made. */
export interface PreparedCall<O> {
  readonly call: Effect.Effect<unknown, unknown>
  /** What was asked, once it was: generated ids are known after the answer. */
  readonly operation: () => O
}

const currentOf = (face: CollectionAccess, collection: string, id: string) =>
  Effect.map(face.collection(collection).get(id), Option.getOrUndefined)

const versions = new WeakMap<CollectionAccess, Map<string, Version>>()

/** The version of a document that a face has seen first, which may be long out of date. */
const firstVersion = (face: CollectionAccess, collection: string, id: string) =>
  Effect.gen(function* () {
    const byDocument = versions.get(face) ?? new Map<string, Version>()
    versions.set(face, byDocument)
    const key = `${collection}/${id}`
    const version = byDocument.get(key)
    if (version !== undefined) return Option.some(version)
    const found = yield* face.collection(collection).version(id)
    if (Option.isSome(found)) byDocument.set(key, found.value)
    return found
  })

const resolveInner = (
  step: InnerStep,
  face: CollectionAccess,
  token: string
): Effect.Effect<PreparedCall<InnerOperation>, unknown> =>
  Effect.gen(function* () {
    if (step._tag === "batch") return yield* resolveBatch(step, face, token)
    const collection = face.collection(step.collection)
    switch (step._tag) {
      case "insert": {
        const fields = { ...step.fields, t: token }
        let id = step.id
        return {
          call: Effect.tap(collection.insert(fields, { id, message: token }), (made) => {
            id = made
          }),
          operation: () => ({ _tag: "insert", collection: step.collection, id, fields })
        }
      }
      case "update":
      case "replace":
      case "upsert":
      case "delete": {
        const current = step.guard === "none" ? undefined : yield* currentOf(face, step.collection, step.id)
        const expectedRev =
          step.guard === "none" ? undefined : step.guard === "wrong" ? 99_999 : (current?._rev ?? 99_999)
        const options = { message: token, expectedRev }
        const fields = step._tag === "delete" ? {} : { ...step.fields, t: token }
        const operation = {
          _tag: step._tag,
          collection: step.collection,
          id: step.id,
          fields,
          expectedRev
        }
        const call: Effect.Effect<unknown, unknown> =
          step._tag === "delete"
            ? collection.delete(step.id, options)
            : collection[step._tag](step.id, fields, options)
        return { call, operation: () => operation }
      }
      case "edit": {
        const { collection: name, field, id } = step
        const fields = { [field]: token }
        const base = step.by === "base" ? yield* firstVersion(face, name, id) : Option.none()
        const onConflict = ({ document }: DocumentMerge) => document
        const call =
          step.by === "edit"
            ? collection.edit(id, (document) => ({ ...document, ...fields }), { message: token })
            : collection.update(id, fields, {
                message: token,
                ...(Option.isSome(base) ? { base: base.value, onConflict } : {})
              })
        return { call, operation: () => ({ _tag: "edit", collection: name, id, fields }) }
      }
      case "get":
        return {
          call: Effect.map(collection.get(step.id, { fresh: step.fresh }), Option.getOrNull),
          operation: () => ({ _tag: "get", collection: step.collection, id: step.id })
        }
      case "list":
        return { call: collection.list(), operation: () => step }
      case "count":
        return { call: collection.count, operation: () => step }
      case "findBy":
        return { call: collection.findBy(step.field, step.value), operation: () => step }
    }
  })

const resolveBatch = (
  step: Extract<InnerStep, { readonly _tag: "batch" }>,
  face: CollectionAccess,
  token: string
): Effect.Effect<PreparedCall<InnerOperation>, unknown> =>
  Effect.gen(function* () {
    const expectations = yield* Effect.forEach(step.expectations, (wanted) =>
      resolveExpectation(wanted, face)
    )
    const accepted: Array<Edit> = []
    const call = face.batch({ message: token }, (batch) =>
      Effect.gen(function* () {
        for (const wanted of expectations) {
          const told =
            "rev" in wanted
              ? ({ rev: wanted.rev } as const)
              : wanted.document === null && !wanted.wrong
                ? ({ absent: true } as const)
                : ({ sha: "00000000000000000000000000000000000000aa" } as const)
          yield* batch.expect(wanted.collection, wanted.id, told)
        }
        yield* queue(batch, step.edits, token, accepted)
        if (step.fails) return yield* Effect.fail("chosen" as const)
      })
    )
    return {
      call: Effect.map(call, (answer) => Option.getOrNull(answer.commitSha)),
      operation: () => ({ _tag: "batch", edits: accepted, expectations })
    }
  })

const resolveExpectation = (
  wanted: Expectation,
  face: CollectionAccess
): Effect.Effect<ResolvedExpectation, unknown> =>
  Effect.map(currentOf(face, wanted.collection, wanted.id), (current): ResolvedExpectation => {
    const target = { collection: wanted.collection, id: wanted.id }
    if (wanted.kind === "sha" && !wanted.holds) return { ...target, document: null, wrong: true }
    if (current === undefined) return { ...target, document: null, wrong: false }
    return { ...target, rev: wanted.holds ? current._rev : 99_999 }
  })

/** Queues the edits, each with a token of its own; keeps those that were taken. */
const queue = (
  queues: {
    readonly put: (collection: string, id: string, fields: StoredDocument) => Effect.Effect<void, unknown>
    readonly insert: (
      collection: string,
      fields: StoredDocument,
      options: { readonly id: string }
    ) => Effect.Effect<string, unknown>
    readonly delete: (collection: string, id: string) => Effect.Effect<void, unknown>
  },
  edits: ReadonlyArray<Edit>,
  token: string,
  accepted: Array<Edit>
): Effect.Effect<void, unknown> =>
  Effect.forEach(
    edits,
    (edit, index) => {
      const stamped =
        edit._tag === "delete" ? edit : { ...edit, fields: { ...edit.fields, t: `${token}.${index}` } }
      const call: Effect.Effect<unknown, unknown> =
        stamped._tag === "delete"
          ? queues.delete(stamped.collection, stamped.id)
          : stamped._tag === "put"
            ? queues.put(stamped.collection, stamped.id, stamped.fields as never)
            : queues.insert(stamped.collection, stamped.fields as never, { id: stamped.id })
      return Effect.sync(() => accepted.push(stamped)).pipe(
        Effect.zipRight(call),
        Effect.catchIf(
          // Refused by the queue itself; what its flush is refused for stays queued.
          (error) => error instanceof ConflictError && error.operation.endsWith(".insert"),
          () => Effect.sync(() => void accepted.pop())
        )
      )
    },
    { discard: true }
  )

/** Fills in what a step leaves open: current revisions, commits, ids. */
export const resolve = (
  step: Exclude<Step, { readonly _tag: "foreign" }>,
  store: StoreService,
  observer: GitRemoteService,
  token: string
): Effect.Effect<PreparedCall<Operation>, unknown> =>
  Effect.gen(function* () {
    switch (step._tag) {
      case "writer": {
        const accepted: Array<Edit> = []
        const { maxOperations } = step
        let isLastUnsure = false
        const call = store.writer({ message: token, maxOperations }, (writer) =>
          Effect.onExit(queue(writer, step.edits, token, accepted), (exit) =>
            Effect.sync(() => {
              isLastUnsure = Exit.isInterrupted(exit)
            })
          )
        )
        return {
          call: Effect.map(call, (answer) => answer.commits),
          operation: () => ({ _tag: "writer", edits: accepted, isLastUnsure, maxOperations })
        }
      }
      case "transaction": {
        const inner: Array<InnerEvent> = []
        const call = store.transaction({ message: token }, (transaction) =>
          Effect.gen(function* () {
            for (const each of step.steps) {
              const { call: innerCall, operation } = yield* resolveInner(
                each,
                recording(transaction, inner),
                token
              )
              const exit = yield* Effect.exit(innerCall)
              const outcome = outcomeOf(exit)
              if (Exit.isFailure(exit) && !isAnswer(outcome)) return yield* exit
              inner.push({ operation: operation(), outcome })
            }
            if (step.fails) return yield* Effect.fail("chosen" as const)
          })
        )
        return {
          call: Effect.map(call, (answer) => Option.getOrNull(answer.commitSha)),
          operation: () => ({ _tag: "transaction", inner })
        }
      }
      case "restore": {
        const sha = yield* commitBack(observer, step.back)
        const target = { collection: step.collection, id: step.id }
        return {
          call: store.collection(step.collection).restore(step.id, sha, { message: token }),
          operation: () => ({ _tag: "restore", ...target, sha })
        }
      }
      case "revert": {
        const sha = yield* commitBack(observer, step.back)
        return {
          call: Effect.map(
            store.revert(sha.slice(0, 12), { message: token, force: step.force }),
            (answer) => answer.commitSha
          ),
          operation: () => ({ _tag: "revert", sha, force: step.force })
        }
      }
      case "merge": {
        const branch = `side-${token}`
        const base = (yield* yield* observer.head("main")).commit
        yield* observer.createBranch(branch, base)
        const accepted: Array<Edit> = []
        yield* store
          .onBranch(branch)
          .batch({ message: branch }, (batch) => queue(batch, step.edits, token, accepted))
        const tip = yield* yield* observer.commitInfo((yield* yield* observer.head(branch)).commit)
        // Nothing is merged of a branch without a commit.
        if (tip.commit === base) return yield* Effect.fail("chosen" as const)
        const { documents } = yield* readSnapshot(observer, tip, store.root, new Map())
        return {
          call: Effect.map(
            store.merge(branch, { message: token, fastForward: false, onConflict: "theirs" }),
            ({ commitSha }) => Option.getOrNull(commitSha)
          ),
          operation: () => ({ _tag: "merge", base, theirs: documents })
        }
      }
      case "propose": {
        const mark = `proposed ${token}`
        const { proposal } = yield* store.propose({ title: `proposal ${token}` }, (draft) =>
          draft.batch({ message: mark }, (batch) => queue(batch, step.edits, token, []))
        )
        let edited = yield* yield* observer.commitInfo(proposal.commitSha as Oid)
        const { documents } = yield* readSnapshot(observer, edited, store.root, new Map())
        while (edited.message.split("\n")[0] !== mark)
          edited = yield* yield* observer.commitInfo(edited.parents[0]!)
        const base = edited.parents[0]!
        const { accept, close } = store.proposal(proposal.id)
        const accepted = Effect.map(accept({ message: token, onConflict: "theirs" }), ({ commitSha }) =>
          Option.getOrNull(commitSha)
        )
        const contested = step.rival !== "none"
        const rival: Effect.Effect<unknown, unknown> = step.rival === "accept" ? accepted : close()
        const both = Effect.all([Effect.exit(accepted), Effect.exit(rival)], { concurrency: 2 })
        const call = contested
          ? Effect.flatMap(both, ([own, other]) => first(step.rival === "accept" ? [own, other] : [own]))
          : accepted
        return { call, operation: () => ({ _tag: "propose", base, theirs: documents, contested }) }
      }
      case "reindex":
        return {
          call: Effect.map(store.collection(step.collection).reindex({ message: token }), Option.getOrNull),
          operation: () => step
        }
      case "createIndex": {
        const { createIndex } = store.collection(step.collection)
        return {
          call: Effect.map(createIndex(step.index, { message: token }), Option.getOrNull),
          operation: () => step
        }
      }
      case "dropIndex":
        return {
          call: store.collection(step.collection).dropIndex(step.name, { message: token }),
          operation: () => step
        }
      default:
        return yield* resolveInner(step, store, token)
    }
  })

/** What came of calls of which one may win: the one that did, or else one whose answer was lost. */
const first = (exits: ReadonlyArray<Exit.Exit<unknown, unknown>>): Exit.Exit<unknown, unknown> =>
  exits.find(Exit.isSuccess) ?? exits.find((exit) => outcomeOf(exit)._tag === "unknown") ?? exits[0]!

/** Refusals that a caller may catch inside a transaction and go on. */
const isAnswer = (outcome: Outcome) =>
  outcome._tag === "refused" && ["NotFoundError", "ConflictError", "chosen"].includes(outcome.error)

/** A transaction whose reads for guards and expectations are part of its trace. */
const recording = (transaction: Transaction, inner: Array<InnerEvent>): CollectionAccess => ({
  batch: transaction.batch,
  collection: ((name: string) => {
    const collection = transaction.collection(name)
    return {
      ...collection,
      get: (id: string, options?: { readonly fresh?: boolean | undefined }) =>
        Effect.tap(collection.get(id, options), (found) => {
          inner.push({
            operation: { _tag: "get", collection: name, id },
            outcome: { _tag: "done", value: Option.getOrNull(found) }
          })
        })
    }
  }) as Transaction["collection"]
})

const commitBack = (observer: GitRemoteService, back: number): Effect.Effect<Oid, unknown> =>
  Effect.gen(function* () {
    const head = yield* observer.head("main")
    let at = (yield* head).commit
    for (let steps = 0; steps < back; steps++) {
      const info = yield* yield* observer.commitInfo(at)
      if (info.parents[0] === undefined) break
      at = info.parents[0]
    }
    return at
  })

/** A document or a file that somebody commits by hand. */
export const foreignStep = (
  observer: GitRemoteService,
  pathOf: (collection: string, id: string) => string,
  step: Extract<Step, { readonly _tag: "foreign" }>,
  token: string,
  somebody: (path: string, content: string) => Effect.Effect<void>
) =>
  Effect.gen(function* () {
    if (!step.document) return yield* somebody(`foreign-${token}.txt`, "hello")
    const { collection, id } = step.target
    const path = pathOf(collection, id)
    const file = yield* observer.snapshot("main").file(path)
    const current = Option.getOrUndefined(
      Option.map(file, (found) => JSON.parse(new TextDecoder().decode(found.content)) as StoredDocument)
    )
    const document = {
      ...step.fields,
      t: token,
      _id: id,
      _rev: (current?._rev ?? 0) + 1,
      _created_at: current?._created_at ?? "2020-01-01T00:00:00.000Z",
      _updated_at: "2020-01-02T00:00:00.000Z"
    }
    yield* somebody(path, `${JSON.stringify(document)}\n`)
  }).pipe(Effect.orDie)
