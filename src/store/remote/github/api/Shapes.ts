import * as Schema from "effect/Schema"
import { Oid } from "../../../../domain/identifiers/Oid.js"

/** A reference to an object by its id. */
export const Named = Schema.Struct({ sha: Oid })

export const Person = Schema.Struct({ name: Schema.String, email: Schema.String, date: Schema.String })

/** The author or committer that a request gives; the server fills in what is left out. */
export const PersonInput = Schema.Struct({
  name: Schema.String,
  email: Schema.String,
  date: Schema.optional(Schema.String)
})
export type PersonInput = typeof PersonInput.Type
