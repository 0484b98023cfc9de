import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Execution, interpret, LazyEffect } from "./Interpreter.js"
import type { Step } from "./Step.js"

/** An execution that returns the name of the handling step with the response. */
export class NamedExecution extends LazyEffect {
  constructor(
    readonly program: ReadonlyArray<Step>,
    readonly chain: string,
    readonly request: unknown
  ) {
    super()
  }
  override commit() {
    const execution = new Execution(this.program, this.chain, true)
    const named = (response: unknown) => ({ response, handledBy: execution.handledBy!.name })
    const rest = interpret(execution, 0, this.request, false)
    return Exit.isExit(rest) ? Exit.map(rest, named) : Effect.map(rest, named)
  }
}
