import { useEffect, useState } from "preact/hooks"
import type { JsonObject } from "../../domain/json/Json.js"
import type { SessionView } from "../../http/console/Api.js"
import { alarm, announce } from "../components/Announcer.js"
import * as Drafts from "../drafts/Drafts.js"
import { leave } from "../place/Leave.js"
import { type Place, start } from "../place/Place.js"
import type { Go } from "../place/usePlace.js"
import type { DataSourceService } from "../source/DataSource.js"
import { EditPanel } from "./EditPanel.js"
import "./editing.css"
import { BulkPanel } from "./BulkPanel.js"
import { ImportPanel } from "./ImportPanel.js"
import { NewPanel } from "./NewPanel.js"
import { ReviewPanel } from "./ReviewPanel.js"

/** The panel in which documents are created, edited, reviewed and published. */
export const Editing = (props: {
  readonly source: DataSourceService
  readonly session: SessionView
  readonly drafts: string
  readonly place: Place
  /** Documents of its collection that the table shows. */
  readonly documents: ReadonlyArray<JsonObject>
  /** Their columns. */
  readonly fields: ReadonlyArray<string>
  /** The ids of the rows that are chosen. */
  readonly chosen: ReadonlyArray<string>
  readonly go: Go
  readonly onPublished: () => void
  readonly onClose: () => void
}) => {
  const { drafts, go, onClose, place, session, source } = props
  const [copied, setCopied] = useState<string | undefined>(undefined)
  useEffect(() => {
    if (place.document !== undefined) setCopied(undefined)
  }, [place.document])
  /** What an import, or a change of several, left out: the review that it leads to shows it. */
  const [left, setLeft] = useState<string | undefined>(undefined)
  useEffect(() => {
    if (place.panel !== "review") setLeft(undefined)
  }, [place.panel])
  const review = () => go({ panel: "review", document: undefined })
  const edit = (table: string, document: string) =>
    go({ ...(place.table === table ? {} : { ...start, table }), panel: "edit", document })

  if (place.panel === "review") {
    return (
      <ReviewPanel
        source={source}
        drafts={drafts}
        repo={session.repo}
        left={left}
        onEdit={edit}
        onPublished={props.onPublished}
        onProposals={() => go({ panel: "proposals", document: undefined })}
        onClose={onClose}
      />
    )
  }
  const table = place.table ?? ""
  const many = {
    source,
    drafts,
    collection: table,
    onReview: (words: string | undefined) => {
      setLeft(words)
      review()
    },
    onClose
  }
  if (place.panel === "import") return <ImportPanel {...many} />
  if (place.panel === "change") return <BulkPanel {...many} ids={props.chosen} fields={props.fields} />
  if (place.document === undefined) {
    return (
      <NewPanel
        collection={table}
        copy={copied !== undefined}
        onClose={() => {
          setCopied(undefined)
          onClose()
        }}
        onMake={(collection, id) => {
          const text = copied ?? "{\n  \n}\n"
          if (Drafts.read(drafts, { collection, id }) === undefined) {
            const saved = Drafts.save(drafts, { collection, id, base: null, text }, undefined)
            if (saved === "full") {
              alarm("The browser has no room for a new draft: publish or discard others.")
              return
            }
            if (saved === "elsewhere") {
              alarm(`The browser has a draft of ${id} that cannot be read: discard it, or take another id.`)
              return
            }
            announce(`A draft of ${id} has begun.`)
          } else if (copied !== undefined) {
            alarm(`There is a draft of ${id} already: give the copy another id.`)
            return
          }
          setCopied(undefined)
          edit(collection, id)
        }}
      />
    )
  }
  return (
    <EditPanel
      key={`${table}/${place.document}`}
      source={source}
      drafts={drafts}
      collection={table}
      id={place.document}
      documents={props.documents}
      onDuplicate={(text) =>
        leave(() => {
          setCopied(text)
          go({ panel: "edit", document: undefined })
        })
      }
      onReview={review}
      onClose={onClose}
    />
  )
}
