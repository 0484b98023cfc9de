import { mutant } from "../bundled.js"

const attempts = "store/internal/write/MergeAttempt.ts"
const restore = "store/internal/write/Restore.ts"
const revert = "store/internal/write/Revert.ts"
const indexes = "store/internal/ChangeIndexes.ts"
const jsonSchemas = "store/internal/WriteJsonSchema.ts"
const merge = "store/internal/merge/MergeBranches.ts"
const proposals = "store/internal/proposal/Proposals.ts"
const message = "Its message is the option `message` of the call"
const versions = "store/internal/commit/VersionCodec.ts"
const json = "domain/json/CanonicalJson.ts"
const paths = "store/DocumentPath.ts"
const collections = "store/internal/MakeCollection.ts"
const judgement = "store/internal/commit/Preconditions.ts"
const codec = "store/internal/calls/Codec.ts"
const commit = "store/internal/commit/Commit.ts"
const edit = "store/internal/commit/BuildCommit.ts"

const file =
  "the document: two-space indent, sorted keys, one newline; with `_id`, `_rev`, `_created_at`, `_updated_at`"
const rises = "`_rev` rises by one, `_created_at` stays"
const exact =
  "A number that JavaScript cannot represent exactly can be read, but a write that would change it silently is refused."
const judged = "checks `expectedRev` there, recomputes index and manifest, and commits."
const conflict = "not as expected; `conflicts` lists documents with expected and actual versions"
const missing = "no such document, branch, ref or repository"
const rule = "an argument, an option or a stored file breaks a rule; `issues` names the paths"
const again =
  "writers of the same document are retried `conflictRetries` times and then fail with a `ConflictError` that contains both versions."
const others = "writers of different documents never see a conflict"
const batches =
  "If the branch moves, the batch is built again on the new head, up to `batchRetries` times; then it fails with `ConflictError`."
const shards = "directories by the leading characters of the id, or of its SHA-256 (`hash`)"
const schemas =
  "A stored document that does not match a collection's schema is a `ValidationError` that names the path"

/** Faults of documents and of writes of one of them. */
export const documents = [
  mutant("an update does not raise the revision", rises, [
    versions,
    "_rev: (before?.rev ?? next.rev ?? 0) + 1",
    "_rev: before?.rev ?? (next.rev ?? 0) + 1"
  ]),
  mutant("an update is created now", rises, [
    versions,
    "_created_at: (before === undefined ? next.createdAt : before.createdAt) ?? now",
    "_created_at: (before === undefined ? next.createdAt : undefined) ?? now"
  ]),
  mutant("an update was updated when it was created", file, [
    versions,
    "_updated_at: now",
    "_updated_at: before?.createdAt ?? now"
  ]),
  mutant("times have no milliseconds", file, [
    edit,
    "edit.derivedAt ?? new Date(yield* Timestamp.now(edit.operation)).toISOString()",
    'edit.derivedAt ?? new Date(yield* Timestamp.now(edit.operation)).toISOString().replace(/\\.\\d+/, "")'
  ]),
  mutant("a number is changed silently", exact, [
    versions,
    "const lost = yield* Steps.run(() => changedNumber(document, sources))",
    "const lost: InexactNumber | undefined = undefined"
  ]),
  mutant("an inexact number makes its document unwritable", exact, [
    "domain/json/JsonText.ts",
    "inexact.find(({ value }) => held.has(value))",
    "inexact.find(() => held !== undefined)"
  ]),
  mutant("keys are sorted by UTF-16 units", file, [
    "domain/text/CodePointOrder.ts",
    "if (left >= 0xd800 && right >= 0xd800) {",
    "if (left < 0) {"
  ]),
  mutant("keys keep their order", file, [
    json,
    "const names = yield* sortedKeys(keys)",
    "const names = keys"
  ]),
  mutant("files are indented by four spaces", file, [
    json,
    'indents.push(`\\n${"  ".repeat(indents.length)}`)',
    'indents.push(`\\n${"    ".repeat(indents.length)}`)'
  ]),
  mutant("files have no newline at their end", file, [
    json,
    "chunks.push(encoder.encode(`${printer.text}\\n`))",
    "chunks.push(encoder.encode(printer.text))"
  ]),
  mutant("exponents have one digit", file, [
    "domain/json/NumberText.ts",
    'exponent.padStart(2, "0")',
    'exponent.padStart(1, "0")'
  ]),
  mutant("text beyond ASCII is escaped", file, [
    json,
    'case "string":\n      return JSON.stringify(value)',
    'case "string":\n      return JSON.stringify(value).replace(/[\\u0080-\\uffff]/g, (unit) => `\\\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)'
  ]),
  mutant("hash shards take the id", shards, [paths, 'layout.shardBy === "hash" ? sha256(id) : id', "id"]),
  mutant("all shards are the first one", shards, [
    paths,
    "text.slice(level * shardWidth, (level + 1) * shardWidth)",
    "text.slice(0, shardWidth)"
  ]),
  mutant("shards are one character longer", shards, [
    paths,
    "text.slice(level * shardWidth, (level + 1) * shardWidth)",
    "text.slice(level * shardWidth, (level + 1) * shardWidth + 1)"
  ]),
  mutant("an insert overwrites", conflict, [collections, 'needs: "absent",', 'needs: "any",']),
  mutant("a replace creates", missing, [
    collections,
    'needs: "present",\n        precondition: expected(options),\n        next: () => Effect.succeed(givenVersion(encoded))',
    'needs: "any",\n        precondition: expected(options),\n        next: () => Effect.succeed(givenVersion(encoded))'
  ]),
  mutant("a delete of a missing document succeeds", missing, [
    collections,
    'needs: "present",\n        precondition: expected(options),\n        next: () => Effect.succeed(givenVersion(null))',
    'needs: "any",\n        precondition: expected(options),\n        next: () => Effect.succeed(givenVersion(null))'
  ]),
  mutant("a delete ignores expectedRev", judged, [
    collections,
    "precondition: expected(options),\n        next: () => Effect.succeed(givenVersion(null))",
    "next: () => Effect.succeed(givenVersion(null))"
  ]),
  mutant("an upsert ignores expectedRev", judged, [
    collections,
    'needs: "any",\n        precondition: expected(options),',
    'needs: "any",'
  ]),
  mutant("a missing document meets every expectedRev", judged, [
    judgement,
    "if (rev !== undefined && version?.rev !== rev) {",
    "if (rev !== undefined && version !== undefined && version.rev !== rev) {"
  ]),
  mutant("a later revision meets expectedRev", judged, [
    judgement,
    "if (rev !== undefined && version?.rev !== rev) {",
    "if (rev !== undefined && (version === undefined || version.rev < rev)) {"
  ]),
  mutant("an update overwrites", "`_rev` rises by one, `_created_at` stays", [
    collections,
    "codec.merge(placeOf(operation, id, stored.path), stored, patch)",
    "codec.encode(placeOf(operation, id, stored.path), patch as never)"
  ]),
  mutant("an upsert overwrites", "`_rev` rises by one, `_created_at` stays", [
    collections,
    "Effect.map(codec.mergeWhole(placeOf(operation, id, stored.path), stored, document), givenVersion)",
    "Effect.map(Effect.zipRight(Effect.succeed(stored), Effect.succeed(encoded)), givenVersion)"
  ]),
  mutant("the caller's message is ignored", "Every write of a store is a commit.", [
    collections,
    'options?.message ??\n        (typeof verb === "string"',
    '(typeof verb === "string"'
  ]),
  mutant("an upsert always says insert", "Every write of a store is a commit.", [
    collections,
    '(existing ? "update" : "insert")',
    '"insert"'
  ]),
  mutant("author and committer are exchanged", "name and email of commits", [
    edit,
    "author: edit.author ?? options.author,\n      committer: options.committer",
    "author: options.committer,\n      committer: edit.author ?? options.author"
  ]),
  mutant("the author is ignored", "name and email of commits", [
    edit,
    "author: edit.author ?? options.author,\n",
    ""
  ]),
  mutant("a conflict holds no versions", again, [
    judgement,
    "        rev: version.rev,\n        sha: version.oid,\n",
    ""
  ]),
  mutant("one retry less", again, [
    judgement,
    "if (conflicts.counted <= conflicts.allowed)",
    "if (conflicts.counted < conflicts.allowed)"
  ]),
  mutant("one retry more", again, [
    judgement,
    "if (conflicts.counted <= conflicts.allowed)",
    "if (conflicts.counted <= conflicts.allowed + 1)"
  ]),
  mutant("conflictRetries is ignored", again, [
    commit,
    "Preconditions.newConflictCount(edit.retries ?? options.conflictRetries)",
    "Preconditions.newConflictCount(2)"
  ]),
  mutant("every move of the branch is a conflict", others, [
    judgement,
    "if (changed.length === 0) return Effect.void\n",
    ""
  ]),
  mutant("one batch retry more", batches, [
    commit,
    "attempt >= (edit.retries ?? options.batchRetries)",
    "attempt > (edit.retries ?? options.batchRetries)"
  ]),
  mutant("batchRetries is ignored", batches, [
    commit,
    "attempt >= (edit.retries ?? options.batchRetries)",
    "attempt >= 1"
  ]),
  mutant("a batch is not built again", batches, [
    commit,
    "attempt >= (edit.retries ?? options.batchRetries)",
    "attempt >= 0"
  ]),
  mutant(
    "the deadline is ignored",
    "the time limit of a single write's retries while other writers move the branch",
    [
      commit,
      "if ((yield* Monotonic.millis) - started >= limit) {",
      "if ((yield* Monotonic.millis) - started < 0) {"
    ]
  ),
  mutant(
    "a lost race is not built again",
    "If another writer moved the branch meanwhile, the write starts again",
    [
      commit,
      'if (answer.left._tag !== "RefMoved") return yield* answer.left',
      'if (answer.left._tag !== "RefMoved") return yield* answer.left\n      if (attempt >= 0) return yield* raceError(edit, answer.left, "lost")'
    ]
  ),
  mutant("readOnly is ignored", "writes fail with `AuthError`; `ref` reads one commit or tag", [
    commit,
    "if (dependencies.options.readOnly || dependencies.isPinned)",
    "if (dependencies.isPinned)"
  ]),
  mutant(
    "a transaction of a store for reading begins",
    "writes fail with `AuthError`; `ref` reads one commit or tag",
    [
      "store/internal/transaction/Transactions.ts",
      "core.options.readOnly || core.isPinned ? readOnlyError(operation)",
      "core.branch === operation ? readOnlyError(operation)"
    ]
  ),
  mutant("an _id that contradicts is ignored", rule, [
    codec,
    "if (id === undefined || id === place.id) return undefined\n",
    "if (id === undefined || id !== null) return undefined\n"
  ]),
  mutant("an id may end in a newline", rule, [
    "domain/identifiers/DocumentId.ts",
    "{0,127}$/",
    "{0,127}\\n?$/"
  ]),
  mutant(
    "an id may have 200 characters",
    rule,
    ["domain/identifiers/DocumentId.ts", "{0,127}$/", "{0,199}$/"],
    ["domain/identifiers/DocumentId.ts", "if (id.length > 128)", "if (id.length > 200)"]
  ),
  mutant("a collection's name may begin with an underscore", rule, [
    "domain/identifiers/CollectionName.ts",
    'idProblem(name)?.replace("an id", "a collection\'s name")',
    'idProblem(String(name).replace(/^_/, ""))?.replace("an id", "a collection\'s name")'
  ]),
  mutant("generated ids are random", "Generated ids begin with the time", [
    "domain/identifiers/Ulid.ts",
    'return digits(lastTime, 10) + last.map((value) => digits(value, 4)).join("")',
    'return random.map((value) => digits(value, 4)).join("") + digits(lastTime, 10)'
  ]),
  mutant("ids of one millisecond do not rise", "Generated ids begin with the time", [
    "domain/identifiers/Ulid.ts",
    "if (now > lastTime) {",
    "if (now >= lastTime) {"
  ]),
  mutant("a schema's documents are written as they are", schemas, [
    codec,
    'Effect.mapError(encode(fill(document)), (error) => schemaError(place, error, "cannot be written"))',
    "Effect.succeed(JSON.parse(JSON.stringify(document)) as unknown)"
  ]),
  mutant("a schema's documents are read as they are", schemas, [
    codec,
    "Effect.flatMap(readDocument(place, content), (document) => fromDocument(place, document)),",
    "Effect.map(readDocument(place, content), (document) => attach(withoutMetadata(document) as A, document)),"
  ]),
  mutant("an update of a schema drops other fields", schemas, [
    codec,
    "return yield* validated(place, version, yield* overlay(place, version, fields))\n      }),\n    mergeWhole",
    "return yield* validated(place, version, fields)\n      }),\n    mergeWhole"
  ]),
  mutant("a misfit does not name its path", schemas, [
    codec,
    "const issues = ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path }) => ({",
    "const issues = ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path: _path }) => ({ path: [] as ReadonlyArray<PropertyKey>, message })).map(({ message, path }) => ({"
  ]),
  mutant("a write with a base ignores its message", message, [
    attempts,
    "message: message ?? `${method} ${place.path}`",
    "message: message === undefined ? `${method} ${place.path}` : `${method} ${place.path}`"
  ]),
  mutant("restore ignores its message", message, [
    restore,
    "message: options.message ?? `restore",
    "message: `restore"
  ]),
  mutant("revert ignores its message", message, [
    revert,
    "message: options.message ?? `revert",
    "message: `revert"
  ]),
  mutant("dropIndex ignores its message", message, [
    indexes,
    "message: message ?? `drop the index",
    "message: message === undefined ? `drop the index ${name} of ${collection}` : `drop the index"
  ]),
  mutant("createIndex ignores its message", message, [
    indexes,
    "message: message ?? `create the index",
    "message: message === undefined ? `create the index ${name} of ${collection}` : `create the index"
  ]),
  mutant("writeJsonSchema ignores its message", message, [
    jsonSchemas,
    "const text = message ?? `write the schema of ${collection}`",
    "const text = message === undefined ? `write the schema of ${collection}` : `write the schema of ${collection}`"
  ]),
  mutant(
    "a merge's default message names the store's branch",
    "The message of the merge commit. Default: `merge FROM into INTO`.",
    [merge, "`merge ${from} into ${target.branch}`", "`merge ${from} into ${core.branch}`"]
  ),
  mutant(
    "a merge ignores its author",
    "The author of the merge commit. Default: the author of the store's other commits.",
    [merge, "        author: options.author\n", "        author: undefined\n"]
  ),
  mutant("accept ignores its message", "The message of the merge commit.", [
    proposals,
    "const text = acceptedMessage(found, message)",
    "const text = acceptedMessage(found, message === undefined ? message : undefined)"
  ]),
  mutant("rebase ignores its message", "The message of the merge commit.", [
    proposals,
    "message: options.message ?? `merge ${into} into proposal ${id}`",
    "message: `merge ${into} into proposal ${id}`"
  ]),
  mutant(
    "an upsert replaces stored values by defaults",
    "`upsert` fills them in for a missing document and leaves those of a stored one.",
    [
      codec,
      "const isWhole = fill(document) === document || !isPlainObject(document as object)",
      "const isWhole = fill(document) !== null || !isPlainObject(document as object)"
    ]
  ),
  mutant("a conflict does not hold the stored document", "`conflicts` has both versions", [
    "store/internal/commit/Preconditions.ts",
    "document: Option.getOrUndefined(version.document)",
    "document: version.rev < 0 ? Option.getOrUndefined(version.document) : undefined"
  ]),
  mutant(
    "restored number is rounded",
    "A number that JavaScript cannot represent exactly can be read, but a write that would change it silently is refused.",
    [
      "store/internal/commit/VersionCodec.ts",
      "numberSources: past === undefined ? [] : [past.content]",
      "numberSources: []"
    ]
  ),
  mutant(
    "upsert writes defaults over stored fields",
    "`upsert` fills them in for a missing document and leaves those of a stored one.",
    [
      "store/internal/calls/Codec.ts",
      "const fields = isWhole ? whole : yield* encodePatch(place, version, document as object)",
      "const fields = whole"
    ]
  ),
  mutant("both versions of a conflict are the newer one", again, [
    "store/internal/commit/Preconditions.ts",
    "expected: describeVersion(seen.get(nameOfDocument(document)))",
    "expected: describeVersion(stored.get(nameOfDocument(document)))"
  ]),
  mutant("a different option merge is accepted", "options that differ are a `ValidationError`", [
    "domain/settings/Settings.ts",
    '    differ.push("merge")',
    "    void differ"
  ])
]
