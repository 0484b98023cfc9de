import { type Context, type Exit, Option, Tracer } from "effect"

interface Ended {
  readonly name: string
  readonly attributes: ReadonlyMap<string, unknown>
  readonly parent: string | undefined
}

/** A tracer that keeps the spans that ended. */
export const collecting = () => {
  const ended: Array<Ended> = []
  let count = 0
  const tracer = Tracer.make({
    context: (run) => run(),
    span: (name, parent, context: Context.Context<never>, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
      const above = Option.getOrUndefined(parent)
      const span: Tracer.Span = {
        _tag: "Span",
        name,
        spanId: `${++count}`,
        traceId: "trace",
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes,
        links,
        sampled: true,
        kind,
        attribute: (key, value) => void attributes.set(key, value),
        event: () => {},
        addLinks: () => {},
        end: (_time: bigint, _exit: Exit.Exit<unknown, unknown>) =>
          void ended.push({ name, attributes, parent: above?._tag === "Span" ? above.name : undefined })
      }
      return span
    }
  })
  const attributes = (name: string) =>
    Object.fromEntries([...(ended.findLast((span) => span.name === name)?.attributes ?? [])])
  return { attributes, ended, tracer }
}
