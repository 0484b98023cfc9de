import * as fs from "node:fs"
import { HttpServerRequest } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { GitRepositories } from "../../../src/git/disk/GitRepositories.js"
import * as Handlers from "../../../src/http/console/Handlers.js"
import { Sessions } from "../../../src/http/console/Sessions.js"
import * as Tokens from "../../../src/http/host/access/Tokens.js"
import * as HostLayer from "../../../src/http/host/HostLayer.js"
import * as ConsoleStoresLayer from "../../../src/layers/ConsoleStores.js"
import type { Finding } from "../../../src/store/Doctor.js"
import { temporary } from "../../git/disk/support/temporary.js"

/**
 * What the console says of the health of a repository of the embedded host, to a user who may read it: after the sign-in, and after
 * a switch to another data root.
 */
const healthIn = (directory: string, arrange: (repository: string) => void) => {
  const host = Layer.merge(HostLayer.layerRepositories(directory), Tokens.layer({ directory })).pipe(
    Layer.provide(NodeContext.layer)
  )
  const stores = ConsoleStoresLayer.layer({ bind: "127.0.0.1", apis: [] })
  return Effect.gen(function* () {
    yield* Effect.flatMap(GitRepositories, (all) => all.create("test", "shop"))
    const token = yield* Effect.flatMap(Tokens.Tokens, (tokens) =>
      tokens.issue("ann", [{ repository: "test/shop", access: "read" }])
    )
    arrange(`${directory}/repos/test/shop.git`)
    const router = yield* Handlers.router()
    const post = (path: string, body: object, cookie = "") => {
      const headers = {
        ...{ host: "localhost", origin: "http://localhost", "content-type": "application/json" },
        cookie
      }
      const request = new Request(`http://localhost${path}`, {
        ...{ method: "POST", headers, body: JSON.stringify(body) }
      })
      return Effect.provideService(
        router,
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(request)
      )
    }
    const login = { api: "embedded", repo: "test/shop", branch: "main", root: "data" }
    const signedIn = yield* post("/api/login", { ...login, token: Redacted.value(token) })
    const [cookie] = Object.values(signedIn.cookies.cookies)
    const session = `${cookie!.name}=${cookie!.value}`
    const health = Effect.map(post("/api/health", { deep: false }, session), ({ body }) =>
      body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : assert.fail(body._tag)
    )
    const text = yield* health
    assert.strictEqual((yield* post("/api/switch", { root: "other" }, session)).status, 200)
    assert.strictEqual(yield* health, text)
    const { findings }: { readonly findings: ReadonlyArray<Finding> } = JSON.parse(text)
    return { text, messageOf: (code: string) => findings.find((finding) => finding.code === code)?.message }
  }).pipe(Effect.provide(Layer.merge(stores, Sessions.Default()).pipe(Layer.provideMerge(host))))
}

/** A pack that cannot be used, because its index is damaged. */
const addDamagedPack = (objects: string, id: string) => {
  fs.mkdirSync(`${objects}/pack`, { recursive: true })
  for (const ending of ["pack", "idx"]) fs.writeFileSync(`${objects}/pack/pack-${id}.${ending}`, "damaged")
}

const lend = (repository: string, objects: string) => {
  fs.mkdirSync(`${repository}/objects/info`, { recursive: true })
  fs.writeFileSync(`${repository}/objects/info/alternates`, `${objects}\n`)
}

// Whoever may read a repository must not learn the directories of the server, nor those of a repository that it borrows from (an
// administrator's `git clone --shared`).
it.scopedLive("health names the files of a repository of the embedded host by their paths in it", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const id = "1".repeat(40)
    const { messageOf, text } = yield* healthIn(directory, (repository) =>
      addDamagedPack(`${repository}/objects`, id)
    )
    assert.notInclude(text, directory)
    assert.match(messageOf("pack-index")!, new RegExp(`^objects/pack/pack-${id}\\.idx is damaged`))
  })
)

it.scopedLive("health does not name the directory of a repository whose objects are borrowed", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const { messageOf, text } = yield* healthIn(directory, (repository) =>
      lend(repository, `${directory}/repos/somebody/the secret.git/objects`)
    )
    assert.notInclude(text, directory)
    assert.notInclude(text, "secret")
    assert.match(messageOf("objects")!, /^the alternate … is missing: /)
  })
)

it.scopedLive("health names a damaged pack of borrowed objects without its directory", () =>
  Effect.gen(function* () {
    const [directory, elsewhere] = [yield* temporary, yield* temporary]
    const id = "2".repeat(40)
    const { messageOf, text } = yield* healthIn(directory, (repository) => {
      addDamagedPack(`${elsewhere}/objects`, id)
      lend(repository, `${elsewhere}/objects`)
    })
    assert.notInclude(text, directory)
    assert.notInclude(text, elsewhere)
    assert.include(messageOf("objects")!, `…/pack/pack-${id}.idx`)
  })
)

for (const isStillShared of [true, false]) {
  const refs = isStillShared ? "shared refs" : "refs that are not shared any more"
  it.scopedLive(`health names a lock of ${refs} without the directory of the other repository`, () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      const { messageOf, text } = yield* healthIn(directory, (repository) => {
        fs.mkdirSync(`${directory}/repos/secret.git`)
        fs.writeFileSync(`${directory}/repos/secret.git/packed-refs`, "# pack-refs with: peeled\n")
        if (isStillShared) fs.symlinkSync("../secret.git/packed-refs", `${repository}/packed-refs`)
        const message = "removed ../secret.git/packed-refs.lock, which an engine left when it was killed"
        fs.mkdirSync(`${repository}/chainstore`, { recursive: true })
        fs.writeFileSync(
          `${repository}/chainstore/repairs.log`,
          `${JSON.stringify({ at: "now", message })}\n`
        )
      })
      assert.notInclude(text, "secret")
      assert.include(messageOf("repaired")!, "removed …/packed-refs.lock, which")
    })
  )
}

it.scopedLive("health says that a token that may only read may not write", () =>
  Effect.gen(function* () {
    const { messageOf } = yield* healthIn(yield* temporary, () => {})
    assert.strictEqual(messageOf("rights"), "these credentials may read, but not write")
  })
)
