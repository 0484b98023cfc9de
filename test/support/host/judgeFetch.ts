/** Preloaded into a program: every answer of a host that it fetches is held against GitHub's descriptions. */
import { problems } from "./Judge.js"

const fetched = globalThis.fetch
let judged = 0

const textOf = (body: unknown): string =>
  typeof body === "string" ? body : body instanceof Uint8Array ? Buffer.from(body).toString() : ""

globalThis.fetch = async (input, init) => {
  const answer = await fetched(input, init)
  const { headers, status, url } = answer
  const { pathname, search } = new URL(url)
  const isJson = /^application\/json/.test(headers.get("content-type") ?? "")
  const wrong = problems({
    method: init?.method ?? "GET",
    url: pathname + search,
    asked: textOf(init?.body),
    status,
    headers: Object.fromEntries(headers),
    text: isJson ? await answer.clone().text() : undefined
  })
  if (headers.has("x-github-request-id")) judged++
  if (wrong.length > 0) throw new Error(`not as GitHub answers: ${pathname}: ${wrong.join("; ")}`)
  return answer
}

process.on("exit", (code) => {
  if (code === 0 && judged === 0) {
    process.stderr.write("No answer of a host was fetched\n")
    process.exitCode = 1
  }
})
