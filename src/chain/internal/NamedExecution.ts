import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Execution, Lazily, walked } from "./Run.js"
import type { Step } from "./Step.js"

/** An execution that says which step answered. */
export class NamedExecution extends Lazily {
  constructor(
    readonly program: ReadonlyArray<Step>,
    readonly chain: string,
    readonly request: unknown
  ) {
    super()
  }
  override commit() {
    const execution = new Execution(this.program, this.chain, true)
    const named = (response: unknown) => ({ response, handledBy: execution.answered!.name })
    const rest = walked(execution, 0, this.request, false)
    return Exit.isExit(rest) ? Exit.map(rest, named) : Effect.map(rest, named)
  }
}
