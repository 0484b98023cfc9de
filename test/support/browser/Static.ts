import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { extname, join, normalize } from "node:path"
import { gzipSync } from "node:zlib"

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

const below = "/tools/console/"

/** Serves a built site below a sub-path, as any web server would, with the addresses it was built for replaced. */
export const hosted = async (directory: string, addresses: ReadonlyMap<string, string>) => {
  const placed = (text: string) =>
    text.replace(/http:\/\/127\.0\.0\.1:\d+/g, (address) => addresses.get(address) ?? address)
  const files = new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        const read = readFileSync(path)
        const isText = [".html", ".json"].includes(extname(path))
        return [
          path.slice(directory.length + 1),
          gzipSync(isText ? placed(read.toString("utf8")) : read)
        ] as const
      })
  )
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent((request.url ?? "/").split("?")[0]!))
    const name = `${path.slice(below.length)}${path.endsWith("/") ? "index.html" : ""}`
    const file = path.startsWith(below) ? files.get(name) : undefined
    if (file === undefined) {
      response.writeHead(404)
      return void response.end()
    }
    response.writeHead(200, {
      "content-type": types[extname(name)] ?? "application/octet-stream",
      "content-encoding": "gzip"
    })
    response.end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${below}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}
