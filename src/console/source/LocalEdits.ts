import * as Effect from "effect/Effect"
import * as Edits from "../../http/console/edits/Api.js"
import { type EditSource, editSource } from "./EditSource.js"
import { call } from "./LocalCall.js"

/** Bytes of a request that are left for its message, and a proposal's words. */
const spare = 16 * 1024

/** Edits by the server that this page came from. */
export const edits: EditSource = editSource(
  {
    document: (collection, id) =>
      Effect.map(call(Edits.editable, { collection, id }), ({ document }) => document),
    schema: (collection) => Effect.map(call(Edits.schema, { collection }), ({ schema }) => schema),
    review: (staged) => call(Edits.review, { edits: staged }),
    publish: (staged, message) => call(Edits.publish, { edits: staged, message }),
    propose: (staged, title, body) => call(Edits.propose, { edits: staged, title, body })
  },
  Edits.maxBytes - spare
)
