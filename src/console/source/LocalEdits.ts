import * as Effect from "effect/Effect"
import * as Edits from "../../http/console/edits/Api.js"
import { type EditSource, editSource } from "./EditSource.js"
import { call } from "./LocalCall.js"

/** Bytes of a request reserved for the message and the description. */
const spare = 16 * 1024

/** The editing operations of the local server. */
export const edits: EditSource = editSource(
  {
    documents: (collection, ids) =>
      Effect.map(call(Edits.editable, { collection, ids }), ({ documents }) => documents),
    schema: (collection) => Effect.map(call(Edits.schema, { collection }), ({ schema }) => schema),
    review: (staged) => call(Edits.review, { edits: staged }),
    publish: (staged, message) => call(Edits.publish, { edits: staged, message }),
    propose: (staged, title, body) => call(Edits.propose, { edits: staged, title, body }),
    createIndex: (collection, { field, unique }) =>
      Effect.map(call(Edits.createIndex, { collection, field, unique }), ({ commit }) => commit)
  },
  Edits.maxBytes - spare
)
