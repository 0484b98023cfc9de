import type { IncomingMessage, ServerResponse } from "node:http"
import {
  Cookies,
  type Headers,
  HttpIncomingMessage,
  HttpServerError,
  HttpServerRequest,
  UrlParams
} from "@effect/platform"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import { Chunk, Effect, Inspectable, Option, Stream } from "effect"
import { NodeStream } from "../../vendor/PlatformNode.js"
import type { Exchange } from "./Exchange.js"
import * as RequestBody from "./RequestBody.js"

/** A platform request over Node's request. Bodies are read within the limits of the mount. */
export class NodeRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly source: IncomingMessage
  readonly response: ServerResponse
  private readonly memo: { value: Effect.Effect<Buffer, HttpServerError.RequestError> | undefined }

  constructor(
    readonly exchange: Exchange,
    readonly limits: RequestBody.BodyLimits,
    readonly url: string,
    private readonly overrides: {
      readonly headers?: Headers.Headers
      readonly remoteAddress?: string
      readonly bytes?: { value: Effect.Effect<Buffer, HttpServerError.RequestError> | undefined }
    } = {}
  ) {
    super()
    this.source = exchange.request
    this.response = exchange.response
    this.memo = overrides.bytes ?? { value: undefined }
  }

  get originalUrl(): string {
    return this.source.url!
  }

  get method(): HttpMethod {
    return this.source.method as HttpMethod
  }

  get headers(): Headers.Headers {
    return this.overrides.headers ?? (this.source.headers as Headers.Headers)
  }

  get remoteAddress(): Option.Option<string> {
    return Option.fromNullable(this.overrides.remoteAddress ?? this.source.socket.remoteAddress)
  }

  get cookies(): Readonly<Record<string, string>> {
    return Cookies.parseHeader(this.headers["cookie"] ?? "")
  }

  modify(options: {
    readonly url?: string
    readonly headers?: Headers.Headers
    readonly remoteAddress?: string
  }): HttpServerRequest.HttpServerRequest {
    const { url, ...overrides } = options
    return new NodeRequest(this.exchange, this.limits, url ?? this.url, {
      ...this.overrides,
      ...overrides,
      bytes: this.memo
    })
  }

  private fail(cause: unknown): HttpServerError.RequestError {
    return new HttpServerError.RequestError({ request: this, reason: "Decode", cause })
  }

  private get bytes(): Effect.Effect<Buffer, HttpServerError.RequestError> {
    this.memo.value ??= Effect.runSync(Effect.cached(this.read))
    return this.memo.value
  }

  private get read(): Effect.Effect<Buffer, HttpServerError.RequestError> {
    return Effect.async((resume) => {
      RequestBody.read(this.source, this.response, this.limits, (result) => {
        if (Buffer.isBuffer(result)) resume(Effect.succeed(result))
        else if (result === undefined) resume(Effect.interrupt)
        else resume(Effect.fail(this.fail(result)))
      })
    })
  }

  get text(): Effect.Effect<string, HttpServerError.RequestError> {
    return Effect.map(this.bytes, (bytes) => bytes.toString("utf8"))
  }

  get json(): Effect.Effect<unknown, HttpServerError.RequestError> {
    return Effect.flatMap(this.bytes, (bytes) =>
      Effect.mapError(RequestBody.parse(bytes), (problem) => this.fail(problem))
    )
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, HttpServerError.RequestError> {
    return Effect.map(this.text, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, HttpServerError.RequestError> {
    return Effect.map(this.bytes, (bytes) => new Uint8Array(bytes).buffer as ArrayBuffer)
  }

  get stream(): Stream.Stream<Uint8Array, HttpServerError.RequestError> {
    const limits = this.limits
    if (RequestBody.declaresTooManyBytes(this.source, limits))
      return Stream.fail(this.fail(RequestBody.tooLarge(limits)))
    const source = Stream.suspend(() => {
      RequestBody.sendContinue(this.source, this.response)
      return NodeStream.fromReadable<HttpServerError.RequestError, Uint8Array>(
        () => this.source,
        (cause) => this.fail(cause),
        // Destroying the request would destroy the socket, and the reply with it.
        { closeOnDone: false }
      )
    })
    if (!Number.isFinite(limits.maxBytes)) return source
    let size = 0
    return Stream.mapChunksEffect(source, (chunk) => {
      size += Chunk.reduce(chunk, 0, (sum, part) => sum + part.length)
      return size > limits.maxBytes
        ? Effect.fail(this.fail(RequestBody.tooLarge(limits)))
        : Effect.succeed(chunk)
    })
  }

  get multipart(): HttpServerRequest.HttpServerRequest["multipart"] {
    return Effect.die(new Error("this service does not support multipart bodies"))
  }

  get multipartStream(): HttpServerRequest.HttpServerRequest["multipartStream"] {
    return Stream.die(new Error("this service does not support multipart bodies"))
  }

  get upgrade(): HttpServerRequest.HttpServerRequest["upgrade"] {
    return Effect.fail(
      new HttpServerError.RequestError({
        request: this,
        reason: "Decode",
        description: "not an upgradeable request"
      })
    )
  }

  toJSON(): unknown {
    return { _id: "NodeRequest", method: this.method, url: this.originalUrl }
  }
}
