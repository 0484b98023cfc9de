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

/** A request as it was sent. */
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

/** The versions of the API that are described. */
export type ApiVersion = "2022-11-28" | "2026-03-10"

const ofRepositories = ["has_downloads", "use_squash_pr_title_as_default", "master_branch"]

/**
 * What answers of version 2026-03-10 have no more, by schema. The package describes the older one alone; this is what
 * GitHub's own list of changes (`CHANGELOG.md` beside `api.github.com.2026-03-10.json` in its description) tells of the
 * operations here. A submodule in a directory also became `submodule`, which the schema always allowed.
 */
const gone: { readonly [schema: string]: ReadonlyArray<string> } = {
  "rate-limit-overview": ["rate"],
  root: ["authorizations_url", "hub_url"],
  repository: ofRepositories,
  "nullable-repository": ofRepositories,
  "minimal-repository": ofRepositories,
  "full-repository": ofRepositories
}

interface ObjectSchema {
  readonly properties?: { readonly [name: string]: unknown }
  readonly required?: ReadonlyArray<string>
}

const without = (schema: ObjectSchema, names: ReadonlyArray<string>) => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([name]) => !names.includes(name))
  ),
  required: (schema.required ?? []).filter((name) => !names.includes(name)),
  not: { anyOf: names.map((name) => ({ required: [name] })) }
})

const newer = {
  ...description.components,
  schemas: Object.fromEntries(
    Object.entries(description.components["schemas"] ?? {}).map(([name, schema]) => [
      name,
      gone[name] === undefined ? schema : without(schema as ObjectSchema, gone[name])
    ])
  )
}

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
addFormats.default(ajv)
ajv.addFormat("repo.nwo", true)
ajv.addFormat("timestamp", true)
ajv.addSchema({ $id: "2022-11-28", ...(convert({ components: description.components }) as object) })
ajv.addSchema({ $id: "2026-03-10", ...(convert({ components: newer }) as object) })

/** A reference inside the description, wherever the schema that holds it is compiled. */
const absolute = (value: unknown, version: ApiVersion): unknown => {
  if (Array.isArray(value)) return value.map((inner) => absolute(inner, version))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string" && inner.startsWith("#")
        ? version + inner
        : absolute(inner, version)
    ])
  )
}

const compiled = {
  "2022-11-28": new Map<object, ReturnType<typeof ajv.compile>>(),
  "2026-03-10": new Map<object, ReturnType<typeof ajv.compile>>()
}
const check = (schema: object, value: unknown, version: ApiVersion = "2022-11-28"): ReadonlyArray<string> => {
  const known = compiled[version].get(schema) ?? ajv.compile(absolute(convert(schema), version) as object)
  compiled[version].set(schema, known)
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

/** The object that a body is; where it may be several, the first of them. */
const bodyOf = (schema: object | undefined): ObjectSchema | undefined =>
  schema !== undefined && "oneOf" in schema ? (schema.oneOf as ReadonlyArray<ObjectSchema>)[0] : schema

/** How GitHub describes an operation, and its examples of answers in JSON. */
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
  const { externalDocs, parameters = [], requestBody, responses } = route.operation
  const inQuery = parameters.map(resolve).filter((parameter) => parameter["in"] === "query")
  return {
    method: route.method,
    path: route.template,
    docs: externalDocs?.url,
    query: inQuery.map((parameter) => String(parameter["name"])),
    body: bodyOf(requestBody?.content["application/json"]?.schema),
    statuses: Object.keys(responses).map(Number),
    examples
  }
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

/** A request as it is sent to a host at an origin. */
export const seenOf = async (
  origin: string,
  input: Parameters<typeof globalThis.fetch>[0],
  init: RequestInit | undefined
): Promise<Seen> => {
  const request = new Request(input, init)
  return {
    method: request.method,
    url: request.url.slice(origin.length).replace(/^\/api\/(v3)?/, (_, v3) => (v3 === undefined ? "/" : "")),
    headers: { "user-agent": "node", ...Object.fromEntries(request.headers) },
    body: await request.text()
  }
}

const responseOf = (operationId: string, status: number) => {
  const operation = routes.find((route) => route.operation.operationId === operationId)?.operation
  const response = operation?.responses[String(status)]
  return response === undefined ? undefined : resolve(response)
}

/** Whether an operation's description lists a status, and the headers that an answer of it has to carry. */
export const listed = (operationId: string, status: number) => {
  const response = responseOf(operationId, status)
  if (response === undefined) return undefined
  const headers = Object.keys((response["headers"] as object | undefined) ?? {})
  // A list of one page has no links.
  return { headers: headers.map((name) => name.toLowerCase()).filter((name) => name !== "link") }
}

/** Schemas of errors overlap, having hardly a member that is required: a body may well fit two of them. */
const either = (schema: { readonly oneOf?: unknown }) =>
  schema.oneOf === undefined ? schema : { anyOf: schema.oneOf }
const eithers = new Map<object, object>()

/** What is wrong with a reply to an operation, by its description. */
export const replyProblems = (
  operationId: string,
  status: number,
  body: unknown,
  { media = "application/json", version }: { readonly media?: string; readonly version?: ApiVersion } = {}
): ReadonlyArray<string> => {
  const response = responseOf(operationId, status)
  if (response === undefined) return [`${operationId} answers no ${status}`]
  const content = response["content"] as Content | undefined
  const schema = (content?.[media] ?? content?.["application/json"])?.schema
  if (schema === undefined) return []
  if (status < 400) return check(schema, body, version)
  const loose = eithers.get(schema) ?? either(schema)
  eithers.set(schema, loose)
  return check(loose, body, version)
}

/** What is wrong with an error that no description tells of: it has the members of every other one. */
export const errorProblems = (body: unknown): ReadonlyArray<string> =>
  check(description.components["schemas"]?.["basic-error"] as object, body)
