import { useEffect, useState } from "preact/hooks"
import type { JsonObject } from "../../domain/json/Json.js"
import type { SessionView } from "../../http/console/Api.js"
import { alarm, announce } from "../components/Announcer.js"
import * as Drafts from "../drafts/Drafts.js"
import { guardNavigation } from "../navigation/NavigationGuard.js"
import { initialRoute, type Route } from "../navigation/Route.js"
import type { Navigate } from "../navigation/useRoute.js"
import type { DataSourceService } from "../source/DataSource.js"
import { EditPanel } from "./editor/EditPanel.js"
import "./editing.css"
import { BulkChangePanel } from "./BulkChangePanel.js"
import { ImportPanel } from "./ImportPanel.js"
import { NewDocumentPanel } from "./NewDocumentPanel.js"
import { ReviewPanel } from "./review/ReviewPanel.js"

/** The panels for creating, importing, changing, editing and reviewing documents. */
export const EditPanels = (props: {
  readonly source: DataSourceService
  readonly session: SessionView
  readonly drafts: string
  readonly route: Route
  /** The documents that the table shows. */
  readonly documents: ReadonlyArray<JsonObject>
  /** The columns of the table. */
  readonly fields: ReadonlyArray<string>
  /** The ids of the selected rows. */
  readonly selectedIds: ReadonlyArray<string>
  readonly navigate: Navigate
  readonly onPublished: () => void
  readonly onClose: () => void
}) => {
  const { drafts, navigate, onClose, route, session, source } = props
  const [copied, setCopied] = useState<string | undefined>(undefined)
  useEffect(() => {
    if (route.document !== undefined) setCopied(undefined)
  }, [route.document])
  /** The rows that an import or a bulk change skipped, shown in the review. */
  const [skipped, setSkipped] = useState<string | undefined>(undefined)
  useEffect(() => {
    if (route.panel !== "review") setSkipped(undefined)
  }, [route.panel])
  const review = () => navigate({ panel: "review", document: undefined })
  const edit = (collection: string, document: string) =>
    navigate({
      ...(route.collection === collection ? {} : { ...initialRoute, collection }),
      panel: "edit",
      document
    })

  if (route.panel === "review") {
    return (
      <ReviewPanel
        source={source}
        drafts={drafts}
        repo={session.repo}
        skipped={skipped}
        onEdit={edit}
        onPublished={props.onPublished}
        onProposals={() => navigate({ panel: "proposals", document: undefined })}
        onClose={onClose}
      />
    )
  }
  const collection = route.collection ?? ""
  const many = {
    source,
    drafts,
    collection,
    onReview: (words: string | undefined) => {
      setSkipped(words)
      review()
    },
    onClose
  }
  if (route.panel === "import") return <ImportPanel {...many} />
  if (route.panel === "change")
    return <BulkChangePanel {...many} ids={props.selectedIds} fields={props.fields} />
  if (route.document === undefined) {
    return (
      <NewDocumentPanel
        collection={collection}
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
              alarm("The browser's storage is full. Publish or discard other drafts.")
              return
            }
            if (saved === "elsewhere") {
              alarm(`The stored draft of ${id} cannot be read. Discard it, or choose another id.`)
              return
            }
            announce(`Draft of ${id} created.`)
          } else if (copied !== undefined) {
            alarm(`A draft of ${id} already exists. Choose another id for the copy.`)
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
      key={`${collection}/${route.document}`}
      source={source}
      drafts={drafts}
      collection={collection}
      id={route.document}
      documents={props.documents}
      onDuplicate={(text) =>
        guardNavigation(() => {
          setCopied(text)
          navigate({ panel: "edit", document: undefined })
        })
      }
      onReview={review}
      onClose={onClose}
    />
  )
}
