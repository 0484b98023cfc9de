import { useEffect, useRef, useState } from "preact/hooks"
import { alarmProblem } from "../../components/Announcer.js"
import { PartProblem } from "../../components/PartProblem.js"
import { type Problem, partMissing } from "../../components/Problem.js"
import type { JsonEditor } from "../../json/JsonEditor.js"

/** The JSON editor, loaded when it is first shown. `text` is its initial text; after that the editor owns the text. */
export const JsonField = (props: {
  readonly label: string
  readonly text: string
  readonly editor: { current: JsonEditor | undefined }
  readonly onChange: (text: string) => void
  readonly onDone: () => void
  /** Whether the form is shown instead. */
  readonly hidden?: boolean
  readonly onOpen?: () => void
}) => {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const [shut, setShut] = useState(true)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  const [retries, setRetries] = useState(0)
  useEffect(() => {
    let gone = false
    import("../../json/JsonEditor.js").then(
      ({ open }) => {
        if (gone || host.current === null) return
        props.editor.current = open(host.current, {
          label: props.label,
          text: latest.current.text,
          onChange: (text) => latest.current.onChange(text),
          onDone: () => latest.current.onDone()
        })
        setProblem(undefined)
        setShut(false)
        latest.current.onOpen?.()
      },
      () => {
        if (gone) return
        const failure = partMissing("The editor could not be loaded.")
        setProblem(failure)
        alarmProblem(failure)
      }
    )
    return () => {
      gone = true
      props.editor.current?.close()
      props.editor.current = undefined
    }
  }, [retries])
  return (
    <>
      {problem === undefined ? null : (
        <PartProblem problem={problem} retries={retries} onRetry={setRetries} />
      )}
      <div class="json-text" ref={host} hidden={props.hidden} aria-busy={shut && problem === undefined} />
    </>
  )
}
