/**
 * Rebuilds `schema/openapi.json` and `schema/schema.graphql` from GitHub's own descriptions:
 *
 *   cd "$(mktemp -d)" && npm pack @octokit/openapi@23.0.2 @octokit/graphql-schema@15.26.1
 *   for f in *.tgz; do mkdir "${f%.tgz}" && tar xzf "$f" -C "${f%.tgz}"; done
 *   npx tsx test/support/github/rebuild.ts OPENAPI_DIR/package/generated/api.github.com.json GRAPHQL_DIR/package/schema.graphql
 */
import { readFileSync, writeFileSync } from "node:fs"
import { type DefinitionNode, parse, print, visit } from "graphql"

const operations = new Set([
  "repos/get",
  "repos/update",
  "repos/delete",
  "repos/get-readme",
  "repos/get-readme-in-directory",
  "repos/list-languages",
  "repos/list-contributors",
  "repos/get-all-topics",
  "repos/list-releases",
  "repos/get-latest-release",
  "repos/get-release-by-tag",
  "repos/get-combined-status-for-ref",
  "repos/list-commit-statuses-for-ref",
  "repos/list-pull-requests-associated-with-commit",
  "repos/list-branches-for-head-commit",
  "repos/list-comments-for-commit",
  "checks/list-for-ref",
  "checks/list-suites-for-ref",
  "licenses/get-for-repo",
  "repos/get-branch",
  "repos/list-branches",
  "repos/get-content",
  "repos/create-or-update-file-contents",
  "repos/delete-file",
  "repos/get-commit",
  "repos/list-commits",
  "repos/compare-commits-with-basehead",
  "repos/merge",
  "repos/download-tarball-archive",
  "repos/list-tags",
  "git/get-blob",
  "git/create-blob",
  "git/get-tree",
  "git/create-tree",
  "git/get-commit",
  "git/create-commit",
  "git/get-ref",
  "git/list-matching-refs",
  "git/create-ref",
  "git/update-ref",
  "git/delete-ref",
  "git/get-tag",
  "git/create-tag",
  "pulls/list",
  "pulls/create",
  "pulls/get",
  "pulls/update",
  "pulls/list-files",
  "pulls/list-commits",
  "pulls/check-if-merged",
  "pulls/merge",
  "issues/add-labels",
  "rate-limit/get",
  "meta/root",
  "meta/get",
  "meta/get-zen",
  "repos/download-zipball-archive",
  "repos/list-for-authenticated-user",
  "repos/list-for-user",
  "repos/list-for-org",
  "repos/list-public",
  "repos/create-for-authenticated-user",
  "repos/create-in-org",
  "users/get-authenticated",
  "users/get-by-username"
])

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }
type JsonObject = { readonly [key: string]: Json }

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const [openapiFile, graphqlFile] = process.argv.slice(2)
if (openapiFile === undefined || graphqlFile === undefined) throw new Error("two files, see above")

const description: JsonObject = JSON.parse(readFileSync(openapiFile, "utf8"))

/** Examples, prose and vendor extensions of what is kept are of no use to a validator. */
const lean = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(lean)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !(key === "description" && typeof inner === "string" && inner.length > 120))
      .filter(([key]) => !key.startsWith("x-"))
      .map(([key, inner]) => [key, lean(inner)])
  )
}

const paths: { [path: string]: { [method: string]: Json } } = {}
for (const [path, methods] of Object.entries(description["paths"] as JsonObject)) {
  for (const [method, operation] of Object.entries(methods as JsonObject)) {
    if (isObject(operation) && operations.has(String(operation["operationId"]))) {
      const kept = paths[path] ?? {}
      kept[method] = lean(operation)
      paths[path] = kept
    }
  }
}

const components: { [group: string]: { [name: string]: Json } } = {}
const collect = (value: Json): void => {
  if (Array.isArray(value)) value.forEach(collect)
  if (!isObject(value)) return
  const reference = value["$ref"]
  if (typeof reference === "string") {
    const [, , group = "", name = ""] = reference.split("/")
    const kept = components[group] ?? {}
    if (kept[name] === undefined) {
      const found = ((description["components"] as JsonObject)[group] as JsonObject)[name] as Json
      kept[name] = lean(found)
      components[group] = kept
      collect(found)
    }
  }
  Object.values(value).forEach(collect)
}
collect(paths)

writeFileSync(
  new URL("./schema/openapi.json", import.meta.url),
  `${JSON.stringify({ openapi: description["openapi"], info: description["info"], paths, components })}\n`
)

/** The fields that anybody here may ask for; whatever their arguments need is kept whole. */
const fields: { readonly [type: string]: ReadonlyArray<string> } = {
  Query: ["repository", "rateLimit", "viewer"],
  Mutation: ["createCommitOnBranch", "updateRefs", "createRef", "updateRef", "deleteRef"],
  Repository: [
    "id",
    "name",
    "nameWithOwner",
    "isEmpty",
    "isPrivate",
    "defaultBranchRef",
    "object",
    "ref",
    "viewerPermission"
  ],
  Ref: ["id", "name", "prefix", "target"],
  User: ["id", "login"],
  Blob: ["id", "oid", "abbreviatedOid", "byteSize", "isBinary", "isTruncated", "text"],
  Tree: ["id", "oid", "abbreviatedOid", "entries"],
  Tag: ["id", "oid", "abbreviatedOid", "name", "target"],
  Commit: [
    "id",
    "oid",
    "abbreviatedOid",
    "tree",
    "file",
    "message",
    "messageHeadline",
    "messageBody",
    "parents",
    "history",
    "committedDate",
    "authoredDate",
    "author",
    "committer",
    "url",
    "repository"
  ],
  GitObject: ["id", "oid", "abbreviatedOid"],
  GitActor: ["name", "email", "date"],
  Actor: ["login"],
  Node: ["id"],
  TreeEntry: ["name", "path", "mode", "oid", "object", "type", "size", "isGenerated"],
  CommitConnection: ["nodes", "totalCount", "pageInfo"],
  CommitHistoryConnection: ["nodes", "totalCount", "pageInfo"],
  PageInfo: ["endCursor", "hasNextPage", "hasPreviousPage", "startCursor"],
  RateLimit: ["cost", "limit", "nodeCount", "remaining", "resetAt", "used"],
  CreateCommitOnBranchPayload: ["clientMutationId", "commit", "ref"],
  UpdateRefsPayload: ["clientMutationId"],
  CreateRefPayload: ["clientMutationId", "ref"],
  UpdateRefPayload: ["clientMutationId", "ref"],
  DeleteRefPayload: ["clientMutationId"]
}

const definitions = new Map<string, DefinitionNode>()
for (const definition of parse(readFileSync(graphqlFile, "utf8"), { noLocation: true }).definitions) {
  if (!("name" in definition) || definition.name === undefined) continue
  const name = definition.name.value
  const wanted = fields[name]
  definitions.set(
    name,
    (definition.kind === "ObjectTypeDefinition" || definition.kind === "InterfaceTypeDefinition") && wanted
      ? {
          ...definition,
          interfaces: (definition.interfaces ?? []).filter((known) => fields[known.name.value] !== undefined),
          fields: (definition.fields ?? []).filter(
            (field, index, all) =>
              wanted.includes(field.name.value) &&
              all.findIndex((other) => other.name.value === field.name.value) === index
          )
        }
      : definition
  )
}

const kept = new Map<string, DefinitionNode>()
const keep = (name: string): void => {
  const definition = definitions.get(name)
  if (definition === undefined || kept.has(name)) return
  if (/^(Object|Interface|Union)/.test(definition.kind) && fields[name] === undefined) {
    throw new Error(`${name} is reached: say which of its fields to keep`)
  }
  kept.set(name, definition)
  visit(definition, { NamedType: (node) => keep(node.name.value) })
}
for (const root of ["Query", "Mutation", "Blob", "Tree", "Tag", "Commit"]) keep(root)

const withoutProse = (definition: DefinitionNode): DefinitionNode =>
  visit(definition, {
    enter: (node) => ("description" in node ? { ...node, description: undefined } : undefined),
    Directive: () => null
  })
writeFileSync(
  new URL("./schema/schema.graphql", import.meta.url),
  `${[...kept]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, definition]) => print(withoutProse(definition)))
    .join("\n\n")}\n`
)
