import { mutant } from "../bundled.js"

const listed = "store/internal/ListIndexes.ts"
const unique = "store/internal/derived/Uniqueness.ts"
const derived = "store/internal/derived/DerivedWrites.ts"
const file = "store/internal/derived/DerivedFile.ts"
const index = "domain/indexes/IndexFile.ts"
const keys = "domain/indexes/IndexKey.ts"
const manifest = "domain/indexes/ManifestFile.ts"
const settings = "store/internal/snapshot/RepositorySettings.ts"
const edit = "store/internal/commit/BuildCommit.ts"
const changes = "store/internal/ChangeIndexes.ts"
const doctor = "store/internal/doctor/DoctorCollection.ts"
const doctorFiles = "store/internal/doctor/DoctorFiles.ts"

const same = "Index and manifest files change in the commit of the document."
const form = "from a value's key to ids; `tree` names the version of the collection that it describes"
const projected = "ids and projected fields of a collection, with the same `tree`"
const adopts =
  "Sharding, indexes and manifests belong to the repository: a store without these options adopts the recorded ones, and options that differ are a `ValidationError`."
const recorded =
  "the settings that every client must share; written by the first commit that needs more than the plain layout"
const doctors =
  "`doctor` lists files above 1 MB, ids that differ only in case, files outside of the layout, outdated or wrong indexes and manifests, unreadable documents, and work branches that a transaction left behind."
const oneCommit = "One commit changes the settings and writes or removes the files of the index."
const recordedAlready =
  "`createIndex` of an index that is recorded already writes nothing; another definition with the name of an index is refused."
const unknown = "An unknown option is a `ValidationError` too, which names the nearest known option"
const spelling = "The key of a number keeps the spelling of the document's file"
const healed = "`findBy` scans until the next write or `reindex` updates the index"

/** Faults of index and manifest files, settings and the doctor. */
export const derivedFiles = [
  mutant("deleted documents stay in the index", same, [
    index,
    "for (const { document, id } of changes) {\n    for (const key of",
    "for (const { document, id } of changes) {\n    if (document === undefined) continue\n    for (const key of"
  ]),
  mutant("old values stay in the index", same, [
    index,
    "for (const key of ids.get(id) ?? []) note(removed, key, id)\n",
    ""
  ]),
  mutant("empty keys stay in the index", same, [
    index,
    "if (left.length === 0) values.delete(key)\n    else values.set(key, left)",
    "values.set(key, left)"
  ]),
  mutant("elements are indexed twice", form, [
    keys,
    "[...new Set(field.map(indexKeyOf))]",
    "field.map(indexKeyOf)"
  ]),
  mutant("a list is indexed as a whole", form, [
    keys,
    "return Array.isArray(field) ? [...new Set(field.map(indexKeyOf))] : [indexKeyOf(field)]",
    "return [indexKeyOf(field)]"
  ]),
  mutant("null is not indexed", form, [
    keys,
    "if (field === undefined) return []",
    "if (field === undefined || field === null) return []"
  ]),
  mutant(
    "a missing field is indexed as null",
    form,
    [keys, "if (field === undefined) return []", 'if (field === undefined) return ["null"]'],
    [
      index,
      "document !== undefined && Object.hasOwn(document, field) ? indexKeysOf(document[field]) : []",
      "document !== undefined ? indexKeysOf(document[field]) : []"
    ]
  ),
  mutant("keys have no spaces", form, [
    "domain/json/CanonicalJson.ts",
    'return this.form === inline ? ", "',
    'return this.form === inline ? ","'
  ]),
  mutant("ids of an index are in the order of writes", form, [
    index,
    "return ids[at] === id ? ids : [...ids.slice(0, at), id, ...ids.slice(at)]",
    "return ids[at] === id ? ids : [...ids, id]"
  ]),
  mutant("an index has no time", form, [index, "updated_at: updatedAt", 'updated_at: ""']),
  mutant("an index has no tree", form, [
    index,
    "    ids: new JsonMap(index.ids),\n    tree\n",
    "    ids: new JsonMap(index.ids)\n"
  ]),
  mutant("a manifest has no tree", projected, [
    manifest,
    "    documents: new JsonMap(manifest.documents),\n    tree\n",
    "    documents: new JsonMap(manifest.documents)\n"
  ]),
  mutant("an index names the tree before", form, [
    derived,
    "changes.length === 0\n        ? before",
    "changes.length >= 0\n        ? before"
  ]),
  mutant("an index is written by the next commit", same, [
    edit,
    "      for (const change of derivation.changes) changes.push(change)\n",
    "      if (outcomes.every(({ before }) => Option.isNone(before))) for (const change of derivation.changes) changes.push(change)\n"
  ]),
  mutant("a manifest counts projected documents", projected, [
    manifest,
    "count: manifest.ids.length",
    "count: manifest.documents.size"
  ]),
  mutant("a manifest holds whole documents", projected, [
    manifest,
    "documents.set(id, project(document, fields))",
    "documents.set(id, document)"
  ]),
  mutant("a manifest keeps deleted ids", projected, [
    manifest,
    "if (many === undefined) ids = withoutId(ids, id)\n      else many.delete(id)",
    "if (many !== undefined) many.delete(id)"
  ]),
  mutant("a manifest keeps deleted documents", projected, [manifest, "      documents.delete(id)\n", ""]),
  mutant("a manifest shows missing fields as null", projected, [
    manifest,
    ".filter((field) => Object.hasOwn(document, field) && isPrintable(document[field]!))\n      .map((field) => [field, document[field]!])",
    ".map((field) => [field, document[field] ?? null])"
  ]),
  mutant("a stale file is carried on", healed, [
    derived,
    "if (recorded === before || recorded === base) return missing(file)",
    "if (recorded !== undefined) return missing(file)"
  ]),
  mutant("reindex keeps a file that names the tree", healed, [
    derived,
    "if (rebuild || recorded === undefined)",
    "if ((rebuild && changed.length > 0) || recorded === undefined)"
  ]),
  mutant("reindex always commits", healed, [
    file,
    "if (!isTouched && stored !== undefined) {",
    "if (!isTouched && stored === null) {"
  ]),
  mutant(
    "reindex tells no progress",
    "`collection.reindex({ onProgress })` and `store.reindex({ onProgress })` report the number of documents that were read, and the total.",
    [
      derived,
      "onRead?.({ collection, documents, total: listing.length }) ?? Effect.void",
      "onRead?.({ collection, documents: 0, total: 0 }) ?? Effect.void"
    ]
  ),
  mutant("rebuilds lose the spelling of numbers", spelling, [
    "domain/json/LosslessJson.ts",
    "Either.getOrElse(parseLossless(content), (): LosslessObject => ({}))",
    "Either.getOrElse(Either.try(() => JSON.parse(new TextDecoder().decode(content)) as LosslessObject), (): LosslessObject => ({}))"
  ]),
  mutant("unique values are not judged", "Of many writers of one value exactly one succeeds.", [
    edit,
    "if (found.length > 0)\n      return yield* uniqueViolationError",
    "if (found.length < 0)\n      return yield* uniqueViolationError"
  ]),
  mutant("unique values are judged row by row", "so one batch can swap the values of two documents.", [
    "store/internal/derived/DerivedWrites.ts",
    "violations(file.unique, changed, all)",
    "violations(file.unique, changed, [])"
  ]),
  mutant("only the first index is kept", same, [
    "store/internal/snapshot/RepositorySettings.ts",
    "return files.set(file.oid, { settings, recorded: true",
    "return files.set(file.oid, { settings: { ...settings, indexes: new Map(Array.from(settings.indexes, ([name, fields]) => [name, fields.slice(0, 1)])) }, recorded: true"
  ]),
  mutant("settings are not recorded", recorded, [
    edit,
    "const record = writesSettings && (",
    "const record = writesSettings && settings.recorded && ("
  ]),
  mutant("the plain layout is recorded too", recorded, [
    settings,
    "unrecorded: !isPlainSettings(asked),",
    "unrecorded: true,"
  ]),
  mutant("options that differ are accepted", adopts, [
    settings,
    "const differ = settingsDifferences(options.given, settings)",
    "const differ: ReadonlyArray<string> = []"
  ]),
  mutant("a store without options has the plain layout", adopts, [
    settings,
    "return files.set(file.oid, { settings, recorded: true",
    "return files.set(file.oid, { settings: asked, recorded: true"
  ]),
  mutant("reads ignore options that differ", adopts, [
    settings,
    "if (settings.mismatch !== undefined && !isOfThePast) return yield* settings.mismatch\n",
    ""
  ]),
  mutant("writes ignore options that differ", adopts, [
    "store/internal/commit/EditPlan.ts",
    "    if (found.mismatch !== undefined) return yield* found.mismatch\n",
    ""
  ]),
  mutant("a root keeps its slashes", 'where the collections are; `""` is the repository\'s own root', [
    "store/DocumentPath.ts",
    "=> trim(root, /\\//)",
    '=> root.replace(/\\/+$/, "")'
  ]),
  mutant("unknown options are ignored", unknown, [
    "domain/options/Options.ts",
    'onExcessProperty: "error"',
    'onExcessProperty: "ignore"'
  ]),
  mutant("a bare number is a duration", 'write `"30 seconds"` or `Duration.seconds(30)`, not `30`', [
    "domain/time/DurationInput.ts",
    'if (typeof given === "number") {',
    'if (typeof given === "number" && given < 0) {'
  ]),
  mutant("a new index has no rows", oneCommit, [
    changes,
    "Effect.succeedSome({ settings, reindex: [collection] })",
    "Effect.succeedSome({ settings, reindex: [] })"
  ]),
  mutant("a dropped index keeps its files", oneCommit, [
    changes,
    "left), files, reindex: [] })",
    "left), files: files.slice(0, 0), reindex: [] })"
  ]),
  mutant("all indexes are dropped", oneCommit, [
    changes,
    "const left = list.filter((one) => one.name !== name)",
    "const left = list.slice(0, 0)"
  ]),
  mutant("a new index replaces the others", oneCommit, [changes, "[...list, index])", "[index])"]),
  mutant("another definition is the same index", recordedAlready, [
    changes,
    "return sameIndex(existing, index)",
    "return existing.name === index.name"
  ]),
  mutant("a unique index is created as a plain one", oneCommit, [
    changes,
    "const index = decoded.right",
    "const index = { ...decoded.right, unique: false }"
  ]),
  mutant("a transaction changes indexes", "are refused inside", [
    changes,
    "core.transaction !== undefined\n",
    "core.transaction === null\n"
  ]),
  mutant("the doctor sees no case twins", doctors, [
    doctor,
    "if (same.length > 0) {",
    "if (same.length > 2) {"
  ]),
  mutant("the doctor sees no misplaced files", doctors, [
    doctor,
    "if (outside.length > 0) {",
    "if (outside.length > 20) {"
  ]),
  mutant("the doctor believes stale files", doctors, [
    doctorFiles,
    "if (value.tree !== current) return",
    'if (value.tree === "") return'
  ]),
  mutant("the doctor compares no index", doctors, [
    doctorFiles,
    "return !sameLists(values, rebuilt.values) || !sameLists(ids, rebuilt.ids)",
    "return values.size < 0 || rebuilt.ids.size < 0 || ids.size < 0"
  ]),
  mutant("the doctor compares no manifest", doctors, [
    doctorFiles,
    "return !manifestAgrees(manifest!, projected, changes)",
    "return projected.length < 0"
  ]),
  mutant("the doctor counts nothing", doctors, [
    doctorFiles,
    "hasCount(content, value.ids.length) && Either",
    "Either"
  ]),
  mutant("the doctor misses a missing index", doctors, [
    doctorFiles,
    "if (Option.isNone(file)) return add(missing(kind, path))",
    "if (Option.isNone(file)) return undefined"
  ]),
  mutant("the doctor sees no unreadable documents", doctors, [
    "store/internal/doctor/DoctorDocuments.ts",
    "if (broken.length > 0) {",
    "if (broken.length > 1) {"
  ]),
  mutant("the doctor sees no large documents", doctors, [
    "store/internal/doctor/DoctorDocuments.ts",
    "  ids.length === 0\n    ? []",
    "  ids.length <= 1\n    ? []"
  ]),
  mutant("the doctor sees no work branches", doctors, [
    "store/internal/doctor/Doctor.ts",
    "found.push(...(yield* leftBranches(core)))\n",
    ""
  ]),
  mutant("a listed index has no where", recorded, [
    listed,
    "where: where && Object.fromEntries(where),",
    "where: where && undefined,"
  ]),
  mutant("no listed index is unique", "no two documents may have the same values", [
    listed,
    "  unique,\n  where:",
    "  unique: unique && false,\n  where:"
  ]),
  mutant(
    "an index of several fields compares documents that have one of them",
    "an index of several fields compares only documents that have all of them",
    [unique, ".filter((values) => values.every(isPresent))", ".filter((values) => values.some(isPresent))"]
  ),
  mutant("a violation names ten documents", "fail with the violations (at most twenty)", [
    unique,
    "export const maxListed = 20",
    "export const maxListed = 10"
  ]),
  mutant(
    "where of an index does not look into lists",
    "compares values as `findBy` does: a list matches if it contains the value.",
    [
      "domain/indexes/IndexDefinition.ts",
      "if (!fieldMatches(toJson(valueAt(document, path)), value)) return false",
      "if (!fieldMatches([toJson(valueAt(document, path))] as never, value)) return false"
    ]
  ),
  mutant(
    "storage is advised from 2,001 documents on",
    "`advice` lists the recommended changes, from 2,000 documents on",
    [
      "store/internal/derived/StorageAdvice.ts",
      "size.documents < adviceThreshold",
      "size.documents <= adviceThreshold"
    ]
  ),
  mutant(
    "doctor compares only the ids of an index",
    "On this machine and in memory it reads every document, and compares indexes and manifests with a rebuild.",
    [
      "store/internal/doctor/DoctorFiles.ts",
      "!sameLists(values, rebuilt.values) || !sameLists(ids, rebuilt.ids)",
      "!sameLists(ids, rebuilt.ids)"
    ]
  ),
  mutant(
    "index that becomes unique is the same",
    "`createIndex` of an index that is recorded already writes nothing; another definition with the name of an index is refused.",
    [
      "store/internal/ChangeIndexes.ts",
      "return sameIndex(existing, index)",
      "return sameIndex(existing, { ...index, unique: existing.unique })"
    ]
  ),
  mutant(
    "where of an index compares lists as a whole",
    "compares values as `findBy` does: a list matches if it contains the value.",
    [
      "domain/indexes/IndexDefinition.ts",
      "fieldMatches(toJson(valueAt(document, path)), value)",
      "(JSON.stringify(toJson(valueAt(document, path))) === JSON.stringify(value))"
    ]
  ),
  mutant(
    "unique value is given up by every write",
    "A document keeps its value when its other fields change.",
    ["store/internal/derived/Uniqueness.ts", "if (had?.has(key) === true) continue", ""]
  ),
  mutant(
    "where of an index reads whole names only",
    "the index contains only documents with these values, by path (at most 16)",
    [
      "domain/indexes/IndexDefinition.ts",
      "fieldMatches(toJson(valueAt(document, path)), value)",
      "fieldMatches(toJson(document[path]), value)"
    ]
  )
]
