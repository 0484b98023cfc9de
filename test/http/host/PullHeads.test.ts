import { execFile, execFileSync } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const zeros = "0".repeat(40)

/** A repository with a pull request of its branch `topic`, and commits that are on no branch. */
const prepared = (name: string) =>
  Effect.gen(function* () {
    const { directory, token, url } = yield* HostServer
    yield* Rest.repository(name, { "a.txt": "a\n" })
    const at = `/repos/local/${name}`
    const bare = join(directory, `repos/local/${name}.git`)
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", bare, "-c", "user.name=a", "-c", "user.email=a@x", ...args], {
        encoding: "utf8"
      }).trim()
    const main = git("rev-parse", "main")
    const commit = (message: string, parent = main) =>
      git("commit-tree", `${main}^{tree}`, "-p", parent, "-m", message)
    const [first, second, other] = [commit("first"), commit("second", commit("between")), commit("other")]
    const made = yield* Rest.request("POST", `${at}/git/refs`, {
      body: { ref: "refs/heads/topic", sha: first }
    })
    assert.strictEqual(made.status, 201)
    const opened = yield* Rest.request("POST", `${at}/pulls`, {
      body: { title: "Topic", head: "topic", base: "main" }
    })
    assert.strictEqual(opened.status, 201)
    const push = (...specs: ReadonlyArray<string>) =>
      Effect.promise(() =>
        promisify(execFile)("git", [
          "-C",
          bare,
          "push",
          "-q",
          `${url.replace("//", `//x:${token}@`)}/local/${name}.git`,
          ...specs
        ])
      )
    const kept = () => git("rev-parse", "refs/pull/1/head")
    const { data } = yield* Rest.graphql(`{ repository(owner: "local", name: "${name}") { id } }`)
    return {
      at,
      git,
      push,
      kept,
      main,
      first,
      second,
      other,
      repositoryId: data.repository.id as string,
      name
    }
  })
type Prepared = Effect.Effect.Success<ReturnType<typeof prepared>>

const updateRefs = ({ repositoryId }: Prepared, afterOid: string) =>
  Rest.graphql("mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }", {
    input: { repositoryId, refUpdates: [{ name: "refs/heads/topic", afterOid, force: true }] }
  })

const refId = ({ name }: Prepared) =>
  Effect.map(
    Rest.graphql(
      `{ repository(owner: "local", name: "${name}") { ref(qualifiedName: "refs/heads/topic") { id } } }`
    ),
    ({ data }) => data.repository.ref.id as string
  )

/** The ways to move, delete and create a branch. */
const movers = {
  rest: {
    move: ({ at }: Prepared, sha: string) =>
      Rest.request("PATCH", `${at}/git/refs/heads/topic`, { body: { sha, force: true } }),
    remove: ({ at }: Prepared) => Rest.request("DELETE", `${at}/git/refs/heads/topic`),
    make: ({ at }: Prepared, sha: string) =>
      Rest.request("POST", `${at}/git/refs`, { body: { ref: "refs/heads/topic", sha } })
  },
  "several refs by GraphQL": {
    move: updateRefs,
    remove: (all: Prepared) => updateRefs(all, zeros),
    make: updateRefs
  },
  "a ref by GraphQL": {
    move: (all: Prepared, oid: string) =>
      Effect.flatMap(refId(all), (id) =>
        Rest.graphql("mutation ($input: UpdateRefInput!) { updateRef(input: $input) { clientMutationId } }", {
          input: { refId: id, oid, force: true }
        })
      ),
    remove: (all: Prepared) =>
      Effect.flatMap(refId(all), (id) =>
        Rest.graphql("mutation ($input: DeleteRefInput!) { deleteRef(input: $input) { clientMutationId } }", {
          input: { refId: id }
        })
      ),
    make: ({ repositoryId }: Prepared, oid: string) =>
      Rest.graphql("mutation ($input: CreateRefInput!) { createRef(input: $input) { clientMutationId } }", {
        input: { repositoryId, name: "refs/heads/topic", oid }
      })
  },
  push: {
    move: ({ push }: Prepared, sha: string) => push(`+${sha}:refs/heads/topic`),
    remove: ({ push }: Prepared) => push(":refs/heads/topic"),
    make: ({ push }: Prepared, sha: string) => push(`${sha}:refs/heads/topic`)
  }
}

const contents = ({ at }: Prepared, more: object = {}) =>
  Rest.request("PUT", `${at}/contents/b.txt`, {
    body: { message: "b", content: Rest.base64("b\n"), branch: "topic", ...more }
  })

/** The ways to add a commit to a branch. */
const committers = {
  contents: (all: Prepared) => contents(all),
  "contents with dates": (all: Prepared) =>
    contents(all, { committer: { name: "a", email: "a@x", date: "2020-01-01T00:00:00Z" } }),
  merges: ({ at, other }: Prepared) =>
    Rest.request("POST", `${at}/merges`, { body: { base: "topic", head: other } }),
  "a commit by GraphQL": ({ first, name }: Prepared) =>
    Rest.graphql(
      "mutation ($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }",
      {
        input: {
          branch: { repositoryNameWithOwner: `local/${name}`, branchName: "topic" },
          message: { headline: "b" },
          expectedHeadOid: first,
          fileChanges: { additions: [{ path: "b.txt", contents: Rest.base64("b\n") }] }
        }
      }
    )
}

layer(host(), { timeout: 60_000 })("the commit of a pull request", (it) => {
  it.effect("is that of its branch whatever moves it, and stays when that is deleted and made again", () =>
    Effect.forEach(
      Object.entries(movers),
      ([what, { make, move, remove }], index) =>
        Effect.gen(function* () {
          const all = yield* prepared(`moved${index}`)
          yield* move(all, all.second)
          assert.strictEqual(all.kept(), all.second, what)
          yield* remove(all)
          assert.strictEqual(all.git("for-each-ref", "refs/heads/topic"), "", what)
          yield* make(all, all.other)
          assert.strictEqual(all.git("rev-parse", "topic"), all.other, what)
          const { body } = yield* Rest.get(`${all.at}/pulls/1`)
          assert.deepInclude(body, { state: "closed", merged: false }, what)
          assert.strictEqual(body.head.sha, all.second, what)
          assert.strictEqual(all.kept(), all.second, what)
        }),
      { concurrency: 2 }
    )
  )

  it.effect("is the last one that was made, also of a branch that was then deleted", () =>
    Effect.forEach(
      Object.entries(committers),
      ([what, commit], index) =>
        Effect.gen(function* () {
          const all = yield* prepared(`made${index}`)
          yield* commit(all)
          const last = all.git("rev-parse", "topic")
          assert.notStrictEqual(last, all.first, what)
          assert.strictEqual(all.kept(), last, what)
          yield* Rest.request("DELETE", `${all.at}/git/refs/heads/topic`)
          assert.strictEqual(all.kept(), last, what)
          assert.strictEqual((yield* Rest.get(`${all.at}/pulls/1`)).body.state, "closed", what)
        }),
      { concurrency: 2 }
    )
  )

  it.effect("is merged by a push of it to the base, whatever becomes of both branches after that", () =>
    Effect.gen(function* () {
      const all = yield* prepared("rewritten")
      yield* all.push(`${all.first}:refs/heads/main`)
      yield* all.push(`+${all.main}:refs/heads/main`, `+${all.second}:refs/heads/topic`)
      const { body } = yield* Rest.get(`${all.at}/pulls/1`)
      assert.deepInclude(body, { state: "closed", merged: true, merge_commit_sha: all.first })
      assert.strictEqual(body.head.sha, all.first)
    })
  )

  it.scoped("is kept by every host of the repository, whichever of them the pull request was made at", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const other = Context.get(yield* Layer.build(host({ beside: directory })), HostServer)
      const all = yield* prepared("shared")
      const there = Effect.provideService(HostServer, other)
      // Nothing was open when this host last looked, and only it knows what was opened since.
      yield* Rest.request("PATCH", `${all.at}/pulls/1`, { body: { state: "closed" } })
      assert.strictEqual((yield* there(contents(all))).status, 201)
      yield* Rest.request("PATCH", `${all.at}/pulls/1`, { body: { state: "open" } })
      yield* there(movers.rest.move(all, all.second))
      assert.strictEqual(all.kept(), all.second)
      yield* there(movers.rest.remove(all))
      yield* movers.rest.make(all, all.other)
      const { body } = yield* Rest.get(`${all.at}/pulls/1`)
      assert.deepInclude(body, { state: "closed", merged: false })
      assert.strictEqual(body.head.sha, all.second)
    })
  )

  it.effect("is noted of open pull requests alone, so that writes look for no others", () =>
    Effect.gen(function* () {
      const all = yield* prepared("noted")
      const noted = () => all.git("for-each-ref", "--format=%(refname)", "refs/pull/open")
      assert.strictEqual(noted(), "refs/pull/open")
      yield* Rest.request("PUT", `${all.at}/pulls/1/merge`, { body: {} })
      assert.strictEqual(noted(), "")
      all.git("fsck", "--strict")
    })
  )
})
