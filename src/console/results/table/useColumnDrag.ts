import { useRef, useState } from "preact/hooks"

/** Pixels after which a press on a header is a drag. */
const dragThreshold = 8

interface ColumnDrag {
  readonly column: string
  /** The new width, while the edge of the header is dragged. */
  readonly width?: number
  /** The column whose place it takes, while the header is dragged. */
  readonly to?: string
}

/** Resizes a column by the edge of its header, and moves it by dragging the header. */
export const useColumnDrag = (options: {
  readonly columns: ReadonlyArray<string>
  readonly onStart: () => void
  /** Undefined resets the width. */
  readonly onResize: (column: string, width: number | undefined) => void
  readonly onMove: (column: string, to: string | undefined) => void
}) => {
  const { columns, onMove, onResize, onStart } = options
  const [drag, setDrag] = useState<ColumnDrag | undefined>(undefined)
  const isDragged = useRef(false)

  const edgeHandlers = (column: string) => ({
    onPointerDown: (event: PointerEvent) => {
      const handle = event.currentTarget as HTMLElement
      const startWidth = handle.parentElement!.getBoundingClientRect().width
      const startX = event.clientX
      const sign = getComputedStyle(handle).direction === "rtl" ? -1 : 1
      const widthAt = ({ clientX }: PointerEvent) => Math.max(startWidth + sign * (clientX - startX), 1)
      event.preventDefault()
      handle.setPointerCapture(event.pointerId)
      handle.onpointermove = (now) => setDrag({ column, width: widthAt(now) })
      handle.onpointerup = (now) => {
        if (now.clientX !== startX) onResize(column, widthAt(now))
      }
      handle.onlostpointercapture = () => {
        handle.onpointermove = handle.onpointerup = null
        setDrag(undefined)
      }
    },
    onDblClick: () => onResize(column, undefined)
  })

  const headerHandlers = (column: string) => ({
    onPointerDown: (event: PointerEvent) => {
      isDragged.current = false
      if (event.pointerType !== "mouse" || event.button !== 0 || column === "_id") return
      const button = event.currentTarget as HTMLElement
      const startX = event.clientX
      const columnAt = ({ clientX, clientY }: PointerEvent) => {
        const header = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>("th[data-at]")
        return header === null || header === undefined ? undefined : columns[Number(header.dataset["at"])]
      }
      button.setPointerCapture(event.pointerId)
      button.onpointermove = (now) => {
        if (!isDragged.current && Math.abs(now.clientX - startX) < dragThreshold) return
        isDragged.current = true
        onStart()
        const to = columnAt(now)
        setDrag(to === undefined ? { column } : { column, to })
      }
      const end = () => {
        button.onpointermove = button.onpointerup = null
        setDrag(undefined)
      }
      button.onpointerup = (now) => {
        // A header that is moved in the document gets no lostpointercapture event.
        end()
        if (isDragged.current) onMove(column, columnAt(now))
      }
      button.onlostpointercapture = end
    }
  })

  return {
    drag,
    edgeHandlers,
    headerHandlers,
    /** Whether a click is the end of a drag. */
    endsDrag: (event: MouseEvent): boolean => {
      if (!isDragged.current || event.detail === 0) return false
      isDragged.current = false
      return true
    }
  }
}
