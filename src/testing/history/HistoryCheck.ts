import { Either } from "effect"
import type { StoredDocument } from "../../domain/document/Document.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { settingsFileName } from "../../domain/settings/Settings.js"
import type { Event, InnerEvent, InnerOperation, ResolvedExpectation } from "../program/ProgramTrace.js"
import * as Model from "../program/StoreModel.js"
import type { Edit } from "../program/StoreProgram.js"
import { completedLater } from "./AssumedSettings.js"
import { type DerivedFields, derivedProblems } from "./DerivedCheck.js"
import type { Snapshot } from "./HistoryReader.js"
import { IndexHistory } from "./IndexHistory.js"
import { mergeProblems } from "./MergeCheck.js"
import type { JudgedModel } from "./UniqueCheck.js"

/**
 * What a history is checked against.
 *
 * @since 0.1.0
 * @category options
 */
export interface CheckOptions extends DerivedFields {
  /** As the store was opened. Default 2. */
  readonly batchRetries?: number | undefined
  /** The indexes and manifests are recorded in the middle of the history: commits before are not held to them. */
  readonly recordedLater?: boolean | undefined
}

const none: Model.State = new Map()

/** What ties a commit to its event: the merge of a proposal says in trailers below it what it accepts. */
const tokenOf = (message: string): string => message.trim().split("\n")[0]!

const isTime = (value: Json | undefined) => typeof value === "string" && !Number.isNaN(Date.parse(value))

const withoutTime = (document: JsonObject): string => Model.canonical({ ...document, _updated_at: "" })

/**
 * Holds what a random program was told against the commits of its branch. The promise is "read-committed at the
 * branch's head, atomic per commit": the order of the commits is a serial order of the acknowledged calls that
 * explains every answer. Answers each way in which it is broken; none when it holds.
 *
 * @since 0.1.0
 * @category checking
 */
export const checkHistory = (
  events: ReadonlyArray<Event>,
  history: ReadonlyArray<Snapshot>,
  options: CheckOptions
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const positions = new Map<Oid, number>(history.map(({ info }, index) => [info.commit, index]))
  const stateAt = (index: number) => (index < 0 ? none : history[index]!.documents)
  const positionOf = (oid: Oid | undefined) => (oid === undefined ? -1 : (positions.get(oid) ?? -2))
  const byToken = new Map<string, Array<number>>()
  history.forEach(({ info }, index) => {
    const token = tokenOf(info.message)
    byToken.set(token, [...(byToken.get(token) ?? []), index])
  })
  const batchRetries = options.batchRetries ?? 2
  const byEvent = new Map(events.map((event) => [event.token, event]))
  const indexes = new IndexHistory(history, options, (index) =>
    byEvent.get(tokenOf(history[index]!.info.message))
  )
  const modelAt = (index: number) => indexes.modelAt(index)
  const { isUnique } = indexes

  const checkEvent = (event: Event) => {
    const say = (message: string) =>
      problems.push(`${event.token} ${event.operation._tag} (${event.outcome._tag}): ${message}`)
    const lower = positionOf(event.from)
    const upper = positionOf(event.to)
    if (lower === -2 || upper === -2) return say("the branch held a commit that is not in its history")
    const commits = byToken.get(event.token) ?? []
    const { operation, outcome } = event
    for (const index of commits) {
      if (index <= lower) say(`its commit ${index} is older than the call`)
      if (index > upper) say(`its commit ${index} came after the answer`)
    }
    const sometime = (holds: (state: Model.State, index: number) => boolean) => {
      for (let index = lower; index <= upper; index++) if (holds(stateAt(index), index)) return true
      return false
    }
    const shaOf = (index: number) => history[index]!.info.commit

    switch (operation._tag) {
      case "get":
      case "list":
      case "count":
      case "findBy":
        if (outcome._tag === "done" && !sometime((state) => readHolds(operation, outcome.value, state))) {
          say(
            `answered ${JSON.stringify(outcome.value)}, which no commit between the call and the answer shows`
          )
        }
        return
      case "insert":
      case "update":
      case "replace":
      case "upsert":
      case "delete":
      case "edit": {
        if (!expectCommits(commits.length, outcome, say)) return
        for (const index of commits) {
          const id = operation.id ?? newId(stateAt(index - 1), stateAt(index), operation.collection)
          if (id === undefined) return void say("its commit adds no document")
          const effects = modelAt(index - 1).single(stateAt(index - 1), { ...operation, id })
          compareEffects(effects, index, say)
          if (outcome._tag === "done") {
            const stored = stateAt(index).get(Model.keyOf(operation.collection, id))
            const wanted = operation._tag === "insert" ? id : operation._tag === "delete" ? undefined : stored
            if (Model.canonical(outcome.value as Json) !== Model.canonical(wanted)) {
              say(`answered ${JSON.stringify(outcome.value)}, the commit holds ${JSON.stringify(wanted)}`)
            }
          }
        }
        const { id } = operation
        if (outcome._tag === "refused" && id !== undefined) {
          const key = Model.keyOf(operation.collection, id)
          const first = Model.canonical(stateAt(lower).get(key) ?? null)
          const explained = sometime((state, index) => {
            const effects = modelAt(index).single(state, { ...operation, id })
            return (
              (Either.isLeft(effects) && effects.left === outcome.error) ||
              (outcome.error === "ConflictError" && Model.canonical(state.get(key) ?? null) !== first) ||
              // It was there when it was read.
              (operation._tag === "edit" && outcome.error === "ConflictError" && !state.has(key))
            )
          })
          if (isRefusal(outcome.error) && !explained) say(`${outcome.error} has no reason in the history`)
        }
        return
      }
      case "batch": {
        const empty = outcome._tag === "done" && outcome.value === null
        if (!empty && !expectCommits(commits.length, outcome, say)) return
        for (const index of commits) {
          compareEffects(batchEffects(modelAt(index - 1), operation, stateAt(index - 1)), index, say)
          if (outcome._tag === "done" && outcome.value !== shaOf(index)) say("answered another commit")
        }
        if (empty) {
          if (commits.length > 0) say("said that nothing was written, and wrote")
          const idle = sometime((state, index) => {
            const effects = batchEffects(modelAt(index), operation, state)
            return Either.isRight(effects) && effects.right.size === 0
          })
          if (!idle) say("said that nothing was to be written")
        }
        if (outcome._tag === "refused" && isRefusal(outcome.error)) {
          const moved = outcome.error === "ConflictError" && upper - lower > batchRetries
          const explained = sometime((state, index) => {
            const effects = batchEffects(modelAt(index), operation, state)
            return Either.isLeft(effects) && effects.left === outcome.error
          })
          if (!moved && !explained) say(`${outcome.error} has no reason in the history`)
        }
        return
      }
      case "writer": {
        const chunks = chunksOf(operation.edits, operation.maxOperations)
        const written = (place: number) =>
          operation.isLastUnsure === true && place === chunks.length - 1
            ? [chunks[place]!, chunks[place]!.slice(0, -1)]
            : [chunks[place]!]
        let at = 0
        for (const index of commits) {
          const model = modelAt(index - 1)
          const found = chunks.findIndex(
            (_, place) =>
              place >= at &&
              written(place).some((chunk) => isChunk(model, chunk, stateAt(index - 1), stateAt(index)))
          )
          if (found < 0) return void say(`its commit ${index} is not what was queued`)
          skipped(chunks.slice(at, found))
          at = found + 1
        }
        skipped(chunks.slice(at))
        if (
          outcome._tag === "done" &&
          Model.canonical(outcome.value as Json) !== Model.canonical(commits.map(shaOf))
        ) {
          say("answered other commits than those it made")
        }
        return
        /** Chunks without a commit had nothing to write, or were not acknowledged. */
        function skipped(passed: ReadonlyArray<ReadonlyArray<Edit>>) {
          if (outcome._tag !== "done") return
          for (const chunk of passed) {
            const idle = sometime((state, index) => {
              const effects = modelAt(index).batch(state, chunk)
              return Either.isRight(effects) && effects.right.size === 0
            })
            if (!idle) say(`acknowledged ${chunk.length} operations that are not in the history`)
          }
        }
      }
      case "transaction": {
        const writes = operation.inner.filter(makesCommit).length
        if (outcome._tag === "refused" && commits.length > 0) say("failed, and its commits are visible")
        if (outcome._tag === "done" && commits.length !== writes) {
          say(`acknowledged ${writes} commits, the history has ${commits.length}`)
        }
        if (outcome._tag === "unknown" && commits.length !== 0 && commits.length !== writes) {
          say(`${commits.length} of ${writes} commits are visible`)
        }
        if (commits.some((index, at) => at > 0 && index !== commits[at - 1]! + 1)) {
          say("its commits do not follow each other")
        }
        if (commits.length > 0) {
          const problem = explainInner(operation.inner, commits[0]! - 1, commits)
          if (problem !== undefined) say(problem)
          const last = shaOf(commits[commits.length - 1]!)
          if (outcome._tag === "done" && outcome.value !== last) say("answered another commit")
        } else if (
          outcome._tag === "done" &&
          !sometime((_, index) => explainInner(operation.inner, index, []) === undefined)
        ) {
          say(`no commit explains what was read: ${explainInner(operation.inner, lower, [])}`)
        }
        return
      }
      case "restore": {
        const key = Model.keyOf(operation.collection, operation.id)
        const past = stateAt(positionOf(operation.sha))
        if (!expectCommits(commits.length, outcome, say)) return
        for (const index of commits) {
          compareEffects(modelAt(index - 1).restore(stateAt(index - 1), past, key), index, say)
        }
        if (outcome._tag === "refused" && outcome.error === "NotFoundError" && past.has(key)) {
          say("said that the version is missing")
        }
        return
      }
      case "revert": {
        const target = positionOf(operation.sha)
        const effectsAt = (index: number) =>
          modelAt(index).revert(stateAt(index), stateAt(target), stateAt(target - 1), operation.force)
        if (!expectCommits(commits.length, outcome, say)) return
        for (const index of commits) compareEffects(effectsAt(index - 1), index, say)
        if (outcome._tag === "refused" && isRefusal(outcome.error)) {
          const explained = sometime((_, index) => {
            const effects = effectsAt(index)
            return Either.isLeft(effects) && effects.left === outcome.error
          })
          const kept = outcome.error === "ConflictError" && upper > lower
          if (!explained && !kept && target > 0) say(`${outcome.error} has no reason in the history`)
        }
        return
      }
      case "propose":
      case "merge": {
        if (!expectCommits(commits.length, outcome, say)) return
        const base = stateAt(positionOf(operation.base))
        for (const index of commits) {
          const found = mergeProblems(base, stateAt(index - 1), operation.theirs, stateAt(index))
          for (const problem of found) say(`commit ${index}: ${problem}`)
          if (history[index]!.info.parents.length !== 2) say(`its commit ${index} merges nothing`)
          if (outcome._tag === "done" && outcome.value !== shaOf(index)) say("answered another commit")
        }
        if (outcome._tag === "refused" && isRefusal(outcome.error)) {
          const moved = outcome.error === "ConflictError" && upper - lower > batchRetries
          const isLost = operation._tag === "propose" && operation.contested
          if (!moved && !isUnique && !isLost) say(`${outcome.error} has no reason in the history`)
        }
        return
      }
      case "reindex":
        for (const index of commits) compareEffects(Either.right(new Map()), index, say)
        if (commits.length > 1) say(`made ${commits.length} commits`)
        return
      case "createIndex": {
        const { collection, index: given } = operation
        const isThere = outcome._tag === "done" && outcome.value === null
        if (!isThere && !expectCommits(commits.length, outcome, say)) return
        for (const index of commits) {
          compareEffects(Either.right(new Map()), index, say)
          const refusal = indexes.refusal(index - 1, collection, given)
          if (refusal !== undefined && index > 0)
            say(`its commit ${index} should have been refused with ${refusal}`)
          if (indexes.state(index - 1, collection, given) === "same") say("created an index that was there")
          if (outcome._tag === "done" && outcome.value !== shaOf(index)) say("answered another commit")
        }
        if (isThere && !sometime((_, index) => indexes.state(index, collection, given) === "same")) {
          say("said that the index is there")
        }
        if (outcome._tag === "refused" && isRefusal(outcome.error)) {
          const moved = outcome.error === "ConflictError" && upper - lower > batchRetries
          const explained = sometime(
            (_, index) => indexes.refusal(index, collection, given) === outcome.error
          )
          if (!moved && !explained) say(`${outcome.error} has no reason in the history`)
        }
        return
      }
      case "dropIndex": {
        const { collection, name } = operation
        if (!expectCommits(commits.length, outcome, say)) return
        for (const index of commits) {
          compareEffects(Either.right(new Map()), index, say)
          if (!indexes.hasName(index - 1, collection, name)) say("dropped an index that was not there")
          if (outcome._tag === "done" && outcome.value !== shaOf(index)) say("answered another commit")
        }
        if (outcome._tag === "refused" && isRefusal(outcome.error)) {
          const moved = outcome.error === "ConflictError" && upper - lower > batchRetries
          const explained =
            outcome.error === "NotFoundError" &&
            sometime((_, index) => !indexes.hasName(index, collection, name))
          if (!moved && !explained) say(`${outcome.error} has no reason in the history`)
        }
        return
      }
    }
  }

  const explainInner = (
    inner: ReadonlyArray<InnerEvent>,
    base: number,
    commits: ReadonlyArray<number>
  ): string | undefined => {
    let state = stateAt(base)
    // No index changes inside a transaction.
    const model = modelAt(base)
    let at = 0
    for (const { operation, outcome } of inner) {
      if (outcome._tag === "unknown") return "an inner call has no answer"
      const problem: Array<string> = []
      const say = (message: string) => problem.push(`${operation._tag}: ${message}`)
      if (
        operation._tag === "get" ||
        operation._tag === "list" ||
        operation._tag === "count" ||
        operation._tag === "findBy"
      ) {
        if (outcome._tag === "done" && !readHolds(operation, outcome.value, state)) {
          say(`read ${JSON.stringify(outcome.value)} inside`)
        }
      } else {
        const index = makesCommit({ operation, outcome }) ? commits[at++] : undefined
        const effects =
          operation._tag === "batch"
            ? batchEffects(model, operation, state)
            : model.single(state, {
                ...operation,
                id:
                  operation.id ??
                  (index === undefined ? "" : (newId(state, stateAt(index), operation.collection) ?? ""))
              })
        if (index !== undefined) {
          compareEffects(effects, index, say)
          state = stateAt(index)
        } else if (outcome._tag === "refused" && isRefusal(outcome.error)) {
          if (Either.isRight(effects) || effects.left !== outcome.error) say(`${outcome.error} has no reason`)
        } else if (
          outcome._tag === "done" &&
          commits.length > 0 &&
          Either.isRight(effects) &&
          effects.right.size > 0
        ) {
          say("said that nothing was to be written")
        }
      }
      if (problem.length > 0) return problem.join("; ")
    }
    return undefined
  }

  const compareEffects = (
    effects: Either.Either<Model.Effects, Model.Refusal>,
    index: number,
    say: (message: string) => void
  ) => {
    if (Either.isLeft(effects)) {
      return say(`its commit ${index} should have been refused with ${effects.left}`)
    }
    const before = stateAt(index - 1)
    const after = stateAt(index)
    for (const key of new Set([...before.keys(), ...after.keys(), ...effects.right.keys()])) {
      const problem = documentProblem(effects.right.get(key), before.get(key), after.get(key), key)
      if (problem !== undefined) say(`commit ${index}, ${key}: ${problem}`)
    }
  }

  for (const event of events) checkEvent(event)
  problems.push(...checkCommits(events, history, stateAt, indexes, options))
  return problems
}

/** Index and manifest files at every commit, and commits that nobody asked for. */
const checkCommits = (
  events: ReadonlyArray<Event>,
  history: ReadonlyArray<Snapshot>,
  stateAt: (index: number) => Model.State,
  indexes: IndexHistory,
  options: CheckOptions
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const tokens = new Set(events.map(({ token }) => token))
  const { collections } = indexes
  const drifted = new Set<string>()
  history.forEach((snapshot, index) => {
    const changed = changedKeys(stateAt(index - 1), snapshot.documents)
    const message = tokenOf(snapshot.info.message)
    const foreign = message.startsWith("foreign ")
    const early = options.recordedLater === true && !snapshot.derived.has(settingsFileName)
    if (!foreign && !early && !tokens.has(message) && changed.length > 0) {
      problems.push(`commit ${index} (${message}) changed ${changed.join(", ")}, and nobody asked for it`)
    }
    if (!early) {
      const found = indexes.settingsProblems(index)
      problems.push(...found.map((problem) => `commit ${index} (${message}): ${problem}`))
    }
    for (const collection of early ? [] : collections) {
      const touched = changed.some((key) => key.startsWith(`${collection}/`))
      if (foreign && touched) drifted.add(collection)
      const found = derivedProblems(snapshot, collection, indexes.fieldsAt(index))
      if (found.length === 0) drifted.delete(collection)
      else if (touched && changed.length === 1 && completedLater(events, history, index, collection, indexes))
        drifted.add(collection)
      else if (!drifted.has(collection) || (!foreign && touched)) {
        problems.push(...found.map((problem) => `commit ${index} (${message}): ${problem}`))
      }
    }
  })
  return problems
}

const isRefusal = (error: string): boolean =>
  ["NotFoundError", "ConflictError", "ValidationError"].includes(error)

const expectCommits = (count: number, outcome: Event["outcome"], say: (message: string) => void): boolean => {
  const wrong =
    (outcome._tag === "done" && count !== 1) ||
    (outcome._tag === "refused" && count !== 0) ||
    (outcome._tag === "unknown" && count > 1)
  if (wrong) say(`the history has ${count} commits of it`)
  return !wrong
}

const changedKeys = (before: Model.State, after: Model.State): ReadonlyArray<string> =>
  [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => !Model.sameVersion(before.get(key), after.get(key))
  )

const newId = (before: Model.State, after: Model.State, collection: string): string | undefined =>
  changedKeys(before, after)
    .find((key) => key.startsWith(`${collection}/`) && !before.has(key))
    ?.slice(collection.length + 1)

const documentProblem = (
  wanted: Model.Written | null | undefined,
  before: StoredDocument | undefined,
  after: StoredDocument | undefined,
  key: string
): string | undefined => {
  if (wanted === undefined)
    return Model.sameVersion(before, after) ? undefined : "changed, and nobody asked for it"
  if (wanted === null) return after === undefined ? undefined : "is still there"
  if (after === undefined) return "is missing"
  if (after._rev !== wanted.rev) return `has revision ${after._rev}, not ${wanted.rev}`
  if (after._id !== key.slice(key.indexOf("/") + 1)) return `says that its id is ${after._id}`
  if (wanted.createdAt !== undefined && after._created_at !== wanted.createdAt) {
    return `was created at ${after._created_at}, not ${wanted.createdAt}`
  }
  if (!isTime(after._created_at) || !isTime(after._updated_at)) return "has no times"
  return Model.canonical(Model.fieldsOf(after)) === Model.canonical(wanted.fields)
    ? undefined
    : `holds ${JSON.stringify(Model.fieldsOf(after))}, not ${JSON.stringify(wanted.fields)}`
}

const expectationHolds = (wanted: ResolvedExpectation, state: Model.State): boolean => {
  const current = state.get(Model.keyOf(wanted.collection, wanted.id))
  if ("rev" in wanted) return current?._rev === wanted.rev
  return !wanted.wrong && current === undefined
}

const batchEffects = (
  model: JudgedModel,
  operation: Extract<InnerOperation, { readonly _tag: "batch" }>,
  state: Model.State
): Either.Either<Model.Effects, Model.Refusal> =>
  operation.expectations.every((wanted) => expectationHolds(wanted, state))
    ? model.batch(state, operation.edits)
    : Either.left("ConflictError")

/** A writer's commits, from the front of its queue. */
const chunksOf = (edits: ReadonlyArray<Edit>, size: number): ReadonlyArray<ReadonlyArray<Edit>> =>
  Array.from({ length: Math.ceil(edits.length / size) }, (_, at) => edits.slice(at * size, (at + 1) * size))

const isChunk = (
  model: JudgedModel,
  chunk: ReadonlyArray<Edit>,
  before: Model.State,
  after: Model.State
): boolean => {
  const effects = model.batch(before, chunk)
  if (Either.isLeft(effects) || effects.right.size === 0) return false
  return [...new Set([...before.keys(), ...after.keys(), ...effects.right.keys()])].every(
    (key) => documentProblem(effects.right.get(key), before.get(key), after.get(key), key) === undefined
  )
}

const makesCommit = ({ operation, outcome }: InnerEvent): boolean =>
  outcome._tag === "done" &&
  (operation._tag === "batch"
    ? outcome.value !== null
    : ["insert", "update", "replace", "upsert", "delete", "edit"].includes(operation._tag))

const readHolds = (
  operation: Extract<InnerOperation, { readonly _tag: "get" | "list" | "count" | "findBy" }>,
  value: unknown,
  state: Model.State
): boolean => {
  const inside = Array.from(state)
    .filter(([key]) => key.startsWith(`${operation.collection}/`))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, document]) => document)
  switch (operation._tag) {
    case "get": {
      const stored = state.get(Model.keyOf(operation.collection, operation.id))
      const read = value as StoredDocument | null
      return stored === undefined || read === null
        ? stored === undefined && read === null
        : withoutTime(stored) === withoutTime(read)
    }
    case "list":
      return Model.canonical(value as Json) === Model.canonical(inside.map((document) => document._id))
    case "count":
      return value === inside.length
    case "findBy": {
      const found = inside.filter((document) => Model.matches(document, operation.field, operation.value))
      const read = value as ReadonlyArray<StoredDocument>
      return (
        read.length === found.length &&
        found.every((document, at) => withoutTime(document) === withoutTime(read[at]!))
      )
    }
  }
}
