import type { ChainDraft, StepDraft, WorkDraft } from "./ChainDraft.js"
import { parseNumber, pathOf, toBody } from "./ChainDraft.js"

const signs = { equals: "===", lessThan: "<", greaterThan: ">" } as const

const template = (text: string) =>
  text.includes("{request}")
    ? `\`${text
        .replaceAll("\\", "\\\\")
        .replaceAll("`", "\\`")
        .replaceAll("$", "\\$")
        .replaceAll("{request}", () => ["$", "{request}"].join(""))}\``
    : JSON.stringify(text)

/** A value that is not a number becomes a string literal, never code: a chain may come from a link. */
const literal = (text: string) => JSON.stringify(parseNumber(text))

const answer = (text: string) => `(request) => ${template(text)}`

/** A handler with its work and its policies. */
const worker = (step: StepDraft, work: WorkDraft, name: string): string => {
  const failures = work.failures === "" ? "0" : literal(work.failures)
  const delay = work.delayMilliseconds === "" ? "" : `.pipe(Effect.delay(${literal(work.delayMilliseconds)}))`
  const limited =
    work.timeoutMilliseconds === ""
      ? `${name}Once`
      : `Policy.timeout(${name}Once, ${JSON.stringify(`${parseNumber(work.timeoutMilliseconds)} millis`)})`
  const retried =
    work.retries === "" ? limited : `Policy.retry(${limited}, Schedule.recurs(${literal(work.retries)}))`
  const whole =
    work.recover === null
      ? retried
      : `(request: number) => Policy.recover(${retried}, () => ${template(work.recover)})(request)`
  return `let ${name}Tries = 0
const ${name}Once = (request: number) =>
  Effect.suspend(() =>
    ++${name}Tries <= ${failures} ? Effect.fail(new Error("failed")) : Effect.succeed(${template(step.respond)})
  )${delay}
const ${name} = ${whole}
`
}

const steps = (list: ReadonlyArray<StepDraft>, pad: string, workers: Array<string>): ReadonlyArray<string> =>
  list.flatMap((step) => {
    const { comparison, fallback, kind, name, respond, steps: inner, than, work } = step
    const condition = `(request) => request ${signs[comparison]} ${literal(than)}`
    const options = `{ name: ${JSON.stringify(name)} }`
    if (kind === "handler") {
      if (work === null) return [`${pad}.useWhen(${condition}, ${answer(respond)}, ${options})`]
      const called = `work${workers.length + 1}`
      workers.push(worker(step, work, called))
      return [`${pad}.useWhen(${condition}, ${called}, ${options})`]
    }
    const lines = [
      ...steps(inner, `${pad}  `, workers),
      ...(fallback === null ? [] : [`${pad}  .withFallback(${answer(fallback)})`])
    ]
    const head =
      kind === "branch"
        ? `${pad}.useBranch(${condition}, (branch) => branch`
        : `${pad}.use(ChainBuilder.make<number, string>(${JSON.stringify(name)})`
    return [head, ...lines.slice(0, -1), `${lines.at(-1) ?? ""}, ${options})`]
  })

/** A program that builds and runs the same chain. For a ticket the program calls the service. */
export const typeScriptOf = (draft: ChainDraft, origin: string): string => {
  if (draft.mode === "triage") {
    return `const reply = await fetch(${JSON.stringify(origin + pathOf(draft))}, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(${JSON.stringify(toBody(draft))})
})
console.log(reply.status, await reply.json())
`
  }
  const workers: Array<string> = []
  const lines = [
    ...steps(draft.handlers, "  ", workers),
    ...(draft.fallback === null ? [] : [`  .withFallback(${answer(draft.fallback)})`]),
    "  .build()"
  ]
  const waits = workers.length > 0
  const policies = workers.some((text) => text.includes("Policy."))
  const imports = [
    `import { Chain, ChainBuilder${policies ? ", Policy" : ""} } from "chainstore/chain"`,
    ...(waits
      ? [
          `import { Effect${workers.some((text) => text.includes("Schedule.")) ? ", Schedule" : ""} } from "effect"`
        ]
      : [])
  ]
  const request = literal(draft.request)
  const run = waits
    ? `await Effect.runPromise(Chain.execute(chain, ${request}))`
    : `Chain.executeSync(chain, ${request})`
  return `${imports.join("\n")}

${workers.map((text) => `${text}\n`).join("")}const chain = ChainBuilder.make<number, string>("ad-hoc")
${lines.join("\n")}

console.log(${run})
`
}
