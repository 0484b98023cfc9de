import { mutant } from "../bundled.js"

const pending = "store/internal/write/PendingOperations.ts"
const lastCommit = "Returns the body's result and the last commit."
const batches = "store/internal/write/Batches.ts"
const queue = "store/internal/write/OperationQueue.ts"
const judgement = "store/internal/commit/Preconditions.ts"
const writers = "store/internal/write/Writers.ts"
const transactions = "store/internal/transaction/Transactions.ts"
const publishing = "store/internal/transaction/Publish.ts"
const replay = "store/internal/transaction/Rebase.ts"

const wins = "The last operation on a document wins."
const absent = "An insert still requires an absent document if other operations on it follow."
const tolerant = "Deleting a document that the same batch has put is no error if the document did not exist."
const expects = "the `ConflictError` lists every document that does not meet its expectation"
const fails = "If the body fails or is interrupted, nothing is written."
const answer = "`commitSha` of the result is none if nothing had to be written."
const commits =
  "`commit` inside the body writes the operations queued so far; a commit that fails keeps the queue, `discard` empties it."
const puts =
  "`put` creates or replaces a document, `insert` requires that it does not exist, `delete` that it exists."
const order = "Commits keep the order of the calls."
const count =
  "A writer commits at `maxOperations` (50), `maxSeconds` (5) after the oldest waiting operation, on `flush`, and at its end."
const unwritten = "its error names in `unwritten` (and in `hint`) what is not durable."
const last = "If the body fails or is interrupted there is one more flush"
const appears = "Before that nothing is visible outside, and reads inside see the transaction's own writes."
const removed = "In every other case, interruption included, the branch is removed."
const unchanged =
  "If the target moved meanwhile, the commits are rebased onto the new head, if everything that the transaction read or wrote is unchanged there, up to `batchRetries` times."
const kept =
  "which names the documents and, in `branch`, the work branch; the branch is kept so that nothing is lost."
const stale = "`staleTransactions` lists the work branches that a crash or a conflict left behind"

/** Faults of batches, writers and transactions. */
export const brackets = [
  mutant("a failing body commits", fails, [
    batches,
    'return runBody("Store.batch", body, guardBatch(batch)).pipe(',
    'return runBody("Store.batch", body, guardBatch(batch)).pipe(\n        Effect.tapError(() => Effect.ignore(commit)),'
  ]),
  mutant("an interrupted body commits", fails, [
    batches,
    'return runBody("Store.batch", body, guardBatch(batch)).pipe(',
    'return runBody("Store.batch", body, guardBatch(batch)).pipe(\n        Effect.onInterrupt(() => Effect.ignore(commit)),'
  ]),
  mutant("the first operation on a document wins", wins, [
    queue,
    "    last.set(key, {\n      item,",
    "    last.set(key, {\n      item: before?.item ?? item,"
  ]),
  mutant("a put forgets an insert", absent, [
    queue,
    "absent: before?.absent === true || (item.kind",
    "absent: (item.kind"
  ]),
  mutant("deleting what was put fails", tolerant, [
    queue,
    'tolerant: before !== undefined && (before.tolerant || before.item.kind !== "delete")',
    "tolerant: false"
  ]),
  mutant("a batch deletes what is not there", puts, [
    queue,
    'item.kind === "delete" && !tolerant ? "present" : "any"',
    '"any"'
  ]),
  mutant("a batch inserts over what is there", puts, [
    queue,
    'needs: absent ? "absent" : item.kind',
    "needs: item.kind"
  ]),
  mutant("expectations are not judged", expects, [
    batches,
    "preconditions: Array.from(takenPreconditions.values())",
    "preconditions: []"
  ]),
  mutant("only the first expectation is told", expects, [
    judgement,
    "if (broken.length === 0) return Effect.void\n",
    "if (broken.length === 0) return Effect.void\n  broken.splice(1)\n"
  ]),
  mutant("an expected absence is not judged", expects, [
    judgement,
    'if (absent === true && version !== undefined) return "exists"\n',
    ""
  ]),
  mutant("an expected blob id is not judged", expects, [
    judgement,
    "if (sha !== undefined && version?.oid !== sha) {",
    "if (sha !== undefined && version === undefined) {"
  ]),
  mutant("a batch names no commit", answer, [
    batches,
    "Effect.map(commitSha, (sha) => ({ result, commitSha: sha }))",
    "Effect.map(commitSha, () => ({ result, commitSha: Option.none() }))"
  ]),
  mutant("discard keeps the queue", commits, [batches, "    pending.remove([...pending.all])\n", ""]),
  mutant("a commit that fails drops the queue", commits, [
    batches,
    "Effect.zipRight(pending.awaitChecks(), commitChecked).pipe(",
    "Effect.zipRight(pending.awaitChecks(), commitChecked).pipe(\n    Effect.tapError(() => Effect.sync(() => pending.remove([...pending.all]))),"
  ]),
  mutant("a commit inside leaves the queue", commits, [batches, "pending.remove(taken)\n", ""]),
  mutant("a batch goes on after its end", fails, [
    batches,
    "      ended\n        ? closed(operation)\n        : pending.add({ operation, kind, given, id, document, anyId, since: 0, refusal })",
    "      pending.add({ operation, kind, given, id, document, anyId, since: 0, refusal: () => undefined })"
  ]),
  mutant("a batch's message is ignored", "Every write of a store is a commit.", [
    batches,
    "options.message ?? core.transaction?.message ?? `batch: ${operations.length} operations`",
    "`batch: ${operations.length} operations`"
  ]),
  mutant(
    "what is queued is not copied",
    wins,
    [queue, "Either.try(() => copyJson(given) as JsonObject)", "Either.try(() => given as JsonObject)"],
    [queue, "if (Either.isLeft(copy)) {", "if (Either.isLeft(copy) && copyJson !== undefined) {"]
  ),
  mutant("a writer waits for one operation more", count, [
    writers,
    "if (pending.all.length >= maxOperations)",
    "if (pending.all.length > maxOperations)"
  ]),
  mutant("a writer reverses its operations", order, [
    writers,
    "operations: Queue.fold(items)",
    "operations: Queue.fold([...items].reverse())"
  ]),
  mutant("a writer commits the newest first", order, [
    writers,
    "const items = pending.ready(maxOperations)",
    "const items = pending.ready().slice(-maxOperations)"
  ]),
  mutant("a writer's commits are newest first", order, [
    writers,
    "ids.push(sha.value)",
    "ids.unshift(sha.value)"
  ]),
  mutant("a writer's message is ignored", "Every write of a store is a commit.", [
    writers,
    "options.message ?? `writer: ${items.length} operations`",
    "`writer: ${items.length} operations`"
  ]),
  mutant("a writer's discard drops nothing", "`discard` removes the queued operations", [
    writers,
    "pending.remove(dropped)\n        return",
    "return"
  ]),
  mutant("a failing body loses what is queued", last, [
    writers,
    "const last = yield* inDaemonFiber(boundedFlush(opened))",
    "const last = yield* Effect.succeed(Exit.void as Exit.Exit<void, WriteError>)"
  ]),
  mutant("a writer's error does not say what is not durable", unwritten, [
    writers,
    "unwritten: targets(items), hint",
    "unwritten: undefined, hint"
  ]),
  mutant("a writer's timer does nothing", count, [
    writers,
    "Effect.zipRight(Effect.sleep(Duration.millis(wait)), onTimer)",
    "Effect.sleep(Duration.millis(wait))"
  ]),
  mutant("a writer's flush flushes nothing", count, [
    writers,
    'return Effect.tapError(drain(0), () => resetTimer)\n      }).pipe(Effect.withSpan("Writer.flush"))',
    'return Effect.tapError(drain(queue.length), () => resetTimer)\n      }).pipe(Effect.withSpan("Writer.flush"))'
  ]),
  mutant("a writer's end flushes nothing", count, [
    writers,
    "const drainAndEnd: Effect.Effect<void, WriteError> = Effect.flatMap(drain(0), () =>",
    "const drainAndEnd: Effect.Effect<void, WriteError> = Effect.flatMap(Effect.void, () =>"
  ]),
  mutant("a writer loses what a failing flush held", "A failed flush keeps the queue", [
    writers,
    "if (!isRefused) pending.remove(items)",
    "pending.remove(items)"
  ]),
  mutant("a transaction writes on its target", appears, [
    transactions,
    "calls.of(core.onFork(work, readSet),",
    "calls.of(core.onFork(core.branch, readSet),"
  ]),
  mutant(
    "an operation works on the core that it was made with",
    "the transaction is looked up when an operation runs",
    ["store/internal/transaction/CurrentTransaction.ts", "?.inside ?? core", "?.target ?? core"]
  ),
  mutant(
    "an inner transaction works on the outer one's branch",
    "if it fails, the outer one continues without its writes",
    [
      "store/internal/transaction/CurrentTransaction.ts",
      "isSame(one.inside, core) ?",
      "!isSame(one.inside, one.inside) ?"
    ]
  ),
  mutant(
    "what an inner transaction read is forgotten",
    "The read set of a nested transaction is added to that of the outer one.",
    [transactions, "outer.readSet.add(readSet)", "outer.readSet.add(new ReadSet())"]
  ),
  mutant(
    "what a snapshot inside read is forgotten",
    "The read set of a nested transaction is added to that of the outer one.",
    ["store/internal/MakeStore.ts", "core.at(head, core.transaction?.readSet)", "core.at(head)"]
  ),
  mutant(
    "a transaction keeps its branch",
    removed,
    [
      transactions,
      "if (given.length > 0) yield* inDaemonFiber",
      "if (given.length < 0) yield* inDaemonFiber"
    ],
    ["store/internal/transaction/Publish.ts", "      branches.gone(work)\n", ""]
  ),
  mutant("a failing body is published", appears, [
    transactions,
    "        const result = yield* body(",
    "        const result = yield* (((inner: any) => Effect.catchAll(body(inner), () => Effect.void)) as typeof body)("
  ]),
  mutant("reads are no part of a transaction", unchanged, [
    replay,
    "written.has(keyOf(changed.collection, changed.id)) || read(changed)",
    'written.has(keyOf(changed.collection, changed.id)) || (read(changed) && changed.id === "")'
  ]),
  mutant("listed collections are no part of a transaction", unchanged, [
    replay,
    "    reads.directories.has(under(root, collection)) ||\n",
    ""
  ]),
  mutant("any change elsewhere is a conflict", unchanged, [
    replay,
    "reads.directories.has(root) ||",
    "reads.directories.size >= 0 ||"
  ]),
  mutant("a moved target is overwritten", unchanged, [
    publishing,
    "if (conflicts.length > 0 || attempt >= core.options.batchRetries) {",
    "if (attempt >= core.options.batchRetries) {"
  ]),
  mutant("a moved target ends a transaction", unchanged, [
    publishing,
    "if (conflicts.length > 0 || attempt >= core.options.batchRetries) {",
    "if (conflicts.length > 0 || attempt >= 0) {"
  ]),
  mutant("a conflict keeps no branch", kept, [publishing, "      branches.keep(work)\n", ""]),
  mutant("a conflict names no branch", kept, [publishing, "    branch: work,\n", ""]),
  mutant("a conflict names no documents", kept, [
    replay,
    "    return theirs.documents\n      .filter((changed) =>",
    '    return theirs.documents.slice(0, 1).map((one) => ({ ...one, id: "" }))\n      .filter((changed) => changed.id === "" ||'
  ]),
  mutant("commits made again lose their messages", "the commits are rebased onto the new head", [
    replay,
    "message: commit.message,",
    'message: "again and again",'
  ]),
  mutant("commits made again lose revisions", unchanged, [
    replay,
    "rev: version === undefined ? 0 : version.rev - 1\n",
    "rev: 0,\n          createdAt: undefined\n"
  ]),
  mutant("stale transactions are not listed", stale, [
    transactions,
    "!isRunning(name) && /^",
    "isRunning(name) && /^"
  ]),
  mutant("running transactions are listed as stale", stale, [transactions, "!isRunning(name) && /^", "/^"]),
  mutant("any branch can be removed", "`removeTransaction(branch)` removes one.", [
    transactions,
    "if (!branch.startsWith(workPrefix)) {",
    "if (branch.length === 0) {"
  ]),
  mutant("removing a transaction removes nothing", "`removeTransaction(branch)` removes one.", [
    transactions,
    "        yield* core.remote.deleteBranch(branch)\n      })",
    "        yield* core.remote.head(branch)\n      })"
  ]),
  mutant("operations counts documents twice that were put twice", "The number of queued operations.", [
    pending,
    "return this.newest.size",
    "return this.queue.length"
  ]),
  mutant(
    "a commit keeps the expectations",
    "Writes the queued operations as one commit and empties the queue.",
    [
      batches,
      "if (preconditions.get(key) === precondition) preconditions.delete(key)",
      "if (preconditions.get(key) !== precondition) preconditions.delete(key)"
    ]
  ),
  mutant("discard keeps the expectations", "Discards everything that is queued, including expectations.", [
    batches,
    "    pending.remove([...pending.all])\n    preconditions.clear()\n",
    "    pending.remove([...pending.all])\n"
  ]),
  mutant("an end that commits nothing hides the last commit", lastCommit, [
    batches,
    "if (Option.isSome(commitSha)) latest = commitSha\n",
    "latest = commitSha\n"
  ]),
  mutant("the list of a writer's commits grows later", "Ids of the commits made so far.", [
    writers,
    "commits: Effect.sync(() => [...ids])",
    "commits: Effect.sync(() => ids)"
  ]),
  mutant(
    "flush tells the first commit",
    "Commits all queued operations. Returns the last commit; none if nothing had to be written.",
    [writers, "if (Option.isSome(sha)) last = sha\n", "if (Option.isNone(last)) last = sha\n"]
  ),
  mutant(
    "a writer waits for maxSeconds after the newest operation",
    "The number of seconds after the first queued operation that causes a flush.",
    [
      writers,
      "const oldest = pending.all[taken]\n",
      "const oldest = pending.all.length > taken ? pending.all.at(-1) : undefined\n"
    ],
    [
      writers,
      "else if (timer === undefined && draining === undefined) yield* setTimer(0)",
      "else if (draining === undefined) yield* setTimer(0)"
    ]
  ),
  mutant(
    "an error of a flush names the operations of one commit",
    "A failed flush keeps the queue and names the operations that are not durable in `unwritten`.",
    [
      writers,
      'withUnwritten(error, error._tag === "AmbiguousWriteError" ? items : pending.all)',
      "withUnwritten(error, items)"
    ]
  ),
  mutant(
    "discard counts all operations that waited",
    "Discards the queued operations that are not being written, such as one that cannot succeed; returns their number.",
    [
      writers,
      "return Effect.as(setTimer(0), dropped.length)",
      "return Effect.as(setTimer(0), pending.all.length)"
    ]
  ),
  mutant(
    "a stale transaction started when its branch was listed",
    "Work branches that remain after a crash or a conflict.",
    [
      transactions,
      "startedAt: new Date(timeOf(name.slice(workPrefix.length)))",
      "startedAt: new Date(timeOf(name.slice(workPrefix.length)) * 0 + Date.now())"
    ]
  ),
  mutant(
    "a running transaction's branch can be removed",
    "Fails with `ValidationError` on any other branch, and on the branch of a running transaction of this process.",
    [transactions, "        if (isRunning(branch)) {", '        if (isRunning(branch) && branch === "") {']
  ),
  mutant("a transaction that writes nothing names a commit", "commitSha", [
    "store/internal/transaction/Publish.ts",
    "if (written.commit === base.commit) return Option.none()",
    "if (written.commit === base.commit) return Option.some(base.commit)"
  ]),
  mutant(
    "a batch insert with another _id is refused",
    "returns its id, which is generated unless `options.id` is given",
    [
      "store/internal/write/Batches.ts",
      'Effect.as(add("insert", collection, id, document, given?.id === undefined), id)',
      'Effect.as(add("insert", collection, id, document), id)'
    ]
  )
]
