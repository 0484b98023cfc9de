import { mutant } from "../bundled.js"

const reader = "store/internal/CollectionReader.ts"
const exports = "store/transfer/Export.ts"
const versions = "store/internal/commit/VersionCodec.ts"
const restore = "store/internal/write/Restore.ts"
const revert = "store/internal/write/Revert.ts"
const preview = "store/internal/merge/Preview.ts"
const imports = "store/transfer/Import.ts"
const rows = "store/transfer/ImportRow.ts"
const text = "store/transfer/TextEncoding.ts"
const cell = "store/transfer/CellText.ts"

const exact =
  "writes that version exactly (if the document is still at that revision; `null`: if there is none): fields that were added later are removed, `_rev` keeps rising, `_created_at` stays."
const again = "A missing document is created again with its old `_created_at` and that version's `_rev` + 1."
const without = "A version without the document is a `NotFoundError`."
const forward =
  "reverts the documents of a commit, of any size, in a new commit, together with indexes and manifests."
const later =
  "If documents changed again since, it fails with a `ConflictError` that lists all of them; `force` overwrites them."
const files = "Files that are not documents are left alone and listed in `skipped`."
const first = "The first commit of a history, and a commit without documents, are a `ValidationError`."
const dry = "runs its body up to the first commit, which is not made, and returns what it would contain"
const chunks = "makes one commit per chunk"
const replaced =
  "An existing document is replaced and its `_rev` rises by one, unless its content already equals the record."
const once =
  "Rows that are stored already count as `unchanged`, including rows with generated ids, so no record is stored twice."
const csv = "CSV is UTF-8 with CRLF; missing and null are empty."
const guard = "`guardFormulas` puts an apostrophe before text that a spreadsheet would read as a formula"

/** Faults of restore, revert, preview, imports and exports. */
export const travel = [
  mutant("a document is made again with a new time", again, [
    versions,
    "_created_at: (before === undefined ? next.createdAt : before.createdAt) ?? now",
    "_created_at: (before === undefined ? undefined : before.createdAt) ?? now"
  ]),
  mutant("a document is made again with revision 1", again, [
    versions,
    "(before?.rev ?? next.rev ?? 0) + 1",
    "(before?.rev ?? 0) + 1"
  ]),
  mutant("a restored document has its old revision", exact, [
    versions,
    "(before?.rev ?? next.rev ?? 0) + 1",
    "(next.rev ?? before?.rev ?? 0) + 1"
  ]),
  mutant("a restore merges", exact, [
    restore,
    "          next: () => next\n",
    "          next: (now) =>\n            Effect.map(next, ({ document, ...others }) => ({\n              ...others,\n              document: Option.map(document, (past) => ({ ...Option.getOrUndefined(Option.flatMap(now, (it) => it.document)), ...past }))\n            }))\n"
  ]),
  mutant("restore ignores expectedRev", exact, [
    restore,
    "          precondition: expectationOf(options),\n",
    ""
  ]),
  mutant("restore ignores an expected absence", exact, [
    restore,
    "? { absent: true as const }",
    "? undefined"
  ]),
  mutant(
    "a version without the document is restored as nothing",
    without,
    [
      restore,
      "    if (Option.isNone(file)) {\n      return yield* new NotFoundError({",
      "    if (Option.isNone(file)) {\n      return yield* new ValidationError({"
    ],
    [
      restore,
      'import { NotFoundError } from "../../../domain/errors/StoreError.js"',
      'import { NotFoundError, ValidationError } from "../../../domain/errors/StoreError.js"'
    ]
  ),
  mutant("a revert overwrites later writes", later, [
    revert,
    "preconditions: options.force === true ? [] : preconditions",
    "preconditions: []"
  ]),
  mutant("force is ignored", later, [
    revert,
    "preconditions: options.force === true ? [] : preconditions",
    "preconditions"
  ]),
  mutant("a revert keeps what the commit made", forward, [
    revert,
    "const reverted = documents.filter(isReverted)",
    "const reverted = documents.filter((one) => isReverted(one) && one.before !== undefined)"
  ]),
  mutant("a revert brings nothing back", forward, [
    revert,
    "const reverted = documents.filter(isReverted)",
    "const reverted = documents.filter((one) => isReverted(one) && one.after !== undefined)"
  ]),
  mutant("a revert skips files silently", files, [
    revert,
    "        ...others,\n",
    "        ...others.slice(0, 0),\n"
  ]),
  mutant("a revert of a first commit is tried", first, [
    revert,
    "if (first === undefined) {",
    'if (first === "") {'
  ]),
  mutant("a revert of a commit without documents is a success", first, [
    revert,
    "if (outcome === undefined || Option.isNone(outcome.committed)) {",
    "if (outcome === undefined && options.force !== true) return { commitSha: commit.commit, documents: [], skipped }\n      if (outcome === undefined || Option.isNone(outcome.committed)) {"
  ]),
  mutant("a revert does not list its documents", forward, [
    revert,
    ".filter(({ after, before }) => Option.isSome(after) || Option.isSome(before))",
    ".filter(({ after }) => Option.isSome(after))"
  ]),
  mutant("a revert restores times of now", forward, [
    revert,
    "const next = Effect.succeed(pastVersion(pastOf(changed)))",
    "const next = Effect.succeed({ ...pastVersion(pastOf(changed)), createdAt: undefined })"
  ]),
  mutant("a preview writes", dry, [
    preview,
    "      show(commit.value)\n      return yield* stopped",
    "      show(commit.value)\n      return yield* remote.commitNext(branch, build)"
  ]),
  mutant("a preview hides failures", "It fails as the write would fail, for example with a conflict.", [
    preview,
    "return yield* Effect.as(exit as Exit.Exit<A, E | ReadError>, Option.none<NewCommit>())",
    'return exit._tag === "Success" ? Option.none<NewCommit>() : Option.none<NewCommit>()'
  ]),
  mutant("a preview lacks index and manifest files", dry, [
    preview,
    "shown = Option.orElse(shown, () => Option.some(commit))",
    "shown = Option.orElse(shown, () => Option.some({ ...commit, changes: commit.changes.slice(0, 1) }))"
  ]),
  mutant(
    "idField is ignored",
    "the field that contains the id; if it is blank or missing, an id is generated",
    [imports, "options.idField ?? defaultIdField", "defaultIdField"]
  ),
  mutant("chunkSize is ignored", chunks, [
    imports,
    "rechunk(rows(), options.chunkSize ?? 100)",
    "rechunk(rows(), 100)"
  ]),
  mutant(
    "a dry run writes",
    "writes nothing; `onRow` receives the action for every row: insert, replace, unchanged, or refuse with the reason",
    [
      imports,
      "options.dryRun === true ? previewChunk(target) : commitChunk(target, options.message, failure)",
      "commitChunk(target, options.message, failure)"
    ]
  ),
  mutant(
    "a dry run calls every row an insert",
    "writes nothing; `onRow` receives the action for every row: insert, replace, unchanged, or refuse with the reason",
    [
      rows,
      'action: found === undefined ? "insert"',
      'action: found === undefined || digests.size >= 0 ? "insert"'
    ]
  ),
  mutant("unchanged records are written", replaced, [
    imports,
    "      unchanged: Option.exists(",
    "      unchanged: stored === undefined && Option.exists("
  ]),
  mutant("an import skips existing documents", replaced, [
    imports,
    "(document) => contentOf(document) === row.content",
    '(document) => contentOf(document) !== ""'
  ]),
  mutant("generated ids are not those of the import", once, [
    rows,
    'text === "" ? generatedId(importId, row) : text',
    'text === "" ? generatedId(importId, row + Math.floor(performance.now() * 1000) % 100_000) : text'
  ]),
  mutant(
    "validate first is each",
    "`first` validates every row before the first commit (the records are read twice)",
    [
      imports,
      'if (options.validate === "first" && options.dryRun !== true) {\n      yield*',
      'if (options.validate === "first" && options.dryRun === true) {\n      yield*'
    ]
  ),
  mutant("an import's message is ignored", "Every write of a store is a commit.", [
    imports,
    "message: message ?? `import",
    "message: `import"
  ]),
  mutant(
    "an import goes on behind a bad row",
    "A row that cannot be stored fails the import with its number and reason before its chunk is written; earlier chunks stay committed.",
    [
      imports,
      "if (Either.isLeft(one)) return yield* rowError(one.left, report.importId, report.records)\n",
      "if (Either.isLeft(one)) continue\n"
    ]
  ),
  mutant("an import counts replacements as inserts", replaced, [
    imports,
    'inserted: report.inserted + countAction(done.rows, "insert")',
    'inserted: report.inserted + countAction(done.rows, "insert") + countAction(done.rows, "replace")'
  ]),
  mutant("CSV has line feeds alone", csv, [
    text,
    "`${cells.join(delimiter)}\\r\\n`",
    "`${cells.join(delimiter)}\\n`"
  ]),
  mutant("CSV writes null", csv, [
    cell,
    'if (value === undefined || value === null) return ""',
    'if (value === undefined) return ""\n  if (value === null) return "null"'
  ]),
  mutant("CSV quotes nothing", csv, [text, '/["\\r\\n]/.test(text) || text.includes(delimiter) || ', ""]),
  mutant("guardFormulas is ignored", guard, [
    text,
    'encoding.guardFormulas === true && typeof value === "string" ? escapeFormula(text) : text',
    "text"
  ]),
  mutant(
    "an export ignores its columns",
    '`collection.exportText(destination, "csv" \\| "ndjson" \\| "json", { columns, limit, onInvalid, guardFormulas })`',
    [
      "store/transfer/Export.ts",
      "selectColumns(document, options.columns)",
      "selectColumns(document, undefined)"
    ]
  ),
  mutant("an export of a view is of the head", "Views (`store.at`, `store.snapshot`) export too.", [
    "store/internal/Exports.ts",
    "  core.isPinned\n    ? Effect.succeed(core)",
    "  core.isPinned\n    ? Effect.succeed(core.onBranch(core.branch))"
  ]),
  mutant(
    "an export ignores its limit",
    '`collection.exportText(destination, "csv" \\| "ndjson" \\| "json", { columns, limit, onInvalid, guardFormulas })`',
    [
      "store/transfer/Export.ts",
      "collection.all({ limit, onInvalid: now })",
      "collection.all({ onInvalid: now })"
    ]
  ),
  mutant(
    "a preview shows the last commit",
    "Runs a body up to its first commit, which is not made, and returns what it would contain",
    [preview, "shown = Option.orElse(shown, () => Option.some(commit))", "shown = Option.some(commit)"]
  ),
  mutant("history has 31 entries", "at most `limit` (default 30)", [
    reader,
    "options?.limit ?? 30",
    "options?.limit ?? 31"
  ]),
  mutant(
    "onProgress is not called at the start",
    "Called with the current report at the start and after each chunk.",
    [imports, "    yield* notify()\n    // Outside", "    // Outside"]
  ),
  mutant(
    "a dry run forgets the rows of earlier chunks",
    "`onRow` receives the action for every row: insert, replace, unchanged, or refuse with the reason",
    [
      imports,
      "    Effect.gen(function* () {\n      const rows = chunk.filter",
      "    Effect.gen(function* () {\n      digests.clear()\n      const rows = chunk.filter"
    ]
  ),
  mutant("an import lists its newest commit first", "The commits that the import made, oldest first.", [
    imports,
    "onSome: (sha) => [...report.commits, sha]",
    "onSome: (sha) => [sha, ...report.commits]"
  ]),
  mutant(
    "the field of the ids may be in the 101st record only",
    "If another field is given and none of the first 100 records has it, the import fails.",
    ["store/transfer/IdField.ts", "const mostHeld = 100", "const mostHeld = 101"]
  ),
  mutant(
    "rows are counted from 0",
    "A row that cannot be stored fails the import with its number and reason before its chunk is written",
    [
      imports,
      "prepareRow(record, row + 1, idField, importId, target.check)",
      "prepareRow(record, row, idField, importId, target.check)"
    ]
  ),
  mutant("an export of JSON reports no progress", "Called as documents are written.", [
    exports,
    'yield* writeTo(destination, encode(tally(chosen)), "export")',
    'yield* writeTo(destination, encode(Stream.tap(chosen, () => Effect.sync(() => void count++))), "export")'
  ]),
  mutant("an export ignores onInvalid", 'With `onInvalid: "skip"` it is left out', [
    exports,
    "    const now = next\n",
    "    const now = next === undefined ? next : undefined\n"
  ]),
  mutant("blank id", "the field that contains the id; if it is blank or missing, an id is generated.", [
    "store/transfer/ImportRow.ts",
    ": String(given)\n  ).trim()",
    ": String(given)\n  )"
  ]),
  mutant("negative infinity", "NaN and infinities become `nan`, `inf` and `-inf`", [
    "store/transfer/Normalise.ts",
    'value > 0 ? "inf" : "-inf"',
    '"inf"'
  ]),
  mutant(
    "dry run forgets earlier chunks",
    "writes nothing; `onRow` receives the action for every row: insert, replace, unchanged, or refuse with the reason",
    [
      "store/transfer/Import.ts",
      "const fresh = new Set(rows.flatMap",
      "digests.clear()\n      const fresh = new Set(rows.flatMap"
    ]
  ),
  mutant("formula that begins with @", guard, [
    "store/transfer/TextEncoding.ts",
    "/^[=+\\-@\\t\\r]/",
    "/^[=+\\-\\t\\r]/"
  ]),
  mutant(
    "a missing idField is ignored for short sources",
    "Another field, that none of the first 100 records has, is a `ValidationError`, before anything is written",
    [
      "store/transfer/IdField.ts",
      "isFound || fields.length === 0 ? Stream.empty : Stream.fail(missingField(idField, fields))",
      "isFound ? Stream.empty : Stream.fromIterable(held)"
    ]
  ),
  mutant("a long number inside a CSV list is rounded", "it is never changed silently", [
    "store/transfer/CsvCell.ts",
    '  value instanceof UnheldNumber ||\n  (typeof value === "object" && value !== null && Object.values(value).some(containsUnheldNumber))',
    "  value instanceof UnheldNumber"
  ])
]
