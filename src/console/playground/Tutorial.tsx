import { useEffect, useState } from "preact/hooks"
import { announce } from "../components/Announcer.js"
import { type ChainDraft, parseNumber, type StepDraft } from "./ChainDraft.js"
import { type Example, examples, named } from "./Examples.js"

interface Lesson {
  readonly text: string
  readonly isDone: (draft: ChainDraft) => boolean
  readonly example?: Example
}

const first = (draft: ChainDraft): StepDraft | undefined => draft.handlers[0]

const lessons: ReadonlyArray<Lesson> = [
  {
    text: "Type 5 as the request: the result changes with the key, and another handler answers.",
    isDone: ({ request }) => parseNumber(request) === 5
  },
  {
    text: "Move “positive” to the top with its arrow: the handlers after it are not reached any more.",
    isDone: (draft) => first(draft)?.name === "positive"
  },
  {
    text: "Make “positive” ask for more than 10: nobody accepts 5, and the chain answers 422.",
    isDone: (draft) => parseNumber(draft.handlers.find(({ name }) => name === "positive")?.than ?? "") === 10
  },
  {
    text: "Give the chain a fallback: it handles requests that no handler accepted.",
    isDone: ({ fallback }) => fallback !== null
  },
  {
    text: "Look at a chain with a branch and a fragment, and follow the way of the request.",
    isDone: ({ handlers }) => handlers.some(({ kind }) => kind === "branch"),
    example: named("A branch and a fragment")
  },
  {
    text: "Look at a handler that fails twice, and is tried again by the library’s own policy.",
    isDone: ({ handlers }) => handlers.some(({ work }) => work !== null),
    example: named("Fails twice, then succeeds")
  }
]

/** A list of tasks. A task is checked off when the chain shows that it is done. */
export const Tutorial = (props: {
  readonly draft: ChainDraft
  readonly onShow: (example: Example) => void
  readonly onEnd: () => void
}) => {
  const [done, setDone] = useState(0)
  const lesson = lessons[done]
  useEffect(() => props.onShow(examples[0]!), [])
  useEffect(() => {
    if (lesson === undefined || !lesson.isDone(props.draft)) return
    setDone(done + 1)
    announce(
      lessons[done + 1] === undefined ? "Done: that was all." : `Done. Next: ${lessons[done + 1]!.text}`
    )
  }, [props.draft, done])
  return (
    <section class="card guide" aria-label="Tutorial">
      <ol>
        {lessons.slice(0, done + 1).map(({ example, text }, i) => (
          <li key={text} class={i < done ? "done" : "now"} aria-current={i === done ? "step" : undefined}>
            {i < done ? <span class="sr-only">Done: </span> : null}
            {text}
            {i === done && example !== undefined ? (
              <button type="button" class="button small plain" onClick={() => props.onShow(example)}>
                Show it
              </button>
            ) : null}
          </li>
        ))}
      </ol>
      <div class="play-bar">
        <span class="quiet-text">
          {lesson === undefined ? "That was all. Now compose your own." : `${done} of ${lessons.length} done`}
        </span>
        <span class="grow" />
        <button type="button" class="button small quiet" onClick={props.onEnd}>
          {lesson === undefined ? "Close" : "Close"}
        </button>
      </div>
    </section>
  )
}
