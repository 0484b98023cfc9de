import { readFileSync } from "node:fs"
import { Ajv } from "ajv"
import addFormats from "ajv-formats"
import { buildASTSchema, type GraphQLSchema, parse, validate } from "graphql"

interface Operation {
  readonly operationId: string
  readonly externalDocs?: { readonly url: string }
  readonly parameters?: ReadonlyArray<unknown>
  readonly requestBody?: { readonly content: { readonly [media: string]: { readonly schema: object } } }
  readonly responses: { readonly [status: string]: unknown }
}

interface Content {
  readonly [media: string]: {
    readonly schema: object
    readonly examples?: { readonly [name: string]: unknown }
  }
}

/** A request as it came over the socket. */
export interface Seen {
  readonly method: string
  /** Below the API's address, with its query. */
  readonly url: string
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: string
}

const read = (name: string) => readFileSync(new URL(`./schema/${name}`, import.meta.url), "utf8")

const description: {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly [group: string]: { readonly [name: string]: unknown } }
} = JSON.parse(read("openapi.json"))

/** GitHub's GraphQL schema, pruned to what is used here. */
export const graphqlSchema: GraphQLSchema = buildASTSchema(
  parse(read("schema.graphql"), { noLocation: true }),
  {
    assumeValid: true,
    assumeValidSDL: true
  }
)

/** `nullable` of OpenAPI 3.0 in the words of JSON Schema. */
const convert = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(convert)
  if (typeof value !== "object" || value === null) return value
  const {
    discriminator: _discriminator,
    example: _example,
    nullable,
    ...rest
  } = value as Record<string, unknown>
  const converted = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, convert(inner)]))
  return nullable === true ? { anyOf: [converted, { type: "null" }] } : converted
}

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
addFormats.default(ajv)
ajv.addFormat("repo.nwo", true)
ajv.addFormat("timestamp", true)
ajv.addSchema({ $id: "github", ...(convert({ components: description.components }) as object) })

/** A reference inside the description, wherever the schema that holds it is compiled. */
const absolute = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(absolute)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string" && inner.startsWith("#")
        ? `github${inner}`
        : absolute(inner)
    ])
  )
}

const compiled = new Map<object, ReturnType<typeof ajv.compile>>()
const check = (schema: object, value: unknown): ReadonlyArray<string> => {
  const known = compiled.get(schema) ?? ajv.compile(absolute(convert(schema)) as object)
  compiled.set(schema, known)
  return known(value) ? [] : (known.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
}

const slashed = new Set(["path", "ref", "basehead", "branch"])

const routes = Object.entries(description.paths)
  .flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      operation,
      pattern: new RegExp(
        `^${template
          .replace(/[.]/g, "\\.")
          .replace(/\{(\w+)\}/g, (_, name: string) =>
            slashed.has(name) ? `(?<${name}>.+?)` : `(?<${name}>[^/]+)`
          )}$`
      )
    }))
  )
  .sort((a, b) => b.template.replace(/\{\w+\}/g, "").length - a.template.replace(/\{\w+\}/g, "").length)

const resolve = (value: unknown): Record<string, unknown> => {
  const reference = (value as { readonly $ref?: string }).$ref
  if (reference === undefined) return value as Record<string, unknown>
  const [, , group = "", name = ""] = reference.split("/")
  return description.components[group]?.[name] as Record<string, unknown>
}

export const operationOf = (method: string, pathname: string) =>
  // The root directory is the Contents API without a path, which the description's template cannot say.
  routes.find(
    (route) => route.method === method && (route.pattern.test(pathname) || route.pattern.test(`${pathname}.`))
  )

/** How GitHub describes an operation: method, path, documentation, and its examples of answers in JSON. */
export const documented = (operationId: string) => {
  const route = routes.find(({ operation }) => operation.operationId === operationId)
  if (route === undefined) return undefined
  const examples: Array<readonly [status: number, name: string, value: unknown]> = []
  for (const [status, response] of Object.entries(route.operation.responses)) {
    const content = resolve(response)["content"] as Content | undefined
    for (const [name, example] of Object.entries(content?.["application/json"]?.examples ?? {})) {
      examples.push([Number(status), name, resolve(example)["value"]])
    }
  }
  return { method: route.method, path: route.template, docs: route.operation.externalDocs?.url, examples }
}

/** What is wrong with a request by GitHub's own descriptions; empty when nothing is. */
export const problemsOf = (seen: Seen): ReadonlyArray<string> => {
  const url = new URL(seen.url, "http://host")
  if (seen.headers["user-agent"] === undefined) return ["no User-Agent"]
  if (url.pathname === "/graphql") {
    const body: { readonly query?: unknown; readonly variables?: unknown } = JSON.parse(seen.body)
    if (seen.headers["authorization"] === undefined) return ["GraphQL without a token"]
    return typeof body.query === "string"
      ? validate(graphqlSchema, parse(body.query)).map((error) => error.message)
      : ["no query"]
  }
  const route = operationOf(seen.method, url.pathname)
  if (route === undefined) return [`${seen.method} ${url.pathname} is no operation of the API`]
  const problems: Array<string> = []
  const queries = new Map<string, Record<string, unknown>>()
  for (const parameter of route.operation.parameters ?? []) {
    const found = resolve(parameter)
    if (found["in"] === "query") queries.set(String(found["name"]), found)
  }
  for (const [name, value] of url.searchParams) {
    const parameter = queries.get(name)
    if (parameter === undefined) {
      problems.push(`unknown query parameter ${name}`)
      continue
    }
    const schema = parameter["schema"] as { readonly type?: string }
    const typed =
      schema.type === "integer" ? Number(value) : schema.type === "boolean" ? value === "true" : value
    problems.push(...check(schema, typed).map((problem) => `query ${name}${problem}`))
  }
  for (const [name, parameter] of queries) {
    if (parameter["required"] === true && !url.searchParams.has(name))
      problems.push(`query ${name} is missing`)
  }
  const schema = route.operation.requestBody?.content["application/json"]?.schema
  if (schema !== undefined) {
    if (!/^application\/json/.test(seen.headers["content-type"] ?? ""))
      problems.push("the body is not sent as JSON")
    problems.push(...check(schema, JSON.parse(seen.body === "" ? "null" : seen.body)))
  } else if (seen.body !== "") {
    problems.push("a body where none belongs")
  }
  return problems
}

/** What is wrong with a reply to an operation, by its description. */
export const replyProblems = (operationId: string, status: number, body: unknown): ReadonlyArray<string> => {
  const operation = routes.find((route) => route.operation.operationId === operationId)?.operation
  const response = operation?.responses[String(status)]
  if (response === undefined) return [`${operationId} answers no ${status}`]
  const content = resolve(response)["content"] as Content | undefined
  const schema = content?.["application/json"]?.schema
  return schema === undefined ? [] : check(schema, body)
}
