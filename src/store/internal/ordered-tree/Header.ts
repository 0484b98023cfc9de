import * as Either from "effect/Either"
import { isOid, type Oid } from "../../../domain/identifiers/Oid.js"
import { encode, encodeInline } from "../../../domain/json/CanonicalJson.js"
import { parseObject } from "../../../domain/json/JsonText.js"

/** The file of a tree that changes with every commit. */
export const headerName = "_header.json"

/** The directory of the leaves, beside the header. */
export const rowsName = "rows"

/** What a tree says of itself. */
export interface Header {
  /** The tree of the collection that the rows describe. */
  readonly tree: Oid
  /** The Git tree of the directory of the leaves, so that a change by anybody else is noticed. */
  readonly rows: Oid
  /** How many rows there are. */
  readonly count: number
  /** The definition that the rows follow, as JSON in one line, where the name of the tree does not tell it. */
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

/** The header in a file's bytes, or what is wrong with them. */
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
