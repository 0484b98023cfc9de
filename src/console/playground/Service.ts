import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { ErrorBody } from "../../domain/http/ErrorBody.js"
import { ExecutionResult } from "../../domain/playground/ChainExecution.js"
import type { RunResult } from "./RunResult.js"

/** Runs a body at the service. A rejected body is a result too; without a readable reply the promise rejects. */
export const executeAtService = async (
  path: string,
  body: unknown,
  signal: AbortSignal
): Promise<Pick<RunResult, "body" | "status">> => {
  const response = await fetch(path, {
    method: "POST",
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  const decoded = Schema.decodeUnknownEither(Schema.Union(ExecutionResult, ErrorBody))(await response.json())
  return { status: response.status, body: Either.getOrThrow(decoded) }
}
