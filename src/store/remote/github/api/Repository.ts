import * as Schema from "effect/Schema"
import { get } from "./Endpoint.js"

const Window = Schema.Struct({
  limit: Schema.Number,
  remaining: Schema.Number,
  used: Schema.optional(Schema.Number),
  reset: Schema.Number
})

export const getRepository = get("repos/get", "/repos/{owner}/{repo}", {
  docs: "repos/repos#get-a-repository",
  reply: Schema.Struct({
    full_name: Schema.String,
    default_branch: Schema.optional(Schema.NullOr(Schema.String)),
    permissions: Schema.optional(Schema.Struct({ push: Schema.optional(Schema.Boolean) }))
  })
})

/** Some hosts return only the id of the commit, or another description of it. */
export const getBranch = get("repos/get-branch", "/repos/{owner}/{repo}/branches/{branch*}", {
  docs: "branches/branches#get-a-branch",
  reply: Schema.Struct({ name: Schema.String, commit: Schema.optional(Schema.Unknown) })
})

/** Does not count towards the primary limit. */
export const getRateLimit = get("rate-limit/get", "/rate_limit", {
  docs: "rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user",
  reply: Schema.Struct({
    resources: Schema.Struct({ core: Schema.optional(Window), graphql: Schema.optional(Window) })
  }),
  resource: "free"
})
