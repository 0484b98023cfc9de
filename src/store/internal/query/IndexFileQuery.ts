import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fromArray, rechunk } from "../../../domain/concurrency/Streams.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { isDocumentId } from "../../../domain/identifiers/DocumentId.js"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import { type IndexFile, parseIndex } from "../../../domain/indexes/IndexFile.js"
import { indexKeysOf, lookupKeys } from "../../../domain/indexes/IndexKey.js"
import { idKey } from "../../../domain/query/Ordering.js"
import { conjuncts } from "../../../domain/query/Predicate.js"
import { collectionTree, indexDirectory } from "../derived/Derived.js"
import { type QueryExecution, scanExecution, type UnusableIndex } from "./QueryExecution.js"
import type { ValuesPlan } from "./QueryPlan.js"
import {
  filterOf,
  IndexMismatch,
  type Match,
  type QueryTarget,
  readDocumentsById,
  readGroupSize
} from "./QueryTarget.js"

/* Queries by an index of format 1, which is a single file. */

interface IndexAt {
  readonly index: IndexFile
  /** The tree of the collection. */
  readonly tree: Oid
}

/** Reads the index file and the collection's tree at one commit. */
const atCommit = ({ collection, core, snapshot }: QueryTarget, name: string) =>
  Effect.gen(function* () {
    const settings = yield* core.repository.at(snapshot)
    const oid = yield* core.derived.indexFile(snapshot.untracked, settings, collection, name)
    if (oid === undefined) return undefined
    const index = yield* core.derived.index(snapshot.untracked, collection, name, oid)
    return index && ({ index, tree: collectionTree(settings, collection) } satisfies IndexAt)
  })

/**
 * Reads both by the branch's name, with two requests, or with one if the root shows that neither the collection nor an
 * index file has changed. If a commit is made between the two reads, the index appears stale.
 */
const byName = ({ collection, core, snapshot }: QueryTarget, name: string) =>
  Effect.gen(function* () {
    const path = core.derived.indexPath(collection, name)
    const root = Effect.suspend(() => core.snapshot().untracked.directory(core.options.root))
    const look = Effect.map(root, (root) => {
      const treeAt = (name: string) =>
        Option.isNone(root)
          ? undefined
          : root.value.tree.entries.find((entry) => entry.kind === "tree" && entry.path === name)?.oid
      return { indexes: treeAt(indexDirectory), tree: treeAt(collection) ?? emptyTree }
    })
    const { indexes, tree } = yield* look
    if (indexes === undefined) return undefined
    const remembered = core.derived.branchIndex(path)
    if (remembered?.under === indexes && remembered.index.tree === tree) {
      return { index: remembered.index, tree } satisfies IndexAt
    }
    const file = yield* snapshot.untracked.file(path)
    if (Option.isNone(file)) return undefined
    const index = parseIndex(file.value.content)
    if (index === undefined) return undefined
    core.derived.cacheBranchIndex(path, { under: indexes, index })
    if (index.tree === undefined || index.tree === tree) return { index, tree } satisfies IndexAt
    // The index was read after the root. Reading the root again distinguishes a stale index from a commit between the
    // reads.
    return { index, tree: (yield* look).tree } satisfies IndexAt
  })

/** The index file of a plan, or why it cannot be used. */
const openIndex = (
  target: QueryTarget,
  { name, path: field, values }: ValuesPlan
): Effect.Effect<Either.Either<IndexFile, UnusableIndex>, ReadError> =>
  Effect.gen(function* () {
    const { core, snapshot } = target
    const path = core.derived.indexPath(target.collection, name)
    if (values.some((value) => Array.isArray(value) && value.length === 0)) {
      return Either.left({ reason: "no index contains an empty list", path })
    }
    const found = yield* (snapshot.isPinned() ? atCommit : byName)(target, name)
    if (found === undefined) return Either.left({ reason: `${field} has no index file` })
    const { index, tree } = found
    const unusable = (reason: string) => Either.left({ reason, path, isCurrent: false })
    if (index.tree === undefined && !core.options.trustForeignIndexes) {
      return unusable("another program wrote the index: it does not record the version that it describes")
    }
    if (index.tree !== undefined && index.tree !== tree) {
      return unusable("the index is stale: another program changed the collection")
    }
    if (index.field !== undefined && index.field !== field) {
      return unusable(`the index file ${path} is of the field ${index.field}`)
    }
    return Either.right(index)
  })

/** Finds documents by the ids that an index file lists for some values. */
export const valuesExecution = (
  target: QueryTarget,
  plan: ValuesPlan
): Effect.Effect<QueryExecution, ReadError> =>
  Effect.gen(function* () {
    const { after, collection, core, query } = target
    const { path: field, values } = plan
    const opened = yield* openIndex(target, plan)
    if (Either.isLeft(opened)) return scanExecution(target, opened.left)
    const index = opened.right
    const keys = new Set(values.flatMap((value) => lookupKeys(value, index.values) ?? []))
    // A manually edited file may contain invalid ids, which must not become paths.
    const named = new Set(
      Array.from(keys, (key) => index.values.get(key) ?? [])
        .flat()
        .filter(isDocumentId)
    )
    const ids = [...named].sort()
    target.reads.entries += ids.length
    const isOrdered = query.order.fields.length === 0
    if (isOrdered && query.order.ids === "desc") ids.reverse()
    const wanted =
      isOrdered && after !== undefined ? ids.filter((id) => idKey(id, query.order.ids) > after.key) : ids
    // An index that does not record a version may be wrong, even if the options trust it.
    const isCurrent = index.tree !== undefined
    const judge = filterOf(target)
    const foundIn = (group: ReadonlyArray<string>) =>
      Effect.flatMap(readDocumentsById(target, group), (documents) => {
        const all: Array<Match> = []
        for (const id of group) {
          const read = documents.get(id)
          const value = read && Object.hasOwn(read.spelled, field) ? read.spelled[field] : undefined
          if (isCurrent && !indexKeysOf(value).some((key) => keys.has(key))) return new IndexMismatch()
          const found = read && judge.found(read)
          if (found !== undefined) all.push(found)
        }
        return Effect.succeed(Chunk.unsafeFromArray(all))
      })
    const isSure = isCurrent && conjuncts(query.predicate).length === 1
    return {
      plan,
      reason: isCurrent ? `${field} is indexed` : `${field} is indexed by another program, which is trusted`,
      isCurrent,
      path: core.derived.indexPath(collection, plan.name),
      isOrdered,
      estimate: Effect.succeed({ entries: ids.length, documents: ids.length }),
      matches: Stream.mapChunksEffect(rechunk(fromArray(wanted), readGroupSize(target, isSure)), (group) =>
        foundIn(Chunk.toReadonlyArray(group))
      )
    }
  })
