import type { HandlerFunction } from "../Handler.js"
import { Op, type Registered, type Step } from "./Step.js"

/** The steps inside a middleware. The fallback stays inside it too, as the last step. */
export const wrapMiddleware = (
  registered: Registered,
  middleware: HandlerFunction<any, any, any>,
  options: { readonly name?: string | undefined; readonly description?: string | undefined }
): Registered => {
  const builders: Array<Registered> = []
  let root = registered
  for (; root.step !== undefined; root = root.previous!) builders.push(root)
  const step: Step = {
    op: Op.Handle,
    when: undefined,
    run: middleware,
    skip: 1,
    name: options.name || middleware.name || "middleware",
    kind: "middleware",
    description: options.description,
    inner: undefined,
    log: undefined
  }
  let surrounding: Registered = { ...withoutFallback(root), previous: root, step, count: 1, size: 1 }
  for (const one of builders.reverse())
    surrounding = { ...withoutFallback(one), previous: surrounding, count: one.count + 1, size: one.size + 1 }
  return { ...surrounding, fallback: registered.fallback, ends: registered.ends }
}

const withoutFallback = ({ count, ends, name, previous, size, step }: Registered): Registered => ({
  name,
  previous,
  step,
  fallback: undefined,
  count,
  size,
  ends
})
