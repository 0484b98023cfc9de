import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { collectionNameProblem } from "../../domain/identifiers/CollectionName.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import { compareCodePoints } from "../../domain/text/CodePointOrder.js"
import type { Collection } from "../Collection.js"
import { type CollectionLike, nameIn } from "../CollectionDefinition.js"
import type { DoctorOptions } from "../Doctor.js"
import type { StoreService } from "../StoreService.js"
import type { StoreView } from "../View.js"
import { makeCollectionReader } from "./CollectionReader.js"
import { type AnySchema, codecOf } from "./calls/Codec.js"
import { guardCollection, guardReader, guardStore, guardView } from "./calls/Signatures.js"
import { spanAttributes } from "./calls/SpanAttributes.js"
import { requireRef } from "./commit/MakeCore.js"
import type { StoreCore } from "./commit/StoreCore.js"
import { collectionExports, storeExport } from "./LazyExports.js"
import { makeCollection } from "./MakeCollection.js"
import { currentCore } from "./transaction/CurrentTransaction.js"
import type { makeTransactions } from "./transaction/Transactions.js"

// Loaded on use: a page that only reads and writes documents does not contain them.
const batching = lazyModule(() => import("./write/Batches.js"))
const branching = lazyModule(() => import("./merge/BranchOperations.js"))
const examining = lazyModule(() => import("./doctor/Doctor.js"))
const listing = lazyModule(() => import("./ListIndexes.js"))
const previewing = lazyModule(() => import("./merge/Preview.js"))
const proposing = lazyModule(() => import("./proposal/Proposals.js"))
const reindexing = lazyModule(() => import("./Reindex.js"))
const reverting = lazyModule(() => import("./write/Revert.js"))
const transacting = lazyModule(() => import("./transaction/Transactions.js"))
const writing = lazyModule(() => import("./write/Writers.js"))

const collections = (core: StoreCore) =>
  Effect.gen(function* () {
    const root = yield* core.snapshot().directory(core.options.root)
    return Option.match(root, { onNone: () => [], onSome: ({ tree }) => tree.entries })
      .filter(({ kind, path }) => kind === "tree" && collectionNameProblem(path) === undefined)
      .map(({ path }) => path)
      .sort(compareCodePoints)
  })

/** A read-only view of a core. */
const makeView = (core: StoreCore): StoreView => guardView(viewOf(core), { attributes: spanAttributes(core) })

const viewOf = (core: StoreCore): StoreView => ({
  commitSha: Effect.map(
    Effect.suspend(() => core.snapshot().head),
    Option.map(({ commit }) => commit as string)
  ),
  collections: collections(core),
  indexes: Effect.flatMap(listing, ({ listIndexes }) => listIndexes(core)),
  collection: (given: CollectionLike, schema?: AnySchema) => {
    const name = nameIn(given)
    const codec = codecOf(given, schema)
    return guardReader(
      { ...makeCollectionReader(core, name, codec), ...collectionExports(core, name) },
      { attributes: { ...spanAttributes(core), collection: name } }
    ) as never
  },
  exportExcel: storeExport(core, makeView)
})

const checkRef = (operation: string, ref: string) =>
  typeof ref === "string" && ref !== ""
    ? Effect.void
    : Effect.fail(
        new ValidationError({ operation, message: "a ref is the id of a commit, a tag or a branch" })
      )

/** A rebase keeps documents, but not a change of the format. */
const formatInside = new ValidationError({
  operation: "Store.reindex",
  message: "a transaction cannot change the format of indexes and manifests",
  hint: "reindex before the transaction or after it"
})

/** The store over a core. Its operations run on the core of the transaction that they belong to, if any. */
export const makeStore = (core: StoreCore): StoreService => {
  const own = serviceOf(core)
  return guardStore(own, {
    attributes: spanAttributes(core),
    current: Effect.map(currentCore(core), (now) => (now === core ? own : serviceOf(now)))
  })
}

/** A collection, in the same way. */
const collectionOf = (core: StoreCore, given: CollectionLike, schema?: AnySchema): Collection<any, any> => {
  const name = nameIn(given)
  const codec = codecOf(given, schema)
  const rules = typeof given === "string" ? undefined : given.merge
  const own = makeCollection(core, name, codec, rules)
  return guardCollection(own, {
    attributes: { ...spanAttributes(core), collection: name },
    current: Effect.map(currentCore(core), (now) =>
      now === core ? own : makeCollection(now, name, codec, rules)
    )
  })
}

const serviceOf = (core: StoreCore): StoreService => {
  const { remote } = core
  const view = viewOf(core)
  const doctorWith = (options: DoctorOptions) =>
    Effect.flatMap(examining, ({ doctor }) => doctor(core, options))
  let running: ReturnType<typeof makeTransactions> | undefined
  const transactions = Effect.map(transacting, (loaded) => {
    running ??= loaded.makeTransactions(core, makeStore)
    return running
  })
  return {
    ...view,
    repository: remote.repo ?? remote.name,
    branch: core.branch,
    root: core.options.root,
    trustForeignIndexes: core.options.trustForeignIndexes,
    collection: (given: CollectionLike, schema?: AnySchema) => collectionOf(core, given, schema) as never,
    batch: (options, body) => Effect.flatMap(batching, ({ makeBatch }) => makeBatch(core)(options, body)),
    writer: (options, body) => Effect.flatMap(writing, ({ makeWriter }) => makeWriter(core)(options, body)),
    transaction: (options, body) => Effect.flatMap(transactions, (all) => all.transaction(options, body)),
    withTransaction: (effect, options) =>
      Effect.flatMap(transactions, (all) => all.withTransaction(effect, options)),
    staleTransactions: Effect.flatMap(transactions, (all) => all.staleTransactions),
    removeTransaction: (branch) => Effect.flatMap(transactions, (all) => all.removeTransaction(branch)),
    branches: Effect.flatMap(branching, ({ listBranches }) => listBranches(core)),
    createBranch: (name, options) =>
      Effect.flatMap(branching, ({ createBranch }) => createBranch(core, name, options)),
    deleteBranch: (name) => Effect.flatMap(branching, ({ deleteBranch }) => deleteBranch(core, name)),
    compare: (a, b, options) =>
      Stream.unwrap(Effect.map(branching, ({ compare }) => compare(core, a, b, options))),
    merge: (from, options) =>
      Effect.flatMap(branching, ({ makeMerge }) => makeMerge(core, makeStore)(from, options)),
    propose: (options, edits) =>
      Effect.flatMap(proposing, ({ propose }) => propose(core, makeStore, options, edits)),
    proposals: (options) => Effect.flatMap(proposing, ({ proposals }) => proposals(core, options)),
    proposal: (id) => {
      const handle = Effect.map(proposing, ({ makeProposal }) => makeProposal(core, makeStore, id))
      return {
        get: () => Effect.flatMap(handle, (it) => it.get()),
        compare: (options) => Stream.unwrap(Effect.map(handle, (it) => it.compare(options))),
        preview: (options) => Effect.flatMap(handle, (it) => it.preview(options)),
        update: (edits, options) => Effect.flatMap(handle, (it) => it.update(edits, options)),
        rebase: (options) => Effect.flatMap(handle, (it) => it.rebase(options)),
        accept: (options) => Effect.flatMap(handle, (it) => it.accept(options)),
        close: () => Effect.flatMap(handle, (it) => it.close())
      }
    },
    revert: (commitSha, options) =>
      Effect.flatMap(reverting, ({ makeRevert }) => makeRevert(core)(commitSha, options)),
    reindex: (options) =>
      options?.format !== undefined && core.transaction !== undefined
        ? formatInside
        : Effect.flatMap(reindexing, ({ reindex }) =>
            reindex(
              core,
              "Store.reindex",
              options?.format === undefined ? "reindex" : `reindex in format ${options.format}`,
              "all",
              options
            )
          ),
    preview: (body) => Effect.flatMap(previewing, ({ makePreview }) => makePreview(core, makeStore)(body)),
    snapshot: Effect.map(
      Effect.suspend(() => core.snapshot().head),
      (head) => makeView(core.at(head, core.transaction?.readSet))
    ),
    at: Effect.fnUntraced(function* (ref) {
      yield* checkRef("Store.at", ref)
      const head = yield* requireRef(remote, core.branch, ref, "Store.at")
      return makeView(core.at(Option.some(head)))
    }),
    onBranch: (branch) => makeStore(core.onBranch(branch)),
    resolveRef: Effect.fnUntraced(function* (ref) {
      yield* checkRef("Store.resolveRef", ref)
      return Option.map(yield* remote.resolve(ref), ({ commit }) => commit as string)
    }),
    invalidate: core.invalidate,
    rateLimit: remote.budget,
    estimate: remote.estimate,
    doctor: doctorWith({}),
    doctorWith
  }
}
