import { Layer, Logger, ManagedRuntime } from "effect"
import { HostServer, layer } from "../host/HostServer.js"

/** Until the returned function is called, what is sent to GitHub goes to a host of our own, whose token `TOKEN` has. */
export const redirectGitHub = async (): Promise<() => Promise<void>> => {
  const runtime = ManagedRuntime.make(
    Layer.provide(layer({ createOnFirstUse: true }), Logger.remove(Logger.defaultLogger))
  )
  const { api, graphql, raw, token } = await runtime.runPromise(HostServer)
  const fetched = globalThis.fetch
  const places = [
    ["https://api.github.com/graphql", graphql],
    ["https://api.github.com", api],
    ["https://raw.githubusercontent.com", raw]
  ] as const
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    const [from, to] = places.find(([place]) => url.startsWith(place)) ?? ["", ""]
    return fetched(to + url.slice(from.length), init)
  }
  process.env["TOKEN"] = process.env["GITHUB_TOKEN"] = token
  return async () => {
    globalThis.fetch = fetched
    delete process.env["TOKEN"]
    delete process.env["GITHUB_TOKEN"]
    await runtime.dispose()
  }
}
