import * as Effect from "effect/Effect"
import { offline, type Problem } from "../components/Problem.js"

/** A GitHub-compatible API that the page may use. */
export interface Api {
  readonly name: string
  readonly apiUrl: string
  readonly rawUrl?: string | undefined
}

const isApi = (value: unknown): value is Api =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  typeof value.name === "string" &&
  "apiUrl" in value &&
  typeof value.apiUrl === "string" &&
  (!("rawUrl" in value) || typeof value.rawUrl === "string")

const apisOf = (text: string): ReadonlyArray<Api> => {
  const { apis } = JSON.parse(text) as { readonly apis?: unknown }
  if (!Array.isArray(apis) || apis.length === 0 || !apis.every(isApi)) throw new Error("no apis")
  return apis
}

/** Loads the configured APIs from the file next to the page. They never come from the address bar or from storage. */
export const load = (address: URL): Effect.Effect<ReadonlyArray<Api>, Problem> =>
  Effect.tryPromise({
    try: async (signal) => {
      const answer = await fetch(address, { signal, cache: "no-store" })
      return apisOf(answer.ok ? await answer.text() : "")
    },
    catch: () => offline("config.json could not be read. It must be in the same directory as this page.")
  })
