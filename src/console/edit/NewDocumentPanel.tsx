import * as Effect from "effect/Effect"
import { useState } from "preact/hooks"
import { collectionNameProblem } from "../../domain/identifiers/CollectionName.js"
import { idProblem } from "../../domain/identifiers/DocumentId.js"
import * as Ulid from "../../domain/identifiers/Ulid.js"
import { Panel } from "../components/Panel.js"

const nextId = Effect.runSync(Ulid.generator)

/** Asks for the collection and the id of a new document. */
export const NewDocumentPanel = (props: {
  readonly collection: string
  /** Whether the new document is a copy. */
  readonly copy: boolean
  readonly onMake: (collection: string, id: string) => void
  readonly onClose: () => void
}) => {
  const [collection, setCollection] = useState(props.collection)
  const [id, setId] = useState("")
  const [tried, setTried] = useState(false)
  const problem = collectionNameProblem(collection) ?? (id === "" ? undefined : idProblem(id))
  return (
    <Panel
      label={props.copy ? "Duplicate a document" : "New document"}
      collection={props.collection}
      title={props.copy ? "Duplicate" : "New document"}
      closes="form"
      onClose={props.onClose}
    >
      <form
        class="panel-body"
        onSubmit={(event) => {
          event.preventDefault()
          setTried(true)
          if (problem === undefined) props.onMake(collection, id === "" ? Effect.runSync(nextId) : id)
        }}
      >
        <label class="field">
          <span>Collection</span>
          <input value={collection} required onInput={(event) => setCollection(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Id</span>
          <input
            value={id}
            placeholder="generated"
            aria-describedby="new-id-help"
            onInput={(event) => setId(event.currentTarget.value)}
          />
        </label>
        <p class="help" id="new-id-help">
          Leave empty to generate an id that sorts by creation time.
        </p>
        {problem === undefined || !tried ? null : (
          <p class="wrong" role="alert">
            {problem}
          </p>
        )}
        <div class="actions">
          <button type="submit" class="button primary">
            {props.copy ? "Duplicate as a draft" : "Create draft"}
          </button>
        </div>
      </form>
    </Panel>
  )
}
