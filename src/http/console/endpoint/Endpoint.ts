import * as Schema from "effect/Schema"

// The console loads the modules that declare endpoints one by one, so this one imports none of them.

/** A string of a request. */
export const text = Schema.String.annotations({
  message: () => ({ message: "must be a string", override: true })
})

/** Declares an endpoint of the console's server that takes an object. */
export const post = <P, PI, A, I>(
  path: `/api/${string}`,
  body: Schema.Schema<P, PI>,
  reply: Schema.Schema<A, I>
) => ({
  method: "POST" as const,
  path,
  body: body.annotations({ message: () => "must be an object" }),
  reply
})
