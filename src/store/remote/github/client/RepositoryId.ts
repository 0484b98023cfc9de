import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ApiFailure } from "./ApiFailure.js"
import type { CallFailure, Client } from "./Client.js"

/** The global id of the repository, which some mutations need: from earlier replies, or by a query. */
export interface RepositoryId {
  readonly get: Effect.Effect<string, CallFailure>
  readonly learn: (id: string | undefined) => void
  /** Discards the id: the repository was deleted and created again. */
  readonly forget: () => void
}

export const repositoryIdDocument = `query RepositoryId($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { id }
}`

const Answer = Schema.Struct({ repository: Schema.NullOr(Schema.Struct({ id: Schema.String })) })

export const makeRepositoryId = (client: Client): RepositoryId => {
  const { owner, repo } = client.settings.address
  let cached: string | undefined
  return {
    get: Effect.suspend(() => {
      if (cached !== undefined) return Effect.succeed(cached)
      return Effect.flatMap(
        client.graphql(repositoryIdDocument, { owner, name: repo }, Answer),
        ({ data: { repository } }) => {
          if (repository === null) {
            return Effect.fail(
              new ApiFailure({ kind: "Missing", endpoint: "graphql", message: "there is no such repository" })
            )
          }
          cached = repository.id
          return Effect.succeed(cached)
        }
      )
    }),
    learn: (id) => {
      if (id !== undefined) cached = id
    },
    forget: () => {
      cached = undefined
    }
  }
}
