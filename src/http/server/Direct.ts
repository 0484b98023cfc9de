import {
  type HttpApiEndpoint,
  type HttpApiGroup,
  HttpApiSchema,
  type HttpServerRequest
} from "@effect/platform"
import { type Effect, Either, Option, type ParseResult, Schema, SchemaAST } from "effect"
import * as CompiledValidator from "./CompiledValidator.js"

/**
 * The argument of a handler, as `HttpApiBuilder` passes it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Input {
  /** The request. */
  readonly request: HttpServerRequest.HttpServerRequest
  /** The decoded body; absent if the operation takes no body. */
  readonly payload?: unknown
}

/**
 * One operation of an API, compiled for the server to run without a router.
 *
 * @since 0.1.0
 * @category models
 */
export interface Operation {
  /** The endpoint's name in its group. */
  readonly name: string
  /** The method, in upper case. */
  readonly method: string
  /** The path, without parameters. */
  readonly path: string
  /** The status of a successful reply. */
  readonly status: number
  /** Decodes the body; undefined if the operation takes no body. */
  readonly decode: ((body: unknown) => Either.Either<unknown, ParseResult.ParseError>) | undefined
  /** Runs the operation. The server turns its failures into error replies. */
  readonly handle: (input: Input) => Effect.Effect<unknown, unknown>
  /** Encodes a result as JSON text. */
  readonly encode: (value: unknown) => string
}

/**
 * Operations by path and method.
 *
 * @since 0.1.0
 * @category models
 */
export type Operations = ReadonlyMap<string, ReadonlyMap<string, Operation>>

type Endpoints<Group extends HttpApiGroup.HttpApiGroup.Any> = HttpApiGroup.HttpApiGroup.Endpoints<Group>

/**
 * A handler for each endpoint of a group. Handlers require no services.
 *
 * @since 0.1.0
 * @category models
 */
export type Handlers<Group extends HttpApiGroup.HttpApiGroup.Any> = {
  readonly [Name in HttpApiEndpoint.HttpApiEndpoint.Name<
    Endpoints<Group>
  >]: HttpApiEndpoint.HttpApiEndpoint.HandlerWithName<
    Endpoints<Group>,
    Name,
    HttpApiGroup.HttpApiGroup.Error<Group>,
    never
  >
}

/**
 * Freezes a value deeply. The server encodes a deeply frozen result once and reuses its JSON text.
 *
 * @since 0.1.0
 * @category serving
 */
export const frozen = <A>(value: A): A => {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(frozen)
  return Object.freeze(value)
}

const isFrozen = (value: unknown): boolean =>
  typeof value !== "object" ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(isFrozen))

/** Encodes by the schema and then by `JSON.stringify`. The JSON text of a deeply frozen value is cached. */
const encoder = (schema: Schema.Schema.All): ((value: unknown) => string) => {
  const plain = SchemaAST.encodedAST(schema.ast) === schema.ast
  const encode = Schema.encodeUnknownSync(schema as Schema.Schema<unknown, unknown>)
  const json = (value: unknown) => JSON.stringify(plain ? value : encode(value))
  const encoded = new WeakMap<object, string>()
  return (value) => {
    if (typeof value !== "object" || value === null) return json(value)
    const before = encoded.get(value)
    if (before !== undefined) return before
    const text = json(value)
    if (isFrozen(value)) encoded.set(value, text)
    return text
  }
}

/** Decodes by the schema, unless the compiled validator accepts the value unchanged. */
const decoder = (schema: Schema.Schema<unknown, unknown>): Operation["decode"] => {
  const guard = CompiledValidator.compile(schema.ast)
  const decode = Schema.decodeUnknownEither(schema)
  return guard === undefined ? decode : (body) => (guard(body) ? Either.right(body) : decode(body))
}

/**
 * Compiles the operations of a group with static paths from the description and handlers that `HttpApiBuilder` also
 * serves. A handler's failures must be `HttpError`s.
 *
 * @since 0.1.0
 * @category serving
 */
export const operations = <Group extends HttpApiGroup.HttpApiGroup.Any>(
  group: Group,
  handlers: Handlers<Group>
): Operations => {
  const found = new Map<string, Map<string, Operation>>()
  const described = group as unknown as HttpApiGroup.HttpApiGroup.AnyWithProps
  const handle = handlers as unknown as Readonly<Record<string, Operation["handle"]>>
  for (const endpoint of Object.values(described.endpoints)) {
    const payload = Option.getOrUndefined(endpoint.payloadSchema) as
      | Schema.Schema<unknown, unknown>
      | undefined
    const methods = found.get(endpoint.path) ?? new Map<string, Operation>()
    methods.set(endpoint.method, {
      name: endpoint.name,
      method: endpoint.method,
      path: endpoint.path,
      status: HttpApiSchema.getStatusSuccess(endpoint.successSchema),
      decode: payload === undefined ? undefined : decoder(payload),
      handle: handle[endpoint.name]!,
      encode: encoder(endpoint.successSchema)
    })
    found.set(endpoint.path, methods)
  }
  return found
}
