import { mutant } from "../bundled.js"

const entries = "store/internal/HistoryEntries.ts"
const reader = "store/internal/CollectionReader.ts"
const scans = "store/internal/query/Scans.ts"
const queries = "store/internal/query/Queries.ts"
const treeRows = "store/internal/query/IndexTreeRows.ts"
const treeAnswer = "store/internal/query/IndexTreeQuery.ts"
const listing = "store/internal/snapshot/Listing.ts"
const values = "store/internal/query/IndexFileQuery.ts"
const way = "store/internal/query/QueryExecution.ts"
const keys = "domain/indexes/IndexKey.ts"
const matching = "domain/query/Matching.ts"
const ordering = "domain/query/Ordering.ts"
const selection = "domain/query/Selection.ts"
const distinct = "store/internal/query/DistinctValues.ts"
const fieldPath = "domain/json/FieldPath.ts"
const core = "store/internal/commit/MakeCore.ts"
const assembly = "store/internal/MakeStore.ts"

const head = "`get`, `exists`, `list`, `count`, `page` and `findBy` read the branch's head."
const streams = "A Stream reads the one commit that was the head when it began"
const finds =
  '`findBy(field, value)` matches when the field equals the value (`1` is not `"1"`) or is a list that contains it.'
const cursors = "store/internal/query/QueryCursor.ts"
const otherCursor = "A cursor of another query is refused; `limit` and `select` may change."
const pagesOfQuery = "pages neither skip nor repeat documents when others are added or removed."
const paths =
  "`address.city` is the member of that whole name if the document has one, or else the member `city` of the object `address`."
const unreadable = "`findBy` without an index always finds it."
const agrees = "Results never depend on indexes, which only change what is read."
const skips = '`onInvalid: "skip"` or a function skips it.'
const views = "`snapshot` and `at(ref)` are views of one commit"
const refs = "A ref is a commit's id or its beginning, a branch or a tag, with Git's suffixes for ancestors"
const version =
  "`version(id)` returns a document with its revision, its blob id (`sha`, for `expect`) and the commit that was read."
const foreign = "An index or manifest without `tree`, as other programs write them, counts as stale too"
const noticed = "`findBy` scans until the next write or `reindex` updates the index, and `explain` says so."
const spelling = '`10` and `10.0` are different keys, and `findBy("n", 10)` finds both.'
const serial =
  "The result of a read, and the reason of a refusal, are correct at some commit between the head before the call and the head after it."

const fileCache = "store/internal/snapshot/FileCache.ts"
const failing = "A cache whose methods throw or reject costs requests, but does not change results."
const content = "An entry contains `content`, the blob id `oid`"

/** Faults of reads. */
export const reads = [
  mutant("ids are sorted by language", head, [
    listing,
    "const byId = (a: ListedDocument, b: ListedDocument): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)",
    "const byId = (a: ListedDocument, b: ListedDocument): number => a.id.localeCompare(b.id)"
  ]),
  mutant("after is inclusive", head, [
    listing,
    "if (this.id(middle) <= id) low",
    "if (this.id(middle) < id) low"
  ]),
  mutant("a limit is one too large", head, [
    listing,
    "Math.min(listing.length, from + limit)",
    "Math.min(listing.length, from + limit + 1)"
  ]),
  mutant("a full last page has a cursor", head, [
    scans,
    "const more = rest.length > size",
    "const more = rest.length >= size"
  ]),
  mutant("a cursor is the first id", head, [
    scans,
    "cursor: more ? listing.id(size - 1) : null",
    "cursor: more ? listing.id(0) : null"
  ]),
  mutant(
    "pages look at the head anew",
    streams,
    [
      scans,
      '(located) =>\n        Stream.paginateEffect(after, (after) =>\n          Effect.map(\n            pageOf(queried, "pages", located, ',
      '(_located) =>\n        Stream.paginateEffect(after, (after) =>\n          Effect.map(\n            Effect.flatMap(locate(queried, "pages", {}), (located) => pageOf(queried, "pages", located, '
    ],
    [
      scans,
      "size ?? 100, after === undefined ? {} : { after }),\n",
      "size ?? 100, after === undefined ? {} : { after })),\n"
    ]
  ),
  mutant("find limits before it looks", streams, [
    scans,
    'const cut = bounded && (options.onInvalid ?? "fail") === "fail" ? options.limit',
    'const cut = (options.onInvalid ?? "fail") === "fail" ? options.limit'
  ]),
  mutant("all ignores its limit", streams, [
    scans,
    'limited(everything(queried, "all", options, true), options.limit)',
    'everything(queried, "all", options, false)'
  ]),
  mutant("onInvalid skip fails", skips, [
    reader,
    'else if (onInvalid === "fail") return yield* answer.left',
    'else if (typeof onInvalid === "string") return yield* answer.left'
  ]),
  mutant("onInvalid is not told", skips, [
    reader,
    'else if (onInvalid !== "skip") yield* onInvalid(id, answer.left)\n',
    ""
  ]),
  mutant(
    "history ignores its limit",
    "An acknowledged write is in the history exactly once",
    [reader, "core.remote.log(head.value, path, { limit })", "core.remote.log(head.value, path, {})"],
    [reader, "Stream.runCollect(Stream.take(log, limit))", "Stream.runCollect(log)"]
  ),
  mutant("history is of all documents", "An acknowledged write is in the history exactly once", [
    reader,
    "core.remote.log(head.value, path, { limit })",
    'core.remote.log(head.value, "", { limit })'
  ]),
  mutant("history is oldest first", "An acknowledged write is in the history exactly once", [
    reader,
    "return Array.from(commits, historyEntry)",
    "return Array.from(commits, historyEntry).reverse()"
  ]),
  mutant("history names the committer's mark", "Every write of a store is a commit.", [
    entries,
    "message: withoutMark(message),",
    "message: `${withoutMark(message)} `,"
  ]),
  mutant("version names a tree", version, [
    reader,
    "sha: file.value.oid, commit: head.value.commit",
    "sha: file.value.oid, commit: head.value.tree"
  ]),
  mutant("version names the commit twice", version, [
    reader,
    "sha: file.value.oid, commit: head.value.commit",
    "sha: head.value.commit, commit: head.value.commit"
  ]),
  mutant("version begins at 0", version, [
    reader,
    "Option.some({ document, rev: stored._rev, sha",
    "Option.some({ document, rev: stored._rev - 1, sha"
  ]),
  mutant("candidates are not compared with documents", finds, [
    matching,
    "return test(value) || (isList(value) && value.some(test))",
    "return true"
  ]),
  mutant("lists do not contain", finds, [
    matching,
    "return test(value) || (isList(value) && value.some(test))",
    "return test(value)"
  ]),
  mutant('1 is "1"', finds, [
    matching,
    "return (found) => equalJson(found, test.value)",
    "return (found) => String(found) === String(test.value)"
  ]),
  mutant("objects are compared by their keys alone", finds, [
    "domain/json/JsonEquality.ts",
    "Object.hasOwn(b, key) && equalJson(a[key], b[key])",
    "Object.hasOwn(b, key)"
  ]),
  mutant("a list is looked for as a whole", finds, [
    keys,
    "[...new Set([...keysOfValue(value, known), ...keysOfValue(first, known)])]",
    "[...new Set(keysOfValue(value, known))]"
  ]),
  mutant("an empty list is looked for in the index", finds, [
    values,
    "values.some((value) => Array.isArray(value) && value.length === 0)",
    "values.some((value) => Array.isArray(value) && value.length < 0)"
  ]),
  mutant("numbers have one spelling", spelling, [
    keys,
    "return [...numberSpellings(value), ...more]",
    "return [indexKeyOf(value), ...more]"
  ]),
  mutant(
    "findBy ignores its limit",
    finds,
    [queries, "limit: most, findsUnreadable: true", "findsUnreadable: true"],
    [
      queries,
      "limit === undefined ? decoded : Stream.take(decoded, limit)",
      "limit === undefined ? decoded : decoded"
    ]
  ),
  mutant(
    "a scan ignores after",
    finds,
    [way, 'countBefore(listing, (id) => idKey(id, "asc") > after.key)', "0"],
    [queries, 'after === undefined ? undefined : { key: idKey(after, "asc"), fields: "" }', "undefined"]
  ),
  mutant("findBy follows the dots of a name", finds, [
    matching,
    "if (whole && !Object.hasOwn(document, path)) return false",
    ""
  ]),
  mutant("a query takes a path for a name", paths, [
    fieldPath,
    'of path.split(".")) {\n    if',
    "of [path]) {\n    if"
  ]),
  mutant("the dots of a path are followed first", paths, [
    fieldPath,
    "if (Object.hasOwn(document, path)) return document[path]\n  let value",
    "let value"
  ]),
  mutant("a scan of findBy passes over files that hold no document", unreadable, [
    queries,
    "findsUnreadable: true",
    "findsUnreadable: false"
  ]),
  mutant("a stale index is believed", noticed, [
    values,
    "if (index.tree !== undefined && index.tree !== tree) {",
    'if (index.tree === "") {'
  ]),
  mutant("an index without tree is believed", foreign, [
    values,
    "if (index.tree === undefined && !core.options.trustForeignIndexes) {",
    'if (index.tree === "") {'
  ]),
  mutant(
    "trustForeignIndexes is ignored",
    "uses index and manifest files that do not name the version that they describe",
    [
      values,
      "if (index.tree === undefined && !core.options.trustForeignIndexes) {",
      "if (index.tree === undefined) {"
    ]
  ),
  mutant("explain calls a stale index current", noticed, [
    values,
    "const unusable = (reason: string) => Either.left({ reason, path, isCurrent: false })",
    "const unusable = (reason: string) => Either.left({ reason, path, isCurrent: true })"
  ]),
  mutant("explain says scan", noticed, [
    queries,
    'const source = isScan ? "scan" : "index"',
    'const source = "scan"'
  ]),
  mutant("no index is looked at", noticed, [
    "store/internal/query/QueryPlan.ts",
    'return valuesPlan(query, means) ?? { _tag: "Scan", reason: "no index fits the query" }',
    'return { _tag: "Scan", reason: "no index fits the query" }'
  ]),
  mutant("a range leaves out its last value", agrees, [
    "store/internal/query/KeyRanges.ts",
    "return { ...all, until: after(greatest) }",
    "return { ...all, until: before(least) }"
  ]),
  mutant("ranges are not merged", agrees, [
    treeRows,
    "return distinctKeys(mergeSorted(streams))",
    "return Stream.flatMap(Stream.fromIterable(streams), (stream) => stream)"
  ]),
  mutant("any row orders its document", agrees, [
    treeAnswer,
    "if (found === undefined || (plan.isOrdered && found.key !== rowsOrder)) continue",
    "if (found === undefined) continue"
  ]),
  mutant("a query does not look at what changed without the index", agrees, [
    treeRows,
    "const there = changed.value.flatMap(({ after, id }) => (after === undefined ? [] : [id]))",
    "const there: Array<string> = []"
  ]),
  mutant("a cursor of another query is taken", otherCursor, [
    cursors,
    "if (cursor !== `${hashOf(collection, query, text)}.${text}`) return undefined\n",
    ""
  ]),
  mutant(
    "the limit is part of a cursor",
    otherCursor,
    [cursors, "{ order, predicate }: CheckedQuery", "{ limit, order, predicate }: CheckedQuery"],
    [cursors, "[collection, predicate, order, key]", "[collection, predicate, order, key, limit ?? null]"]
  ),
  mutant("the next page begins at the first id again", pagesOfQuery, [
    "store/internal/query/QueryTarget.ts",
    "after === undefined || key > after.key",
    "after === undefined || key !== after.key"
  ]),
  mutant("a full last page of a query has a cursor", "`cursor` is null on the last page", [
    queries,
    "answered.result.length > limit && last !== undefined",
    "answered.result.length >= limit && last !== undefined"
  ]),
  mutant("a page has no explanation", "the page with its `explanation`", [
    queries,
    "return read.explains ? { ...page, explanation: yield* explanationOf(answered) } : page",
    "return page"
  ]),
  mutant("a view sees the head", views, [core, '{ _tag: "Commit", head, readSet }', '{ _tag: "Branch" }']),
  mutant("resolveRef ignores steps back", refs, [
    "git/Revision.ts",
    "for (let left = one.back; left > 0 && at !== undefined; left--)",
    "for (let left = 0; left > 0 && at !== undefined; left--)"
  ]),
  mutant(
    "short ids are unknown",
    refs,
    [
      "git/Revision.ts",
      "if (found.length === 1) return source.peel(found[0]!)",
      "if (found.length === 0) return undefined"
    ],
    ["git/Revision.ts", "return commits.length === 1 ? commits[0] : undefined", "return undefined"]
  ),
  mutant("collections are all directories", head, [
    assembly,
    'kind === "tree" && collectionNameProblem(path) === undefined',
    'kind === "tree"'
  ]),
  mutant("a cache that fails fails the read", failing, [
    fileCache,
    'Effect.as(Effect.logDebug("a cache failed", cause), otherwise)',
    "Effect.failCause(cause as never)"
  ]),
  mutant("a buffer that a cache was given is used again", content, [
    fileCache,
    "return orIfFailing(() => cache.set(keyOf(path), file.value), undefined)",
    "return Effect.tap(orIfFailing(() => cache.set(keyOf(path), file.value), undefined), () => Effect.yieldNow().pipe(Effect.map(() => void file.value.content.fill(32))))"
  ]),
  mutant(
    "a cached version is an answer",
    serial,
    [
      "store/internal/snapshot/Snapshot.ts",
      "if (isExact && Option.isSome(cached)) return cached",
      "if (Option.isSome(cached)) return cached"
    ],
    [
      "store/internal/snapshot/Snapshot.ts",
      "const files = isExact || source.revalidates() ? cache?.files : undefined",
      "const files = cache?.files"
    ]
  ),
  mutant(
    "a view fills the branch's cache",
    views,
    [core, "{ ...options, readOnly: true, cache: options.viewCache() }", "{ ...options, readOnly: true }"],
    [core, 'const cacheOwner =\n    place._tag !== "Commit"', "const cacheOwner =\n    remote !== undefined"]
  ),
  mutant("collections are unsorted", head, [
    assembly,
    "      .sort(compareCodePoints)\n",
    "      .sort((a, b) => compareCodePoints(b, a))\n"
  ]),
  mutant("onBranch is the same branch", 'where the collections are; `""` is the repository\'s own root', [
    core,
    "    branch: name,\n    cache: options.viewCache()",
    "    cache: options.viewCache()"
  ]),
  mutant("a missing branch is empty", "no such document, branch, ref or repository", [
    core,
    'if (probe.repository === "empty" || probe.branch) return undefined',
    'if (probe.repository !== "absent") return undefined'
  ]),
  mutant(
    "an entry that is too large leaves the entry before it",
    "The last entry that was set for this key; none if there is none or it was evicted.",
    [
      "domain/runtime/LruCache.ts",
      "    this.delete(key)\n    if (weight > largest) return value\n",
      "    if (weight > largest) return value\n    this.delete(key)\n"
    ]
  ),
  mutant("a promise of a cache's set is not awaited", "Stores an entry; a returned promise is awaited.", [
    "store/Cache.ts",
    "return settled(() => cache.set(key, entry))",
    "return Effect.sync(() => void cache.set(key, entry))"
  ]),
  mutant(
    "the provided cache takes precedence over the option",
    "Without this option the store uses the cache that the program provides as `StoreCache`",
    ["store/Store.ts", "cache: options.cache ?? provided", "cache: provided ?? options.cache"]
  ),
  mutant("clear of an AsyncCache is called once", "Removes all entries.", [
    "store/Cache.ts",
    "readonly clear = settled(() => cache.clear())",
    "private once: Promise<unknown> | undefined\n    readonly clear = Effect.promise(() => (this.once ??= Promise.resolve(cache.clear()))) as Effect.Effect<any>"
  ]),
  mutant(
    "invalidate of a path does nothing",
    "Removes a path, or everything, from the caches: the next read asks the remote.",
    ["store/internal/commit/MakeCore.ts", "? cache.delete(path)", "? Effect.void"]
  ),
  mutant("in does not find lists and objects", "one of these values", [
    matching,
    'const others = values.filter((value) => typeof value === "object")',
    "const others = values.filter((value) => value === null)"
  ]),
  mutant(
    "the first of two conditions selects the element that sorts",
    "If the query has exactly one condition on this field that every document must satisfy, only the elements that satisfy it count.",
    [ordering, "return found.length === 1 && only", "return found.length >= 1 && only"]
  ),
  mutant(
    "ids are in the direction of the first field",
    "Documents that are equal in all fields are ordered by `_id`, in the direction of the last field",
    [ordering, 'ids: fields.at(-1)?.order ?? "asc"', 'ids: fields[0]?.order ?? "asc"']
  ),
  mutant(
    "a selected name with dots is followed",
    "A path names the member with this whole name or, if there is none, a nested member by the names between its dots.",
    [selection, "if (Object.hasOwn(document, path)) pick(document, [path], selected)\n      else if", "if"]
  ),
  mutant("startsWith ignores case", "a text that begins so; case matters", [
    matching,
    "found.startsWith(test.value)",
    "found.toLowerCase().startsWith(test.value.toLowerCase())"
  ]),
  mutant(
    "texts are compared by UTF-16 units",
    "numbers are compared with a number, texts with a text by code point",
    [
      matching,
      "accept(compareCodePoints(found, value))",
      "accept(found === value ? 0 : found < value ? -1 : 1 || compareCodePoints(found, value))"
    ]
  ),
  mutant("null does not exist", "anything, null too; nothing", [
    matching,
    "return (document) => valuesIn(document, path).length > 0",
    "return (document) => valuesIn(document, path).some((value) => value !== null)"
  ]),
  mutant(
    "explainQuery reads a page of 100",
    "which index is used, the estimated reads, and the reads of one page",
    [
      queries,
      "yield* explanationOf(yield* pageFound(queried, read, read.query.limit ?? pageSize))",
      "yield* explanationOf(yield* pageFound(queried, read, pageSize))"
    ]
  ),
  mutant("an empty list is a distinct value", "the elements of a list count as values", [
    distinct,
    "if (Array.isArray(value) && value.length === 0) return\n",
    ""
  ]),
  mutant(
    "every element of a list counts for the order",
    "If the query has exactly one condition on this field that every document must satisfy, only the elements that satisfy it count.",
    ["domain/query/Ordering.ts", "(allowed.length === 0 ? value : allowed).map", "value.map"]
  ),
  mutant("cursor of another collection", otherCursor, [
    "store/internal/query/QueryCursor.ts",
    "[collection, predicate, order, key]",
    "[predicate, order, key]"
  ]),
  mutant(
    "members by value before key",
    "objects, compared member by member in the order of their keys: key first, then value.",
    [
      "domain/json/JsonOrder.ts",
      "compareCodePoints(a[0], b[0]) || compareValues(a[1], b[1])",
      "compareValues(a[1], b[1]) || compareCodePoints(a[0], b[0])"
    ]
  ),
  mutant("keys of texts by UTF-16 unit", "texts by Unicode code point, not by any language", [
    "domain/indexes/SortKey.ts",
    "const codePoint = unit < 0xd800 ? unit : unit >= 0xe000 ? unit - 0x800 : unit + 0x2000",
    "const codePoint = unit"
  ]),
  mutant(
    "memory cache drops the etag",
    "An entry contains `content`, the blob id `oid` and, over GitHub, the `etag`. Store all of it",
    [
      "store/Cache.ts",
      "void this.#entries.set(key, { ...entry, content: entry.content.slice() })",
      "void this.#entries.set(key, { oid: entry.oid, content: entry.content.slice() })"
    ]
  ),
  mutant("the size of values is limited for each value only", "1,000,000 characters of values", [
    "domain/query/ReadWhere.ts",
    "this.#text += text.right.length",
    "this.#text = text.right.length"
  ]),
  mutant(
    "an undefined bound is ignored",
    "An undefined value is refused, so that a forgotten filter does not find everything.",
    [
      "domain/query/ReadWhere.ts",
      "      if (!isOperator(name)) return this.#unknown(at, path, name)",
      "      if (value === undefined) continue\n      if (!isOperator(name)) return this.#unknown(at, path, name)"
    ]
  )
]
