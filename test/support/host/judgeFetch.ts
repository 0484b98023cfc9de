/** Preloaded into a program to check every reply of a host that it fetches against GitHub's descriptions. */
import { problems } from "./Judge.js"

const fetched = globalThis.fetch
const found: Array<string> = []
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
  // An error thrown here would look like a lost reply and be retried.
  for (const problem of wrong) found.push(`not as GitHub answers: ${pathname}: ${problem}`)
  return answer
}

process.on("exit", (code) => {
  if (judged === 0) found.push("No answer of a host was fetched")
  if (code !== 0 || found.length === 0) return
  process.stderr.write(`${found.slice(0, 20).join("\n")}\n`)
  process.exitCode = 1
})
