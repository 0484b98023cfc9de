import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { Oid } from "../../domain/Oid.js"
import type { RefMoved } from "../../domain/Ref.js"
import { plainLayout, printSettings, sameLayout, settingsFileName } from "../../domain/Settings.js"
import { AuthError, ConflictError, ValidationError, type WriteError } from "../../domain/StoreError.js"
import * as Timestamp from "../../domain/Timestamp.js"
import { documentPath, under } from "../DocumentPath.js"
import type { Change, Head, NewCommit, Wants } from "../remote/GitRemote.js"
import { type Derivation, indexDirectory, manifestDirectory } from "./Derived.js"
import * as Judgement from "./Judgement.js"
import type { Parts } from "./Parts.js"
import type { SettingsAt } from "./RepositorySettings.js"
import { remember, requireBranch } from "./Source.js"
import * as Touch from "./Touch.js"
import { messageOf, type OperationOutcome, type Unit, type UnitOutcome } from "./WriteUnit.js"

interface Built {
  readonly outcomes: ReadonlyArray<Judgement.Prepared>
  readonly derivations: ReadonlyArray<Derivation>
  /** The commit built upon, where the root's own files stay as they are in it. */
  readonly sameRootFiles: Option.Option<Oid>
}

// Loaded when it is used: most remotes have no such short cut, and a page that reads does not carry it.
const singleFile = Effect.promise(() => import("./SingleFileWrite.js"))

const refusal = (operation: string) =>
  new AuthError({
    operation,
    message: "this store was opened for reading",
    hint: "open it without readOnly and ref to write"
  })

/** Rebuilding waits a random moment that grows with the attempts, so that writers of one branch do not march in step. */
const pause = (attempt: number) =>
  Effect.flatMap(Random.nextIntBetween(0, 10 * 2 ** Math.min(attempt, 6)), (millis) => Effect.sleep(millis))

/** Documents that the plain layout put where a store with another layout would never see them. */
const refuseOtherLayout = (parts: Parts, head: Head, settings: SettingsAt) =>
  Effect.gen(function* () {
    if (sameLayout(settings.settings, plainLayout)) return
    for (const [name, entry] of yield* parts.repository.rootEntries(head)) {
      if (entry.kind !== "tree" || name.startsWith("_") || name.startsWith(".")) continue
      const tree = yield* parts.remote.tree(head, under(parts.options.root, name))
      if (Option.isSome(tree) && tree.value.entries.some((file) => /^[^_.].*\.json$/.test(file.path))) {
        return yield* new ValidationError({
          operation: "Store.write",
          collection: name,
          message: `${name} holds documents in the plain layout: a sharded store would not see them`,
          hint: "leave the shard options out, or move the documents in a commit first"
        })
      }
    }
  })

/** Documents beyond this many are not asked for beforehand: they are read in bulk. */
const mostWanted = 100

/** What the build of a unit will read, as far as the settings last seen tell. */
const wantsOf = ({ options, remote, repository }: Parts, unit: Unit): Wants | undefined => {
  if (remote.brings !== true) return undefined
  const { root } = options
  const { settings } = repository.latest()
  const documents = [...unit.operations, ...(unit.expectations ?? [])]
  const collections = new Set([...documents.map(({ collection }) => collection), ...(unit.reindex ?? [])])
  const files = [under(root, settingsFileName)]
  const trees = [root]
  for (const collection of collections) {
    if (settings.shardDepth === 0) trees.push(under(root, collection))
    const fields = settings.indexes.get(collection) ?? []
    if (fields.length > 0) trees.push(under(root, indexDirectory, collection))
    for (const field of fields) files.push(under(root, indexDirectory, collection, `${field}.json`))
    if (settings.manifests.has(collection)) {
      trees.push(under(root, manifestDirectory))
      files.push(under(root, manifestDirectory, `${collection}.json`))
    }
  }
  if (documents.length <= mostWanted) {
    for (const { collection, id } of documents) files.push(documentPath(root, settings, collection, id))
  }
  return { files, trees: [...new Set(trees)] }
}

/** The way every write takes: see `WriteUnit.ts`. */
export const make = (parts: Parts): ((unit: Unit) => Effect.Effect<UnitOutcome, WriteError>) => {
  const { branch, derived, options, remote, repository, source } = parts

  const reading = { ...parts, rootEntries: repository.rootEntries }

  const build = (unit: Unit, head: Option.Option<Head>, conflicts: Judgement.Conflicts) =>
    Effect.gen(function* () {
      if (Option.isNone(head)) yield* requireBranch(remote, branch)
      const settings = yield* repository.at(head)
      if (settings.mismatch !== undefined) return yield* settings.mismatch
      if (settings.frozen !== undefined) {
        return yield* new ValidationError({
          operation: unit.operation,
          message: settings.frozen,
          hint: "use a newer version of this program to write"
        })
      }
      const now = new Date(yield* Timestamp.now(unit.operation)).toISOString()
      const stored = yield* Touch.read(reading, unit, head, settings.settings)
      yield* Judgement.countConflicts(unit, conflicts, stored)
      yield* Judgement.judgeExpectations(unit, stored)
      const outcomes = yield* Judgement.prepare(parts.options.root, settings.settings, unit, stored, now)
      const derivations: Array<Derivation> = []
      const changes: Array<Change> = []
      for (const { change } of outcomes) if (change !== undefined) changes.push(change)
      for (const touched of Touch.collections(unit, outcomes)) {
        const derivation = yield* derived.derive(head, settings, touched, now)
        derivations.push(derivation)
        for (const change of derivation.changes) changes.push(change)
      }
      const record = settings.unrecorded && (changes.length > 0 || unit.reindex !== undefined)
      if (record) {
        if (Option.isSome(head)) yield* refuseOtherLayout(parts, head.value, settings)
        const path = under(options.root, settingsFileName)
        changes.push({ _tag: "Put", path, content: printSettings(settings.settings) })
      }
      const commit: NewCommit = {
        message: messageOf(
          unit,
          outcomes.map(({ before }) => before)
        ),
        changes,
        author: options.author,
        committer: options.committer
      }
      const same = !record && (settings.recorded || derivations.length === 0)
      const sameRootFiles = same ? Option.map(head, ({ commit }) => commit) : Option.none()
      const result: Built = { outcomes, derivations, sameRootFiles }
      return { commit: changes.length === 0 ? Option.none() : Option.some(commit), result }
    })

  const finish = (outcome: Judgement.Prepared, blobs: ReadonlyMap<string, Oid>): OperationOutcome =>
    Judgement.outcomeOf(outcome, blobs.get(outcome.path))

  const stuck = (unit: Unit, error: RefMoved, reason: string) =>
    new ConflictError({
      operation: unit.operation,
      message: `${error.message}: ${reason}`,
      hint: "the write did not happen: try again",
      conflicts: []
    })

  const commitWrite = (unit: Unit) =>
    Effect.gen(function* () {
      const started = yield* Clock.currentTimeMillis
      const limit = Duration.toMillis(options.deadline)
      const conflicts = Judgement.noConflicts(unit.retries ?? options.conflictRetries)
      for (let attempt = 0; ; attempt++) {
        // Where one call builds more than once, the earlier builds stood on a guess: nobody raced them.
        const { counted, seen } = conflicts
        const next = (head: Option.Option<Head>) =>
          Effect.suspend(() => build(unit, head, Object.assign(conflicts, { counted, seen })))
        const answer = yield* Effect.either(remote.commitNext(branch, next, wantsOf(parts, unit)))
        if (answer._tag === "Right") {
          const { committed, result } = answer.right
          const blobs = Option.isSome(committed) ? committed.value.blobs : new Map<string, never>()
          if (Option.isSome(committed)) {
            for (const { committed: keep } of result.derivations) keep(blobs)
            repository.kept(result.sameRootFiles, committed.value.commit)
          }
          return { committed, documents: result.outcomes.map((outcome) => finish(outcome, blobs)) }
        }
        if (answer.left._tag !== "RefMoved") return yield* answer.left
        if (unit.mode === "batch" && attempt >= (unit.retries ?? options.batchRetries)) {
          return yield* stuck(unit, answer.left, `the branch moved ${attempt + 1} times during the write`)
        }
        yield* pause(attempt)
        if ((yield* Clock.currentTimeMillis) - started >= limit) {
          return yield* stuck(unit, answer.left, "the branch kept moving until the deadline")
        }
      }
    })

  const keep = (outcome: UnitOutcome) =>
    Effect.forEach(
      outcome.documents,
      ({ after, path }) =>
        remember(
          source,
          path,
          Option.map(after, ({ content, sha }) => ({ content, oid: sha }))
        ),
      { discard: true }
    )

  return (unit) => {
    if (options.readOnly || source.pinned) return Effect.fail(refusal(unit.operation))
    const wrong = Judgement.unitProblem(unit)
    if (wrong !== undefined) return Effect.fail(wrong)
    const whole = Effect.suspend(() => Effect.tap(commitWrite(unit), keep))
    if (Option.isNone(remote.singleFile)) return whole
    return Effect.flatMap(
      Effect.flatMap(singleFile, ({ singleFileWrite }) => singleFileWrite(parts, unit, commitWrite, keep)),
      Option.match({ onNone: () => whole, onSome: Effect.succeed })
    )
  }
}
