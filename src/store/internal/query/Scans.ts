import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { collect } from "../../../domain/concurrency/Streams.js"
import type { Page } from "../../../domain/document/Page.js"
import { type ReadError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { ListOptions, ReadManyOptions } from "../../Collection.js"
import { checkArguments } from "../calls/Arguments.js"
import { type LocatedListing, slice } from "../snapshot/Listing.js"
import { documentFiles } from "./DocumentFiles.js"
import type { QueriedCollection } from "./Queries.js"

/** Lists the documents of a collection. */
const locate = <A>(
  { collection, core }: QueriedCollection<A>,
  method: string,
  { after, limit }: ListOptions
) =>
  Effect.zipRight(
    checkArguments(`Collection.${method}`, { collection, limit, after }),
    Effect.suspend(() => core.listing(core.snapshot(), collection))
  )

const documents = <A>(
  { collection, core, decode }: QueriedCollection<A>,
  method: string,
  located: LocatedListing,
  { onInvalid = "fail" }: ReadManyOptions
) =>
  Stream.mapChunksEffect(documentFiles(core, collection, located), (blobs) =>
    Effect.map(decode(method, blobs, onInvalid), Chunk.unsafeFromArray)
  )

const everything = <A>(
  queried: QueriedCollection<A>,
  method: string,
  options: ReadManyOptions,
  bounded: boolean
) =>
  Stream.unwrap(
    Effect.map(locate(queried, method, options), (located) => {
      const cut = bounded && (options.onInvalid ?? "fail") === "fail" ? options.limit : undefined
      const listing = slice(located.listing, cut, options.after)
      return documents(queried, method, { ...located, listing }, options)
    })
  )

const limited = <B, E>(stream: Stream.Stream<B, E>, limit: number | undefined) =>
  limit === undefined || !Number.isInteger(limit) || limit < 1 ? stream : Stream.take(stream, limit)

const satisfies = <A>(collection: string, predicate: (document: A) => boolean, document: A) =>
  Effect.try({
    try: () => {
      const answer: unknown = predicate(document)
      // A promise is truthy, so the predicate would accept everything.
      if (Predicate.isPromiseLike(answer)) throw new Error("it returned a promise instead of a boolean")
      return Boolean(answer)
    },
    catch: (cause) =>
      new ValidationError({
        operation: "Collection.find",
        collection,
        message: `the predicate threw: ${cause instanceof Error ? cause.message : String(cause)}`,
        cause
      })
  })

const pageOf = <A>(
  queried: QueriedCollection<A>,
  method: string,
  located: LocatedListing,
  size: number,
  options: ReadManyOptions
) =>
  Effect.gen(function* () {
    const rest = slice(located.listing, size + 1, options.after)
    const listing = slice(rest, size, undefined)
    const found = yield* collect(documents(queried, method, { ...located, listing }, options))
    const more = rest.length > size
    return {
      documents: found,
      cursor: more ? listing.id(size - 1) : null
    } satisfies Page<A>
  })

export const list = <A>(queried: QueriedCollection<A>, options: ListOptions = {}) =>
  Effect.map(locate(queried, "list", options), ({ listing }) =>
    slice(listing, options.limit, options.after).ids()
  )

export const all = <A>(
  queried: QueriedCollection<A>,
  options: ReadManyOptions = {}
): Stream.Stream<A, ReadError> => limited(everything(queried, "all", options, true), options.limit)

export const find = <A>(
  queried: QueriedCollection<A>,
  predicate: (document: A) => boolean,
  options: ReadManyOptions = {}
): Stream.Stream<A, ReadError> =>
  limited(
    Stream.filterEffect(everything(queried, "find", options, false), (document) =>
      satisfies(queried.collection, predicate, document)
    ),
    options.limit
  )

export const page = <A>(queried: QueriedCollection<A>, options: ReadManyOptions = {}) =>
  Effect.flatMap(locate(queried, "page", options), (located) =>
    pageOf(queried, "page", located, options.limit ?? 100, options)
  )

export const pages = <A>(
  queried: QueriedCollection<A>,
  { after, size }: { readonly size?: number | undefined; readonly after?: string | undefined } = {}
): Stream.Stream<Page<A>, ReadError> =>
  Stream.unwrap(
    Effect.map(
      Effect.zipRight(
        checkArguments("Collection.pages", { collection: queried.collection, size, after }),
        locate(queried, "pages", { after })
      ),
      (located) =>
        Stream.paginateEffect(after, (after) =>
          Effect.map(
            pageOf(queried, "pages", located, size ?? 100, after === undefined ? {} : { after }),
            (page) => [page, Option.fromNullable(page.cursor)] as const
          )
        ).pipe(Stream.filter((page) => page.documents.length > 0))
    )
  )
