import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { forEachChunk } from "../../../domain/concurrency/Streams.js"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import { pickPaths } from "../../../domain/json/FieldPath.js"
import { type LosslessObject, parseLossless } from "../../../domain/json/LosslessJson.js"
import { compareCodePoints } from "../../../domain/text/CodePointOrder.js"
import type { DoctorOptions, Finding } from "../../Doctor.js"
import { under } from "../../DocumentPath.js"
import type { Head } from "../../remote/GitRemote.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { type Listing, readListing } from "../snapshot/Listing.js"

/** Larger files take more requests to read; index files of this size are expensive to write with every document. */
export const largeFileBytes = 1_000_000

/** Reads all documents of a listing: problems of the files, and the fields that indexes and manifest contain. */
export const readDocuments = (
  core: StoreCore,
  head: Head,
  collection: string,
  listing: Listing,
  fields: ReadonlySet<string>,
  onProgress: DoctorOptions["onProgress"]
) =>
  Effect.gen(function* () {
    const broken: Array<string> = []
    const misnamed: Array<string> = []
    const oversized: Array<string> = []
    const documents = new Map<string, LosslessObject>()
    const prefix = `${under(core.options.root, collection)}/`
    let read = 0
    const tell = Effect.suspend(
      () => onProgress?.({ collection, documents: read, total: listing.length }) ?? Effect.void
    )
    yield* tell
    const files = readListing(core.remote, head, prefix, listing, core.options.concurrency)
    const slice = TimeSlice.make()
    yield* forEachChunk(files, (blobs) =>
      Effect.gen(function* () {
        for (const { content, path } of blobs) {
          if (slice.isSpent()) yield* slice.pause
          const id = path.slice(path.lastIndexOf("/") + 1, -".json".length)
          const document = parseLossless(content)
          if (content.length > largeFileBytes) oversized.push(id)
          if (Either.isLeft(document)) broken.push(id)
          else if (document.right["_id"] !== id) misnamed.push(id)
          documents.set(
            id,
            pickPaths(
              Either.getOrElse(document, () => ({})),
              fields
            )
          )
          read += 1
        }
        yield* tell
      })
    )
    return { broken, misnamed, oversized, documents }
  })

/** Findings on the files of documents. */
export const documentFindings = (
  collection: string,
  read: Effect.Effect.Success<ReturnType<typeof readDocuments>>
): Array<Finding> => {
  const found: Array<Finding> = []
  const { broken, misnamed } = read
  if (broken.length > 0) {
    found.push({
      severity: "error",
      code: "unreadable",
      collection,
      ids: broken,
      message: `${collection} has ${broken.length} files that contain no JSON object`,
      hint: "correct them in a commit, or replace or delete the documents"
    })
  }
  if (misnamed.length > 0) {
    found.push({
      severity: "warning",
      code: "foreign-id",
      collection,
      ids: misnamed,
      message: `${collection} has ${misnamed.length === 1 ? "a document whose _id is not its file's name" : `${misnamed.length} documents whose _id is not their file's name`}`,
      hint: "the file's name is the id; the next write of the document corrects the field"
    })
  }
  return found
}

/** Findings on documents that are slow to read over an API. */
export const sizeFindings = (collection: string, ids: ReadonlyArray<string>): Array<Finding> =>
  ids.length === 0
    ? []
    : [
        {
          severity: "warning",
          code: "document-large",
          collection,
          ids: [...ids].sort(compareCodePoints),
          message: `${collection} has ${ids.length} documents above 1 MB, which take more requests over GitHub's API`,
          hint: "split them, or keep large texts in documents of their own"
        }
      ]
