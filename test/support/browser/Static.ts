import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { extname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { build } from "vite"

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

/** Builds the hosted console for these APIs and serves it below a sub-path, as any web server would. */
export const hosted = async (
  apis: ReadonlyArray<{ readonly name: string; readonly apiUrl: string; readonly rawUrl?: string }>
) => {
  const directory = mkdtempSync(join(tmpdir(), "chainstore-hosted-"))
  const config = join(directory, "config.json")
  writeFileSync(config, JSON.stringify({ apis }))
  process.env["CHAINSTORE_CONSOLE_CONFIG"] = config
  await build({
    configFile: fileURLToPath(new URL("../../../src/console/vite.config.ts", import.meta.url)),
    logLevel: "error",
    build: { outDir: join(directory, "site"), emptyOutDir: true }
  })
  delete process.env["CHAINSTORE_CONSOLE_CONFIG"]
  const site = join(directory, "site")
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent((request.url ?? "/").split("?")[0]!))
    const file = join(site, path.replace(/^\/tools\/console/, ""), path.endsWith("/") ? "index.html" : "")
    if (!path.startsWith("/tools/console/") || !existsSync(file)) {
      response.writeHead(404)
      return void response.end()
    }
    response.writeHead(200, {
      "content-type": types[extname(file)] ?? "application/octet-stream",
      "content-encoding": "gzip"
    })
    response.end(gzipSync(readFileSync(file)))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tools/console/`,
    site,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      rmSync(directory, { recursive: true, force: true })
    }
  }
}
