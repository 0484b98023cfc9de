import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ChainDescription } from "../../domain/playground/ChainDescription.js"
import { ChainExecutionRequest, ExecutionResult } from "../../domain/playground/ChainExecution.js"
import { LanguageList } from "../../domain/playground/Language.js"
import { Ticket } from "../../domain/playground/Ticket.js"
import * as HttpError from "../server/HttpError.js"
import { withExamples } from "./Examples.js"

const described = (operationId: string, summary: string, description: string) =>
  OpenApi.annotations({ identifier: operationId, summary, description })

const languages = HttpApiEndpoint.get("languages", "/languages")
  .addSuccess(LanguageList)
  .annotateContext(
    described(
      "listLanguages",
      "List the language ports",
      "Every port of the chain library, in a fixed order."
    )
  )

const describeTicketTriage = HttpApiEndpoint.get("describeTicketTriage", "/chains/ticket-triage")
  .addSuccess(ChainDescription)
  .annotateContext(
    described(
      "describeTicketTriage",
      "Describe the ticket triage chain",
      "Its steps in registration order and the count that the library reports: a branch counts one, the fallback none."
    )
  )

const executeTicketTriage = HttpApiEndpoint.post("executeTicketTriage", "/chains/ticket-triage/execute")
  .setPayload(Ticket)
  .addSuccess(ExecutionResult)
  .annotateContext(
    described(
      "executeTicketTriage",
      "Run a ticket through the triage chain",
      "Refunds, password resets and urgent tickets are taken by their steps; the fallback queues the rest."
    )
  )

const executeChain = HttpApiEndpoint.post("executeChain", "/chains/execute")
  .setPayload(ChainExecutionRequest)
  .addSuccess(ExecutionResult)
  .addError(HttpError.UnhandledRequest.wire, { status: HttpError.UnhandledRequest.status })
  .annotateContext(
    described(
      "executeChain",
      "Compose a chain and run a number through it",
      "Handlers are tried in order; the first whose condition matches answers, else the fallback, else 422."
    )
  )

/**
 * The four operations of the Chain Playground.
 *
 * @since 0.1.0
 * @category apis
 */
export class PlaygroundGroup extends HttpApiGroup.make("playground", { topLevel: true })
  .add(languages)
  .add(describeTicketTriage)
  .add(executeTicketTriage)
  .add(executeChain)
  .addError(HttpError.ValidationError.wire, { status: HttpError.ValidationError.status })
  .addError(HttpError.RequestTimeout.wire, { status: HttpError.RequestTimeout.status })
  .addError(HttpError.PayloadTooLarge.wire, { status: HttpError.PayloadTooLarge.status })
  .addError(HttpError.UnsupportedMediaType.wire, { status: HttpError.UnsupportedMediaType.status })
  .addError(HttpError.InternalError.wire, { status: HttpError.InternalError.status })
  .addError(HttpError.ServiceUnavailable.wire, { status: HttpError.ServiceUnavailable.status })
  .prefix("/v1")
  .annotateContext(
    OpenApi.annotations({
      title: "Chain Playground",
      description: "Chains of responsibility, composed and run on request."
    })
  ) {}

/**
 * The Chain Playground API, version 1.0.0. The server, the typed client and the OpenAPI file are derived from it.
 *
 * @since 0.1.0
 * @category apis
 */
export class PlaygroundApi extends HttpApi.make("playground-api")
  .add(PlaygroundGroup)
  .annotateContext(
    OpenApi.annotations({
      title: "Chain Playground API",
      version: "1.0.0",
      description:
        "Lists the language ports, describes the support-ticket triage chain, and composes and executes chains of responsibility.",
      license: { name: "MIT" },
      transform: withExamples
    })
  ) {}
