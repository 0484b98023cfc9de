import * as Schema from "effect/Schema"

/** One segment of a URL path. The server's router decodes it; clients percent-encode it. */
export const PathSegment = Schema.transform(Schema.String, Schema.NonEmptyString, {
  strict: true,
  decode: (segment) => segment,
  encode: (segment) => encodeURIComponent(segment)
}).annotations({ identifier: "PathSegment" })

/** A Git ref or file path in a URL: like `PathSegment`, but slashes are not encoded. */
export const RefPath = Schema.transform(Schema.String, Schema.NonEmptyString, {
  strict: true,
  decode: (path) => path,
  encode: (path) => path.split("/").map(encodeURIComponent).join("/")
}).annotations({ identifier: "RefPath" })
