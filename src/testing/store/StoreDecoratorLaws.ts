import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import { AuthError } from "../../domain/errors/StoreError.js"
import type { CollectionReader } from "../../store/Collection.js"
import { decorate, type StoreOperation } from "../../store/StoreDecorator.js"
import type { StoreService } from "../../store/StoreService.js"
import { type LawContext, law, promiseOf } from "./StoreLaw.js"

const observability = promiseOf("observability")
const around =
  "To run other code around every operation, such as logging or access control, use `decorate(store, { effect, stream })`"

type Call = Effect.Effect<unknown, unknown> | Stream.Stream<unknown, unknown>

/** An operation, and what a decorator is told of it: the name, the id of the document, and whether it writes. */
type Row = readonly [call: () => Call, name: string, id?: string | undefined, writes?: boolean]

const readsOf = (people: CollectionReader): ReadonlyArray<Row> => [
  [() => people.get("a"), "get", "a"],
  [() => people.version("a"), "version", "a"],
  [() => people.exists("a"), "exists", "a"],
  [() => people.history("a"), "history", "a"],
  [() => people.list(), "list"],
  [() => people.count, "count"],
  [() => people.jsonSchema, "jsonSchema"],
  [() => people.all(), "all"],
  [() => people.find(() => true), "find"],
  [() => people.findBy("n", 1), "findBy"],
  [() => people.page(), "page"],
  [() => people.pages(), "pages"],
  [() => people.explain("n", 1), "explain"],
  [() => people.query(), "query"],
  [() => people.queryAll(), "queryAll"],
  [() => people.explainQuery({}), "explainQuery"],
  [() => people.countWhere({}), "countWhere"],
  [() => people.distinct("n"), "distinct"],
  [() => people.exportText(Sink.drain, "json"), "exportText"]
]

const operationsOf = (store: StoreService): ReadonlyArray<Row> => {
  const people = store.collection("people")
  return [
    ...readsOf(people as CollectionReader),
    [() => people.estimate(), "estimate"],
    [() => people.insert({}, { id: "a" }), "insert", undefined, true],
    [() => people.update("a", {}), "update", "a", true],
    [() => people.replace("a", {}), "replace", "a", true],
    [() => people.edit("a", (document) => document), "edit", "a", true],
    [() => people.upsert("a", {}), "upsert", "a", true],
    [() => people.delete("a"), "delete", "a", true],
    [() => people.restore("a", "main"), "restore", "a", true],
    [() => people.importRecords([]), "importRecords", undefined, true],
    [() => people.reindex(), "reindex", undefined, true],
    [() => people.createIndex("n"), "createIndex", undefined, true],
    [() => people.dropIndex("n"), "dropIndex", undefined, true],
    [() => people.writeJsonSchema(), "writeJsonSchema", undefined, true]
  ]
}

const operationsOfStore = (store: StoreService): ReadonlyArray<Row> => {
  const proposal = store.proposal("none")
  return [
    [() => store.commitSha, "commitSha"],
    [() => store.collections, "collections"],
    [() => store.indexes, "indexes"],
    [() => store.branches, "branches"],
    [() => store.resolveRef("main"), "resolveRef"],
    [() => store.staleTransactions, "staleTransactions"],
    [() => store.compare("main", "main"), "compare"],
    [() => store.doctor, "doctor"],
    [() => store.doctorWith({}), "doctorWith"],
    [() => store.rateLimit, "rateLimit"],
    [() => store.exportExcel(Sink.drain), "exportExcel"],
    [() => store.proposals(), "proposals"],
    [() => proposal.get(), "get"],
    [() => proposal.compare(), "compare"],
    [() => proposal.preview(), "preview"],
    [() => store.snapshot, "snapshot"],
    [() => store.at("main"), "at"],
    [() => store.preview(() => Effect.void), "preview"],
    [() => store.batch({}, () => Effect.void), "batch", undefined, true],
    [() => store.writer({}, () => Effect.void), "writer", undefined, true],
    [() => store.transaction({}, () => Effect.void), "transaction", undefined, true],
    [() => store.withTransaction(Effect.void), "withTransaction", undefined, true],
    [() => store.removeTransaction("none"), "removeTransaction", undefined, true],
    [() => store.reindex(), "reindex", undefined, true],
    [() => store.revert("main"), "revert", undefined, true],
    [() => store.createBranch("none"), "createBranch", undefined, true],
    [() => store.deleteBranch("none"), "deleteBranch", undefined, true],
    [() => store.merge("none"), "merge", undefined, true],
    [() => store.propose({ title: "none" }, () => Effect.void), "propose", undefined, true],
    [() => proposal.update(() => Effect.void), "update", undefined, true],
    [() => proposal.rebase(), "rebase", undefined, true],
    [() => proposal.accept(), "accept", undefined, true],
    [() => proposal.close(), "close", undefined, true]
  ]
}

const refusal = new AuthError({ operation: "decorate", message: "refused by the decorator" })

const isStream = (call: Call): call is Stream.Stream<unknown, unknown> => Stream.StreamTypeId in call

const run = (call: Call): Effect.Effect<unknown, unknown> => (isStream(call) ? Stream.runDrain(call) : call)

/** A decorated store that refuses every operation but those that are let through, and what its decorator was told. */
const refusing = (store: StoreService, ...through: ReadonlyArray<string>) => {
  const told: Array<StoreOperation & { readonly as: string }> = []
  const decorated = decorate(store, {
    effect: (operation, effect) => {
      told.push({ ...operation, as: "effect" })
      return through.includes(operation.name) ? effect : refusal
    },
    stream: (operation) => {
      told.push({ ...operation, as: "stream" })
      return Stream.fail(refusal)
    }
  })
  return { decorated, told }
}

/** Runs each operation, which the decorator has to be told of when it runs, and to have refused. */
const refused = (
  { expectEqual, expectFailure }: LawContext,
  told: Array<unknown>,
  rows: ReadonlyArray<Row>,
  collection: string | undefined
) =>
  Effect.gen(function* () {
    for (const [operate, name, id, writes = false] of rows) {
      const what = `decorate: ${collection ?? "store"}.${name}`
      const call = operate()
      yield* expectEqual(`${what}, before it runs`, told, [])
      const failure = yield* expectFailure(what, run(call), "AuthError")
      yield* expectEqual(`${what}: the failure`, failure.message, refusal.message)
      const operation = { name, collection, id, writes, as: isStream(call) ? "stream" : "effect" }
      yield* expectEqual(`${what}: the operation`, told.splice(0), [operation])
    }
  })

/** A decorator is told of every operation, wherever it is called, and its effect runs in the operation's place. */
export const decorators = law(
  "decorators",
  observability("a decorator runs around every operation", "spans-and-metrics", around),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, expectFailure, head, people, store } = given
      yield* people.insert({ n: 1 }, { id: "a" })
      const before = yield* head
      const { decorated, told } = refusing(store, "at", "snapshot")
      const others = decorated.onBranch(branch)
      yield* refused(given, told, operationsOf(decorated), "people")
      yield* refused(given, told, operationsOf(others), "people")
      const { decorated: closed, told: toldOfStore } = refusing(store)
      yield* refused(given, toldOfStore, operationsOfStore(closed), undefined)
      for (const view of [yield* decorated.at(branch), yield* decorated.snapshot, yield* others.snapshot]) {
        told.length = 0
        yield* refused(given, told, [[() => view.commitSha, "commitSha"]], undefined)
        yield* refused(given, told, readsOf(view.collection("people") as CollectionReader), "people")
      }

      const inside = refusing(store, "transaction", "withTransaction", "preview", "propose", "update")
      const insert = (to: Pick<StoreService, "collection">) => to.collection("people").insert({}, { id: "b" })
      const { proposal } = yield* store.propose({ title: "one", into: branch }, insert)
      const bodies: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
        transaction: inside.decorated.transaction({}, insert),
        withTransaction: inside.decorated.withTransaction(insert(inside.decorated)),
        preview: inside.decorated.preview(insert),
        propose: inside.decorated.propose({ title: "none", into: branch }, insert),
        update: inside.decorated.proposal(proposal.id).update(insert)
      }
      for (const [name, body] of Object.entries(bodies)) {
        yield* expectFailure(`decorate: an insert in the body of ${name}`, body, "AuthError")
        yield* expectEqual(
          `decorate: the body of ${name}`,
          inside.told.splice(0).map((one) => [one.name, one.collection]),
          [
            [name, undefined],
            ["insert", "people"]
          ]
        )
      }
      yield* expectEqual("what is refused writes nothing", yield* head, before)
      yield* store.proposal(proposal.id).close()
      yield* store.deleteBranch(proposal.branch)

      const names: Array<string> = []
      const open = decorate(store, {
        effect: ({ name }, effect) => {
          names.push(name)
          return effect
        }
      })
      const queued = yield* open.batch({}, (batch) => batch.put("people", "b", { n: 2 }))
      const found = yield* Stream.runCollect(open.collection("people").all())
      yield* expectEqual(
        "an operation that is let through",
        [Option.isSome(queued.commitSha), Array.from(found, ({ _id }) => _id), names],
        [true, ["a", "b"], ["batch"]]
      )
    })
)
