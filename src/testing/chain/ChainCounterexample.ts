import * as FastCheck from "effect/FastCheck"
import { type ChainPromise, promises } from "./ChainPromises.js"

const sources = new WeakMap<object, string>()

/** Notes the calls that built a chain, which a counterexample then shows. */
export const noteSource = <Builder extends object>(builder: Builder, source: string): Builder => {
  sources.set(builder, source)
  return builder
}

/** A counterexample as a report of a bug: the promise, what happened, the chain, the call, and how to repeat it. */
export const report = async <Builder extends object, Req>(
  law: string | undefined,
  details: FastCheck.RunDetails<[Builder, Req]>
): Promise<Error> => {
  const whole = (await FastCheck.asyncDefaultReportMessage(details)) ?? "The law could not be checked."
  const cause = details.errorInstance
  if (details.counterexample === null) return new Error(whole, { cause })
  const [builder, request] = details.counterexample
  const promise: ChainPromise | undefined =
    law === undefined ? undefined : (promises as Readonly<Record<string, ChainPromise>>)[law]
  const broken =
    promise === undefined ? [] : [`Promise: ${promise.title}`, `  "${promise.sentence}" (${promise.link})`]
  const lines = [
    `ChainLaws.${law ?? "check"} does not hold.`,
    ...broken,
    `Found: ${cause instanceof Error ? cause.message : FastCheck.stringify(cause)}`,
    `Chain: ${sources.get(builder) ?? builder}`,
    `Call: Chain.execute(chain, ${FastCheck.stringify(request)})`,
    `Again: ChainLaws.check(ChainLaws.${law ?? "law"}, builders, requests, { seed: ${details.seed}, path: "${details.counterexamplePath}" })`,
    `Failed after ${details.numRuns} runs, shrunk ${details.numShrinks} times.`,
    ...(details.verbose > FastCheck.VerbosityLevel.None ? ["", whole] : [])
  ]
  return new Error(lines.join("\n"), { cause })
}
