import * as Effect from "effect/Effect"
import { ValidationError } from "../../../../domain/errors/StoreError.js"

/** The URLs of one repository. */
export interface Address {
  readonly owner: string
  readonly repo: string
  /** Without a trailing slash. */
  readonly api: string
  readonly graphql: string
  readonly raw: string
  readonly origin: string
}

const invalid = (message: string, hint?: string) =>
  new ValidationError({ operation: "GitHub.layer", message, hint })

const isLoopback = (host: string) =>
  host === "localhost" ||
  host.endsWith(".localhost") ||
  host === "[::1]" ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)

const parse = (name: string, text: string) =>
  Effect.try({
    try: () => new URL(text),
    catch: () => invalid(`${name} is not an address: ${text}`, "give it as https://HOST/PATH")
  }).pipe(
    Effect.filterOrFail(
      (url) => (url.protocol === "https:" || url.protocol === "http:") && url.username === "",
      () => invalid(`${name} must be an http or https address without a user name`)
    ),
    Effect.map((url) => ({ url, text: `${url.origin}${url.pathname.replace(/\/+$/, "")}` }))
  )

/** The GraphQL URL for a REST URL: `/api/graphql` on Enterprise servers, `<REST URL>/graphql` elsewhere. */
export const graphqlAddress = (api: string) => `${api.replace(/\/v3$/, "")}/graphql`

/** Checks the repository name and the URLs. Plain http, which would expose the token, is allowed on this machine only. */
export const makeAddress = (options: {
  readonly repo: string
  readonly apiUrl?: string | undefined
  readonly rawUrl?: string | undefined
}): Effect.Effect<Address, ValidationError> =>
  Effect.gen(function* () {
    const parts = /^([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+)$/.exec(options.repo)
    if (parts === null || parts.slice(1).some((part) => part === "." || part === "..")) {
      return yield* invalid(`repo must be owner/name, not ${JSON.stringify(options.repo)}`)
    }
    const api = yield* parse("apiUrl", options.apiUrl ?? "https://api.github.com")
    if (api.url.protocol !== "https:" && !isLoopback(api.url.hostname)) {
      return yield* invalid(
        `apiUrl must be https, not ${api.text}`,
        "plain http is allowed for localhost alone: the token would be readable on the way"
      )
    }
    if (/^(www\.)?github\.com$/.test(api.url.hostname)) {
      return yield* invalid(
        `apiUrl is the address of the API, not ${api.text}`,
        "leave it out for GitHub, or give https://api.github.com"
      )
    }
    const raw = yield* parse("rawUrl", options.rawUrl ?? "https://raw.githubusercontent.com")
    return {
      owner: parts[1]!,
      repo: parts[2]!,
      api: api.text,
      graphql: graphqlAddress(api.text),
      raw: raw.text,
      origin: api.url.origin
    }
  })

/** Whether the API is that of github.com, or of a tenant with data residency on ghe.com, which has the same limits. */
export const isGitHubCloud = ({ api }: Pick<Address, "api">) =>
  /^(api\.github\.com|api\.[^.]+\.ghe\.com)$/.test(new URL(api).hostname)

/** A path inside a URL: every segment encoded, slashes kept. */
export const encodePath = (path: string) => path.split("/").map(encodeURIComponent).join("/")
