import { execFileSync } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { executable, launch, open } from "../support/browser/Chromium.js"
import { HostServer, layer } from "../support/host/HostServer.js"

const face = fileURLToPath(new URL("../../src/store/promise/index.ts", import.meta.url))

/** What somebody's own page does with the package: plain JavaScript, bundled, with no Effect in sight. */
const program = `
  import { ConflictError, fromCsv, openStore } from ${JSON.stringify(face)}

  globalThis.run = async (options) => {
    const store = await openStore({ ...options, paceRequests: false, indexes: { products: ["category"] } })
    const products = store.collection("products")
    const id = await products.insert({ name: "Tee 🍵", category: "drink" }, { id: "tea" })
    await products.update(id, { price: 4 }, { expectedRev: 1 })
    const refused = await products.update(id, { price: 5 }, { expectedRev: 1 }).catch((error) => error)
    await store.batch(async (batch) => {
      for (let n = 0; n < 20; n++) await batch.insert("products", { n }, { id: "n" + n })
    })
    const csv = new Response("sku,category,price\\na,drink,1\\nb,food,2\\n").body
    const imported = await products.importRecords(fromCsv(csv, { cells: "json" }), { idField: "sku" })
    let read = 0
    for await (const document of products.all()) read += document._rev > 0 ? 1 : 0
    const text = async (export_) => {
      const { readable, writable } = new TransformStream()
      const [whole] = await Promise.all([new Response(readable).text(), export_(writable)])
      return whole
    }
    const reason = new Error("enough")
    const aborted = await products.count({ signal: AbortSignal.abort(reason) }).catch((error) => error)
    const tea = await products.get("tea")
    const answer = {
      tea: [tea.name, tea.price, tea._rev],
      nothing: await products.get("nothing"),
      conflict: refused instanceof ConflictError,
      drinks: (await products.findBy("category", "drink")).map((document) => document._id),
      imported: imported.inserted,
      read,
      lines: (await text((to) => products.exportText(to, "ndjson"))).trim().split("\\n").length,
      workbook: (await text((to) => products.exportExcel(to))).slice(0, 2),
      history: (await products.history("tea")).map((entry) => entry.message),
      aborted: aborted === reason
    }
    await store.close()
    return answer
  }
`

const site = Effect.acquireRelease(
  Effect.promise(async () => {
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: fileURLToPath(new URL("../..", import.meta.url)) },
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      minify: true
    })
    const server = createServer((request, response) => {
      const script = request.url === "/page.js"
      response.writeHead(200, { "content-type": script ? "text/javascript" : "text/html" })
      response.end(
        script ? outputFiles[0]!.contents : '<!doctype html><script type="module" src="page.js"></script>'
      )
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return server
  }),
  (server) =>
    Effect.async<void>((resume) => {
      server.closeAllConnections()
      server.close(() => resume(Effect.void))
    })
).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`))

const browser = Effect.acquireRelease(Effect.promise(launch), (launched) =>
  Effect.promise(() => launched.close())
)

describe.skipIf(executable === undefined)("the Promise face in a browser (needs chromium)", () => {
  for (const useGraphql of [false, true]) {
    const reads = useGraphql ? "GraphQL" : "REST"
    it.scopedLive(`writes, reads, imports and exports from a page of another origin, over ${reads}`, () =>
      Effect.gen(function* () {
        const host = yield* HostServer
        const chromium = yield* browser
        const { console, errors, page, requests } = yield* Effect.promise(() => open(chromium))
        const address = yield* site
        const answer = yield* Effect.promise(async () => {
          await page.goto(address)
          await page.waitForFunction("globalThis.run")
          return page.evaluate(
            (told) => (globalThis as unknown as { run: (told: unknown) => Promise<unknown> }).run(told),
            { repo: "local/page", apiUrl: host.api, rawUrl: host.raw, token: host.token, useGraphql }
          )
        })
        assert.deepStrictEqual(answer, {
          tea: ["Tee 🍵", 4, 2],
          nothing: null,
          conflict: true,
          drinks: ["a", "tea"],
          imported: 2,
          read: 23,
          lines: 23,
          workbook: "PK",
          history: ["update products/tea", "insert products/tea"],
          aborted: true
        })
        assert.deepStrictEqual(errors, [])
        assert.deepStrictEqual(
          console.filter((line) => line.startsWith("error") && !/status of 4(04|09)/.test(line)),
          []
        )
        assert.strictEqual(
          requests.some(({ url }) => url.startsWith(host.graphql)),
          useGraphql
        )
        const log = execFileSync(
          "git",
          ["-C", join(host.directory, "repos/local/page.git"), "log", "--format=%s", "main"],
          { encoding: "utf8" }
        )
        assert.deepStrictEqual(log.trim().split("\n"), [
          "import 2 records into products",
          "batch: 20 operations",
          "update products/tea",
          "insert products/tea",
          "first commit of an empty repository"
        ])
      }).pipe(Effect.provide(layer({ createOnFirstUse: true })))
    )
  }
})
