/** The media type parameter that the client requested, as GitHub defines them. */
export type Media = "json" | "raw" | "object" | "sha" | "html" | "diff" | "patch"

const kinds: ReadonlyArray<Media> = ["raw", "object", "sha", "html", "diff", "patch"]

/** Parses an `Accept` header such as `application/vnd.github.raw+json`, `...v3.raw` or `...VERSION.sha`. */
export const fromAccept = (accept: string | undefined): Media => {
  for (const part of (accept ?? "").split(",")) {
    const match =
      /^\s*application\/vnd\.github(?:[.-][a-z0-9]+)*?\.(raw|object|sha|html|diff|patch)(?:\+json)?\s*(?:;|$)/i.exec(
        part
      )
    const kind = match?.[1]?.toLowerCase()
    if (kind !== undefined) return kinds.find((known) => known === kind) ?? "json"
    if (/json|\*\/\*/.test(part)) return "json"
  }
  return "json"
}

/** The value of `X-GitHub-Media-Type`. */
export const header = (media: Media): string =>
  media === "json" ? "github.v3; format=json" : `github.v3; param=${media}; format=json`
