import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { collectionNameProblem } from "../../domain/CollectionName.js"
import { applyToIndex, emptyIndex, type IndexFile, parseIndex } from "../../domain/IndexFile.js"
import { parseObject } from "../../domain/JsonText.js"
import { type ManifestFile, parseManifestFile } from "../../domain/ManifestFile.js"
import { type ReadError, ValidationError } from "../../domain/StoreError.js"
import { idAt, placeOf, under } from "../DocumentPath.js"
import type { Head, Tree } from "../GitRemote.js"
import type { Finding } from "../StoreService.js"
import { examineAccess } from "./DoctorAccess.js"
import { contents, type Listing, listingOf } from "./Listing.js"
import type { SettingsAt, StoreCore } from "./StoreCore.js"

/** Index and manifest files above this many bytes are slow to write with every document. */
const large = 1_000_000

/** The prefix of the work branches that transactions make. */
const workBranches = "chainstore-tx-"

const twins = (names: Iterable<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const groups = new Map<string, Array<string>>()
  for (const name of names) {
    const key = name.toLowerCase()
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [name])
    else group.push(name)
  }
  return [...groups.values()].filter((group) => group.length > 1)
}

const sameLists = (
  a: ReadonlyMap<string, ReadonlyArray<string>>,
  b: ReadonlyMap<string, ReadonlyArray<string>>
): boolean =>
  a.size === b.size &&
  [...a].every(([key, list]) => {
    const other = b.get(key)
    return other !== undefined && other.length === list.length && list.every((item, at) => item === other[at])
  })

const examineIds = (
  collection: string,
  tree: Tree,
  listing: Listing,
  settings: SettingsAt
): Array<Finding> => {
  const found: Array<Finding> = []
  const same = twins(listing.ids())
  if (same.length > 0) {
    found.push({
      severity: "warning",
      code: "case-twins",
      collection,
      ids: same.flat(),
      message: `${collection} has ids that differ only in case`,
      hint: "they are different documents here, but share one file in a checkout on Windows or macOS"
    })
  }
  const { settings: layout } = settings
  const outside = tree.entries.filter(({ kind, path }) => {
    const id = kind === "blob" ? idAt(layout, path) : undefined
    return kind !== "tree" && (id === undefined || placeOf(layout, id) !== path)
  })
  if (outside.length > 0) {
    found.push({
      severity: "warning",
      code: "misplaced",
      collection,
      ids: outside.slice(0, 20).map(({ path }) => path),
      message: `${collection} has ${outside.length} files that its layout does not put there: they are no documents`,
      hint: "move or remove them in a commit, or correct the shard settings"
    })
  }
  return found
}

const examineDocuments = (core: StoreCore, head: Head, collection: string, listing: Listing) =>
  Effect.gen(function* () {
    const broken: Array<string> = []
    const misnamed: Array<string> = []
    const prefix = `${under(core.options.root, collection)}/`
    yield* Stream.runForEachChunk(
      contents(core.remote, head, prefix, listing, core.options.concurrency),
      (blobs) =>
        Effect.sync(() => {
          for (const { content, path } of blobs) {
            const id = path.slice(path.lastIndexOf("/") + 1, -".json".length)
            const document = parseObject(content)
            if (Either.isLeft(document)) broken.push(id)
            else if (document.right["_id"] !== id) misnamed.push(id)
          }
        })
    )
    const found: Array<Finding> = []
    if (broken.length > 0) {
      found.push({
        severity: "error",
        code: "unreadable",
        collection,
        ids: broken,
        message: `${collection} has ${broken.length} files that hold no JSON object`,
        hint: "mend them in a commit, or replace or delete the documents"
      })
    }
    if (misnamed.length > 0) {
      found.push({
        severity: "warning",
        code: "foreign-id",
        collection,
        ids: misnamed,
        message: `${collection} has ${misnamed.length} documents whose _id is not their file's name`,
        hint: "the file's name is the id; the next write of the document corrects the field"
      })
    }
    return found
  })

const examineDerived = (core: StoreCore, head: Head, settings: SettingsAt, collection: string) =>
  Effect.gen(function* () {
    const found: Array<Finding> = []
    const files = yield* core.derived.filesOf(Option.some(head), settings, collection)
    const tree = yield* core.derived.treeOf(Option.some(head), collection)
    const add = (severity: Finding["severity"], code: string, message: string, hint: string) =>
      found.push({ severity, code, collection, message, hint })
    const again = `run reindex on ${collection}`
    const judge = <A extends { readonly tree: string | undefined }>(
      what: string,
      path: string,
      parse: (content: Uint8Array) => A | undefined,
      right: (parsed: A) => Effect.Effect<boolean, ReadError>
    ) =>
      Effect.gen(function* () {
        const file = yield* core.remote.file(head, path)
        if (Option.isNone(file)) {
          add("warning", `${what}-missing`, `${path} is missing`, `the next write makes it, or ${again}`)
          return
        }
        if (file.value.content.length > large) {
          const size = (file.value.content.length / 1e6).toFixed(1)
          add(
            "warning",
            `${what}-large`,
            `${path} has ${size} MB, which every write of ${collection} writes again`,
            "drop it from the settings, or split the collection"
          )
        }
        const parsed = parse(file.value.content)
        if (parsed === undefined) add("error", `${what}-unreadable`, `${path} holds no JSON object`, again)
        else if (parsed.tree === undefined) {
          add("warning", `${what}-foreign`, `${path} does not say which version it describes`, again)
        } else if (parsed.tree !== tree) {
          add(
            "warning",
            `${what}-stale`,
            `${path} is behind the documents: somebody else changed them`,
            again
          )
        } else if (!(yield* right(parsed))) {
          add("error", `${what}-wrong`, `${path} does not agree with the documents`, again)
        }
      })
    const documents = core.free
      ? yield* core.derived.documents(head, settings, collection, new Set(files.indexes.keys()))
      : undefined
    for (const field of files.indexes.keys()) {
      yield* judge("index", core.derived.indexPath(collection, field), parseIndex, (index: IndexFile) =>
        Effect.sync(() => {
          if (documents === undefined) return true
          const changes = [...documents].map(([id, document]) => ({ id, document }))
          const rebuilt = applyToIndex(emptyIndex, field, changes)
          return sameLists(index.values, rebuilt.values) && sameLists(index.ids, rebuilt.ids)
        })
      )
    }
    if (files.manifest !== undefined) {
      yield* judge(
        "manifest",
        core.derived.manifestPath(collection),
        parseManifestFile,
        (manifest: ManifestFile) =>
          Effect.succeed(
            documents === undefined ||
              (manifest.ids.length === documents.size && manifest.ids.every((id) => documents.has(id)))
          )
      )
    }
    return found
  })

const examine = (core: StoreCore, head: Head, settings: SettingsAt, collection: string) =>
  Effect.gen(function* () {
    const directory = under(core.options.root, collection)
    const tree = yield* core.remote.tree(head, directory, { recursive: true })
    const whole: Tree = Option.getOrElse(tree, () => ({ oid: head.tree, entries: [] }))
    const listing = listingOf(whole, settings.settings)
    const found = [
      ...examineIds(collection, whole, listing, settings),
      ...(core.free ? yield* examineDocuments(core, head, collection, listing) : []),
      ...(yield* examineDerived(core, head, settings, collection))
    ]
    if (found.length > 0) return found
    return [
      {
        severity: "ok",
        code: "collection",
        collection,
        message: `${collection}: ${listing.length} documents, everything agrees`
      } satisfies Finding
    ]
  })

const settingsFinding = (settings: SettingsAt): Finding =>
  settings.mismatch !== undefined
    ? {
        severity: "error",
        code: "settings",
        message: settings.mismatch.message,
        hint: settings.mismatch.hint
      }
    : settings.frozen !== undefined
      ? {
          severity: "error",
          code: "settings-newer",
          message: settings.frozen,
          hint: "use a newer version of this program"
        }
      : {
          severity: "ok",
          code: "settings",
          message: settings.recorded
            ? "the repository records its settings"
            : "the repository records no settings: the plain layout of documents"
        }

const leftBranches = (core: StoreCore) =>
  Effect.map(core.remote.listBranches(workBranches), (branches) =>
    branches.map(
      ({ name }): Finding => ({
        severity: "warning",
        code: "work-branch",
        message: `the work branch ${name} is left of a transaction`,
        hint: "if no transaction is running, look at its commits and remove it"
      })
    )
  )

/** Looks at everything that can go wrong in a repository of documents, and says what to do about it. */
export const doctor = (core: StoreCore): Effect.Effect<ReadonlyArray<Finding>, ReadError> =>
  Effect.gen(function* () {
    const head = yield* core.source.head
    if (Option.isNone(head)) {
      return [
        { severity: "ok", code: "empty", message: "the repository is empty: the first write begins it" },
        ...(yield* examineAccess(core))
      ]
    }
    const read = yield* Effect.either(core.settingsAt(head))
    if (Either.isLeft(read)) {
      if (!(read.left instanceof ValidationError)) return yield* read.left
      return [{ severity: "error", code: "settings", message: read.left.message, hint: read.left.hint }]
    }
    const settings = read.right
    const found: Array<Finding> = [settingsFinding(settings)]
    const entries = yield* core.rootEntries(head.value)
    const names = [...entries].flatMap(([name, { kind }]) =>
      kind === "tree" && collectionNameProblem(name) === undefined ? [name] : []
    )
    for (const group of twins(names)) {
      found.push({
        severity: "warning",
        code: "case-twins",
        message: `the collections ${group.join(" and ")} differ only in case`,
        hint: "they share one directory in a checkout on Windows or macOS"
      })
    }
    for (const name of names) found.push(...(yield* examine(core, head.value, settings, name)))
    found.push(...(yield* leftBranches(core)))
    // Last, since the requests above are what the budget is known from.
    found.splice(0, 0, ...(yield* examineAccess(core)))
    return found
  })
