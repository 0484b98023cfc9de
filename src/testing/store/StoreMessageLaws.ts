import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { nameOf } from "./StoreBranchLaws.js"
import { type LawContext, law, promiseOf } from "./StoreLaw.js"

const Person = Schema.Struct({ n: Schema.Number })

/** The last commit of a branch, and the first line of its message. */
const lastOf = ({ remote }: LawContext, branch: string) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head(branch))
    const { author, message } = Option.getOrThrow(yield* remote.commitInfo(head.commit))
    return { author: author.name, message: message.split("\n")[0] }
  })

type Written = (message: string | undefined) => Effect.Effect<unknown, unknown>

/** Every write of one collection or store, in an order in which each has something to write. */
const writesOf = ({ open, push }: LawContext) =>
  Effect.gen(function* () {
    // Indexes can be changed if the option does not name them.
    const store = yield* open({ indexes: undefined, manifests: undefined })
    const people = store.collection("people")
    const first = yield* people.insert({ n: 0 }, { id: "a" }).pipe(Effect.zipRight(store.commitSha))
    const commit = Option.getOrThrow(first)
    const base = Option.getOrThrow(yield* people.version("a"))
    const id = "a"
    const writes: Readonly<Record<string, Written>> = {
      insert: (message) => people.insert({ n: 1 }, { id: "b", message }),
      "upsert of a missing document": (message) => people.upsert("c", { n: 1 }, { message }),
      upsert: (message) => people.upsert("c", { n: 2 }, { message }),
      update: (message) => people.update(id, { n: 1 }, { message }),
      "update with a base": (message) => people.update(id, { m: 1 }, { base, message }),
      replace: (message) => people.replace(id, { n: 1, m: 2 }, { message }),
      "replace with a base": (message) => people.replace(id, { n: 0, l: 3 }, { base, message }),
      edit: (message) => people.edit(id, (document) => ({ ...document, n: 4 }), { message }),
      restore: (message) => people.restore(id, commit, { message }),
      delete: (message) => people.delete("c", { message }),
      importRecords: (message) => people.importRecords([{ _id: "d" }], { message }),
      createIndex: (message) => people.createIndex("n", { message }),
      reindex: (message) =>
        Effect.zipRight(push({ "people/e.json": '{"n":1}\n' }), people.reindex({ message })),
      "reindex of a store": (message) =>
        Effect.zipRight(push({ "people/f.json": '{"n":1}\n' }), store.reindex({ message })),
      dropIndex: (message) => people.dropIndex("n", { message }),
      writeJsonSchema: (message) => store.collection("people", Person).writeJsonSchema({ message }),
      batch: (message) => store.batch({ message }, (batch) => batch.put("people", "g", {})),
      writer: (message) => store.writer({ message }, (writer) => writer.put("people", "h", {})),
      "a batch of a transaction": (message) =>
        store.transaction({ message }, (inside) => inside.batch({}, (batch) => batch.put("people", "i", {}))),
      "a batch that joins a transaction": (message) =>
        store.withTransaction(
          store.batch({}, (batch) => batch.put("people", "j", {})),
          { message }
        ),
      "a write of a transaction": (message) =>
        store.transaction({}, (inside) => inside.collection("people").insert({}, { id: "q", message })),
      revert: (message) =>
        Effect.flatMap(store.commitSha, (sha) => store.revert(Option.getOrThrow(sha), { message }))
    }
    return { people, store, writes }
  })

/** The message that is given to a write is that of its commit. */
export const givenMessages = law(
  "givenMessages",
  promiseOf("operations")(
    "the message that a write is given is that of its commit",
    "batches-writers-transactions-restore-and-revert",
    "Its message is the option `message` of the call; without it, the message names the operation, such as `update people/ada`."
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, root, expectEqual } = given
      const { people, store, writes } = yield* writesOf(given)
      const messageOf = (of: string) => Effect.map(lastOf(given, of), ({ message }) => message)
      for (const [name, write] of Object.entries(writes)) {
        yield* write(`said by ${name}`)
        yield* expectEqual(`the message of ${name}`, yield* messageOf(branch), `said by ${name}`)
      }
      const proposed = yield* store.propose({ title: "a proposal", into: branch }, (draft) =>
        draft.collection("people").insert({}, { id: "k", message: "said by a draft" })
      )
      const proposal = store.proposal(proposed.proposal.id)
      yield* people.insert({}, { id: "l" })
      yield* proposal.rebase({ message: "said by rebase" })
      yield* expectEqual(
        "the message of rebase",
        yield* messageOf(proposed.proposal.branch),
        "said by rebase"
      )
      yield* proposal.accept({ message: "said by accept" })
      yield* expectEqual("the message of accept", yield* messageOf(branch), "said by accept")
      yield* store.deleteBranch(proposed.proposal.branch)
      const other = nameOf(root, "messages")
      yield* store.createBranch(other)
      const theirs = store.onBranch(other)
      yield* theirs.collection("people").insert({}, { id: "m" })
      yield* people.insert({}, { id: "n" })
      const author = { name: "Ada Lovelace", email: "ada@example.org" }
      const signed = yield* Effect.either(store.merge(other, { message: "said by merge", author }))
      // A host may not let its clients choose an author.
      if (signed._tag === "Left") yield* store.merge(other, { message: "said by merge" })
      else yield* expectEqual("the author of merge", (yield* lastOf(given, branch)).author, author.name)
      yield* expectEqual("the message of merge", yield* messageOf(branch), "said by merge")
      yield* theirs.collection("people").insert({}, { id: "o" })
      yield* people.insert({}, { id: "p" })
      yield* store.merge(branch, { into: other })
      yield* expectEqual(
        "the message of a merge into another branch",
        yield* messageOf(other),
        `merge ${branch} into ${other}`
      )
      yield* store.deleteBranch(other)
    }),
  { shardDepth: 0 }
)
