import * as Either from "effect/Either"
import { isOid, type Oid } from "../../../domain/identifiers/Oid.js"
import { encode, encodeInline } from "../../../domain/json/CanonicalJson.js"
import { parseObject } from "../../../domain/json/JsonText.js"

/** The header file of a tree, which changes with every commit. */
export const headerName = "_header.json"

/** The directory of the leaves, beside the header. */
export const rowsName = "rows"

/** The contents of the header file. */
export interface Header {
  /** The tree of the collection that the rows describe. */
  readonly tree: Oid
  /** The id of the directory of leaves, so that a change by another program is detected. */
  readonly rows: Oid
  /** The number of rows. */
  readonly count: number
  /** The definition of the index, as JSON in one line, if the name of the tree does not determine it. */
  readonly index?: string | undefined
}

export const treeFormat = 2

export const printHeader = ({ count, index, rows, tree }: Header): Uint8Array =>
  Either.getOrThrow(
    encode({
      format: treeFormat,
      tree,
      rows,
      count,
      ...(index === undefined ? {} : { index: JSON.parse(index) })
    })
  )

/** Parses a header, or returns what is wrong with it. */
export const parseHeader = (content: Uint8Array): Either.Either<Header, string> =>
  Either.flatMap(parseObject(content), ({ count, format, index, rows, tree }) => {
    if (format !== treeFormat) return Either.left(`is of format ${JSON.stringify(format)}, not ${treeFormat}`)
    if (!isOid(tree)) return Either.left("names no tree of the collection")
    if (!isOid(rows)) return Either.left("names no directory of rows")
    return typeof count === "number" && Number.isSafeInteger(count) && count >= 0
      ? Either.right({
          tree,
          rows,
          count,
          index: index === undefined ? undefined : Either.getOrElse(encodeInline(index), () => "")
        })
      : Either.left("has no count of rows")
  })
