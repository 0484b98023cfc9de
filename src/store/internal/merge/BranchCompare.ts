import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { StoredDocument } from "../../../domain/document/Document.js"
import {
  NotFoundError,
  type ReadError,
  RemoteError,
  ValidationError
} from "../../../domain/errors/StoreError.js"
import { compareCodePoints } from "../../../domain/text/CodePointOrder.js"
import type { CompareOptions, DocumentDifference } from "../../Branches.js"
import type { Head } from "../../remote/GitRemote.js"
import { nameOfDocument } from "../commit/DocumentEdit.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { readDocument } from "../commit/VersionCodec.js"
import { type ChangedDocument, changesBetween, type DocumentFile } from "../write/ChangedDocuments.js"
import { checkCompareOptions } from "./BranchArguments.js"
import { headNamed, mergeBasesOf } from "./Branches.js"

const operation = "Store.compare"

const documentAt = (
  core: StoreCore,
  at: Head,
  { collection, id }: ChangedDocument,
  file: DocumentFile | undefined
): Effect.Effect<Option.Option<StoredDocument>, ReadError> =>
  file === undefined
    ? Effect.succeedNone
    : Effect.gen(function* () {
        const { path } = file
        const [blob] = yield* Stream.runCollect(core.remote.blobs(at, [file]))
        if (blob === undefined) {
          return yield* new RemoteError({
            operation,
            reason: "Corrupt",
            path,
            message: `${path} is listed in ${at.commit}, and cannot be read`
          })
        }
        return Option.some(yield* readDocument({ operation, collection, id, path }, blob.content))
      })

/** The merge base at which a comparison begins; if there are several, the one with the lowest id. */
const mergeBase = (core: StoreCore, first: Head, second: Head): Effect.Effect<Head, ReadError> =>
  Effect.gen(function* () {
    const [base] = yield* mergeBasesOf(core, first, second)
    if (base === undefined) {
      return yield* new ValidationError({
        operation,
        message: "the two have no commit in common: they are unrelated histories",
        hint: 'compare them as they are with against: "first"'
      })
    }
    const found = yield* core.remote.resolve(base)
    if (Option.isSome(found)) return found.value
    return yield* new NotFoundError({
      operation,
      message: `the commit ${base} is not in ${core.remote.name}`
    })
  })

/** The documents that differ between two commits, by collection and id. */
export const compare = (
  core: StoreCore,
  a: string,
  b: string,
  options: CompareOptions = {}
): Stream.Stream<DocumentDifference, ReadError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      yield* checkCompareOptions(operation, options)
      const { against = "mergeBase" } = options
      const first = yield* headNamed(core, operation, a)
      const after = yield* headNamed(core, operation, b)
      const before = against === "first" ? first : yield* mergeBase(core, first, after)
      const { documents } = yield* changesBetween(core, Option.some(before), after)
      return Stream.fromIterable(
        [...documents].sort((one, other) => compareCodePoints(nameOfDocument(one), nameOfDocument(other)))
      ).pipe(
        Stream.map((changed): DocumentDifference => {
          const { after: is, before: was, collection, id } = changed
          return {
            collection,
            id,
            kind: was === undefined ? "added" : is === undefined ? "removed" : "changed",
            before: documentAt(core, before, changed, was),
            after: documentAt(core, after, changed, is)
          }
        })
      )
    })
  )
