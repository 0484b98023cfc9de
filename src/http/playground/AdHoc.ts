import type { ChainBuilder } from "../../chain/index.js"
import { type ChainExecutionRequest, render } from "../../domain/ChainExecution.js"
import { matches } from "../../domain/Condition.js"
import { type Answer, type Composition, logged } from "./Composition.js"

/** The chain that a request describes: its handlers in order, by `useWhen`, and its fallback if it has one. */
export const compose =
  (description: ChainExecutionRequest): Composition<number> =>
  (write) => {
    let builder: ChainBuilder<number, Answer> = logged<number>("ad-hoc", write)
    for (const { name, respond, when } of description.handlers) {
      builder = builder.useWhen(
        (request) => matches(when, request),
        (request) => ({ handledBy: name, response: render(respond, request) }),
        { name }
      )
    }
    const fallback = description.fallback
    return fallback === undefined || fallback === null
      ? builder.build()
      : builder
          .withFallback((request) => ({ handledBy: "fallback", response: render(fallback, request) }))
          .build()
  }
