import * as Schema from "effect/Schema"

/** One segment of a URL path: the server's router has decoded it already, clients percent-encode it. */
export const PathSegment = Schema.transform(Schema.String, Schema.NonEmptyString, {
  strict: true,
  decode: (segment) => segment,
  encode: (segment) => encodeURIComponent(segment)
}).annotations({ identifier: "PathSegment" })

/** A Git ref or file path inside a URL: like `PathSegment`, but slashes stay slashes. */
export const RefPath = Schema.transform(Schema.String, Schema.NonEmptyString, {
  strict: true,
  decode: (path) => path,
  encode: (path) => path.split("/").map(encodeURIComponent).join("/")
}).annotations({ identifier: "RefPath" })
