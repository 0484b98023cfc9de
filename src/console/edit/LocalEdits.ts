import * as Effect from "effect/Effect"
import * as Api from "../../http/console/Api.js"
import * as Timeline from "../../http/console/timeline/Api.js"
import { call } from "../LocalCall.js"
import { type EditSource, editSource } from "./EditSource.js"

/** Edits by the server that this page came from. */
export const edits: EditSource = editSource({
  document: (collection, id) =>
    Effect.map(call(Api.editable, { collection, id }), ({ document }) => document),
  review: (staged) => call(Api.review, { edits: staged }),
  publish: (staged, message) => call(Api.publish, { edits: staged, message }),
  propose: (staged, title, body) => call(Timeline.propose, { edits: staged, title, body })
})
