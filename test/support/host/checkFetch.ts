/** Preloaded into a program to check every reply of a host that it fetches against GitHub's descriptions. */
import { exchangeProblems } from "./Conformance.js"

const fetched = globalThis.fetch
const found: Array<string> = []
let checkedReplies = 0

const textOf = (body: unknown): string =>
  typeof body === "string" ? body : body instanceof Uint8Array ? Buffer.from(body).toString() : ""

globalThis.fetch = async (input, init) => {
  const answer = await fetched(input, init)
  const { headers, status, url } = answer
  const { pathname, search } = new URL(url)
  const isJson = /^application\/json/.test(headers.get("content-type") ?? "")
  const wrong = exchangeProblems({
    method: init?.method ?? "GET",
    url: pathname + search,
    requestBody: textOf(init?.body),
    status,
    headers: Object.fromEntries(headers),
    text: isJson ? await answer.clone().text() : undefined
  })
  if (headers.has("x-github-request-id")) checkedReplies++
  // An error thrown here would look like a lost reply and be retried.
  for (const problem of wrong) found.push(`differs from GitHub: ${pathname}: ${problem}`)
  return answer
}

process.on("exit", (code) => {
  if (checkedReplies === 0) found.push("No reply of a host was fetched")
  if (code !== 0 || found.length === 0) return
  process.stderr.write(`${found.slice(0, 20).join("\n")}\n`)
  process.exitCode = 1
})
