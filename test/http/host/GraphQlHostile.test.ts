import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const many = (count: number, one: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => one(index)).join(" ")

const ask = (query: string, variables: Record<string, unknown> = {}) =>
  Rest.request("POST", "/api/graphql", { body: { query, variables } })

const repository = (name: string, fields: string) =>
  `{ repository(owner: "local", name: "${name}") { ${fields} } }`

layer(host(), { timeout: 60_000 })("a query that asks for too much", (it) => {
  it.effect("of texts gets those that fit, an error for the others, and never a 500", () =>
    Effect.gen(function* () {
      yield* Rest.repository("texts", { "big.txt": "x".repeat(512_000), "other.txt": "y".repeat(512_000) })
      const text = (index: number) =>
        `a${index}: object(expression: "main:${index % 2 === 0 ? "big" : "other"}.txt") { ... on Blob { text } }`
      const { body, status } = yield* ask(repository("texts", many(140, text)))
      assert.strictEqual(status, 200)
      const texts = Object.values<Rest.Json>(body.data.repository).filter(({ text }) => text !== null)
      assert.strictEqual(texts.length, 125)
      assert.strictEqual(body.errors.length, 15)
      assert.include(body.errors[0], { type: "RESOURCE_LIMITS_EXCEEDED" })
      assert.match(body.errors[0].message, /^Resource limits for this query exceeded/)
    })
  )

  it.effect("of a directory's entries, of introspection or of fragments is refused", () =>
    Effect.gen(function* () {
      yield* Rest.repository(
        "wide",
        Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`d/${n}`, "1"]))
      )
      const doubled = (index: number) =>
        `fragment f${index} on Repository { ${many(2, (n) => `r${n}: owner { ... on User { repository(name: "wide") { ...f${index + 1} } } }`)} }`
      const entries = repository(
        "wide",
        `object(expression: "main:d") { ... on Tree { entries { ${many(2500, (n) => `a${n}: name`)} } } }`
      )
      for (const query of [
        entries,
        `{ ${many(100, (n) => `a${n}: __schema { types { fields { name args { name } type { name } } } }`)} }`,
        `${repository("wide", "...f0")} ${many(20, doubled)} fragment f20 on Repository { name }`,
        `{ viewer { repositories(first: 100) { nodes { owner { ... on User { repositories(first: 100) { nodes {
           ${many(1000, (n) => `a${n}: name`)} } } } } } } } }`
      ]) {
        const { body, status } = yield* ask(query)
        assert.deepStrictEqual([status, body.errors[0].type], [200, "RESOURCE_LIMITS_EXCEEDED"])
        assert.strictEqual(body.errors.length, 1)
      }
    })
  )

  it.effect("by the default of a variable is refused as by its value", () =>
    Effect.gen(function* () {
      const nested = (depth: number): string =>
        depth === 0
          ? "name"
          : `... on User { repositories(first: $n) { nodes { owner { ${depth === 1 ? "login" : nested(depth - 1)} } } } }`
      const query = (head: string) =>
        `query(${head}) { viewer { repositories(first: $n) { nodes { owner { ${nested(2)} } } } } }`
      const refused = "MAX_NODE_LIMIT_EXCEEDED"
      assert.strictEqual((yield* ask(query("$n: Int = 100"))).body.errors[0].type, refused)
      assert.strictEqual((yield* ask(query("$n: Int!"), { n: 100 })).body.errors[0].type, refused)
      assert.isUndefined((yield* ask(query("$n: Int = 100"), { n: 2 })).body.errors)
    })
  )

  it.effect("of many objects lets others in between", () =>
    Effect.gen(function* () {
      yield* Rest.repository("busy", { "a.json": "1\n" })
      const doubled = (index: number) =>
        `fragment f${index} on Repository { ${many(2, (n) => `r${n}: owner { ... on User { repository(name: "busy") { ...f${index + 1} } } }`)} }`
      const query = `${repository("busy", "...f0")} ${many(9, doubled)} fragment f9 on Repository { name }`
      const order: Array<string> = []
      const much = yield* Effect.fork(Effect.tap(ask(query), () => Effect.sync(() => order.push("much"))))
      // When a first small query has its reply, the large one is running.
      for (const name of ["first", "second"]) {
        yield* ask("{ viewer { login } }")
        order.push(name)
      }
      assert.isUndefined((yield* Fiber.join(much)).body.errors)
      assert.deepStrictEqual(order, ["first", "second", "much"])
    })
  )
})

layer(host(), { timeout: 60_000 })("lists", (it) => {
  it.effect("of nodes: one that is missing is an error of its place, and too many are not cut", () =>
    Effect.gen(function* () {
      const head = (yield* Rest.repository("nodes", { "a.json": "1\n" }))!
      const id = (kind: string) => Buffer.from(`${kind}:local/nodes:${head.commit}`).toString("base64url")
      const query = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename } }"
      const { body } = yield* ask(query, { ids: [id("Commit"), "x", id("Commit")] })
      assert.deepStrictEqual(body.data, { nodes: [{ __typename: "Commit" }, null, { __typename: "Commit" }] })
      assert.deepStrictEqual(body.errors[0].path, ["nodes", 1])
      const { body: refused } = yield* ask(query, { ids: Array.from({ length: 101 }, () => id("Commit")) })
      assert.strictEqual(
        refused.errors[0].message,
        "You may not provide more than 100 node ids; you provided 101."
      )
    })
  )

  it.effect("of commits from their end, and before a cursor", () =>
    Effect.gen(function* () {
      let at = (yield* Rest.repository("pages", { "a.json": "1\n" }))!.commit as string
      for (let n = 1; n <= 4; n++) {
        const made = yield* Rest.graphql(
          "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }",
          {
            input: {
              branch: { repositoryNameWithOwner: "local/pages", branchName: "main" },
              expectedHeadOid: at,
              message: { headline: `${n}` },
              fileChanges: { additions: [{ path: "a.json", contents: Rest.base64(`${n}`) }] }
            }
          }
        )
        at = made.data.createCommitOnBranch.commit.oid
      }
      const page = (args: string) =>
        Effect.map(
          ask(
            repository(
              "pages",
              `object(expression: "main") { ... on Commit { history(${args}) {
                 nodes { message } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }`
            )
          ),
          ({ body }) => {
            const { nodes, pageInfo } = body.data.repository.object.history
            return { ...pageInfo, messages: nodes.map((one: Rest.Json) => one.message).join(" ") }
          }
        )
      const first = yield* page("first: 2")
      const last = yield* page("last: 2")
      assert.include(first, { messages: "4 3", hasNextPage: true, hasPreviousPage: false })
      assert.include(last, { messages: "1 seed", hasNextPage: false, hasPreviousPage: true })
      const between = yield* page(`last: 1, before: "${last.startCursor}"`)
      assert.include(between, { messages: "2", hasNextPage: true, hasPreviousPage: true })
      assert.include(yield* page(`first: 5, before: "${last.startCursor}"`), { messages: "4 3 2" })
      assert.include(yield* page(`last: 1, path: "a.json", after: "${first.endCursor}"`), {
        messages: "seed"
      })
      const none = Rest.base64("v1 0")
      assert.include(yield* page(`first: 5, before: "${none}"`), { messages: "" })
    })
  )

  it.effect("refs that move together: an impossible update is not a race", () =>
    Effect.gen(function* () {
      const { commit } = (yield* Rest.repository("together", { "a.json": "1\n" }))!
      const { data } = yield* Rest.graphql(repository("together", "id"))
      const zeros = "0".repeat(40)
      for (const refUpdates of [
        [{ name: "refs/heads/none", afterOid: zeros }],
        [{ name: "refs/heads/none", beforeOid: zeros, afterOid: zeros }],
        [
          { name: "refs/heads/x/y", afterOid: commit },
          { name: "refs/heads/x", afterOid: commit }
        ]
      ]) {
        const moved = yield* Rest.graphql(
          "mutation($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }",
          { input: { repositoryId: data.repository.id, refUpdates } }
        )
        assert.include(["NOT_FOUND", "UNPROCESSABLE"], moved.errors![0].type)
      }
      const { data: after } = yield* Rest.graphql(
        repository("together", 'refs(refPrefix: "refs/heads/", first: 9) { nodes { name } }')
      )
      assert.deepStrictEqual(after.repository.refs.nodes, [{ name: "main" }])
    })
  )
})
