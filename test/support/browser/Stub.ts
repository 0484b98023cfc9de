import { createServer, request as forward, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"

export interface Stub {
  readonly url: string
  /** What is left of the limit that the stub announces. */
  readonly budget: { limit: number; remaining: number }
  /** The branch that only pull requests may change. */
  readonly rules: { protectedBranch: string | undefined }
  /** The requests so far that the limit counts. */
  readonly counted: () => number
  /** Lets so many more requests through and holds what comes after them until `release`. */
  readonly hold: (after: number) => Held
  readonly close: () => Promise<void>
}

export interface Held {
  /** Resolves when a request is held. */
  readonly reached: Promise<void>
  readonly release: () => void
}

const signal = (): [given: Promise<void>, give: () => void] => {
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return [given, give]
}

const message = (text: string) =>
  JSON.stringify({ message: text, documentation_url: "https://docs.github.com/rest", status: "0" })

const ruleViolation = "Repository rule violations found\n\nChanges must be made through a pull request."

/** Whether a request writes to a branch. */
const writesTo = (branch: string, method: string | undefined, path: string, body: string): boolean => {
  if (path.endsWith("/graphql")) {
    return /createCommitOnBranch|updateRefs/.test(body) && new RegExp(`"(refs/heads/)?${branch}"`).test(body)
  }
  if (method === "GET") return false
  return (
    path.endsWith(`/git/refs/heads/${branch}`) ||
    (/\/(contents|merges)\b/.test(path) && new RegExp(`"(branch|base)":"${branch}"`).test(body))
  )
}

/**
 * A GitHub-compatible API in front of a real host: repositories of `stub` meet the errors they are named after,
 * everything else is passed on with the headers of a rate limit, of which a 304 takes nothing. Commits to the protected
 * branch are refused as GitHub does by a rule of the repository.
 */
export const stub = (host: string): Promise<Stub> => {
  const budget = { limit: 5000, remaining: 4000 }
  const rules: Stub["rules"] = { protectedBranch: undefined }
  const reset = Math.floor(Date.now() / 1000) + 1800
  let counted = 0
  let pass = async () => {}
  const hold: Stub["hold"] = (after) => {
    const [reached, reach] = signal()
    const [released, resume] = signal()
    let passed = 0
    pass = async () => {
      if (passed++ < after) return
      reach()
      await released
    }
    const release = () => {
      pass = async () => {}
      resume()
    }
    return { reached, release }
  }
  const open = {
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "Authorization, Content-Type, If-None-Match, Accept",
    "access-control-allow-methods": "GET, POST, PATCH, PUT, DELETE",
    "access-control-expose-headers":
      "ETag, Link, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Used, X-RateLimit-Reset, X-RateLimit-Resource"
  }
  const rate = () => ({
    "x-ratelimit-limit": String(budget.limit),
    "x-ratelimit-remaining": String(budget.remaining),
    "x-ratelimit-used": String(budget.limit - budget.remaining),
    "x-ratelimit-reset": String(reset),
    "x-ratelimit-resource": "core"
  })
  const server: Server = createServer(async (request, response) => {
    const path = request.url ?? ""
    const answer = (status: number, body: string, headers: Record<string, string> = {}) => {
      response.writeHead(status, { ...open, "content-type": "application/json", ...rate(), ...headers })
      response.end(body)
    }
    if (request.method === "OPTIONS") {
      response.writeHead(204, open)
      return void response.end()
    }
    if (path.endsWith("/rate_limit")) {
      const used = budget.limit - budget.remaining
      return answer(
        200,
        JSON.stringify({ resources: { core: { ...budget, used, reset, resource: "core" } } })
      )
    }
    if (path.includes("/stub/bad-token")) return answer(401, message("Bad credentials"))
    if (path.includes("/stub/no-permission")) {
      return answer(403, message("Resource not accessible by personal access token"))
    }
    if (path.includes("/stub/no-repository")) return answer(404, message("Not Found"))
    if (path.includes("/stub/limited")) {
      return answer(403, message("API rate limit exceeded for user ID 1."), { "x-ratelimit-remaining": "0" })
    }
    if (path.includes("/stub/no-branch")) {
      return /\/repos\/stub\/no-branch(\?|$)/.test(path)
        ? answer(
            200,
            JSON.stringify({
              id: 1,
              name: "no-branch",
              full_name: "stub/no-branch",
              private: false,
              default_branch: "trunk",
              permissions: { push: true, pull: true, admin: false }
            })
          )
        : answer(404, message("Not Found"))
    }
    const body = await buffer(request)
    const { protectedBranch } = rules
    if (protectedBranch !== undefined && writesTo(protectedBranch, request.method, path, body.toString())) {
      return path.endsWith("/graphql")
        ? answer(
            200,
            JSON.stringify({ data: null, errors: [{ type: "UNPROCESSABLE", message: ruleViolation }] })
          )
        : answer(409, message(ruleViolation))
    }
    await pass()
    const target = new URL(host + path)
    const { host: _, origin: __, ...headers } = request.headers
    const passed = forward(
      {
        hostname: target.hostname,
        port: target.port,
        path: target.pathname + target.search,
        method: request.method,
        headers: { ...headers, host: target.host }
      },
      (reply) => {
        if (reply.statusCode !== 304) {
          budget.remaining--
          counted++
        }
        const kept = Object.fromEntries(
          Object.entries(reply.headers).filter(([name]) => !/^(access-control|x-ratelimit)/.test(name))
        )
        response.writeHead(reply.statusCode ?? 502, { ...kept, ...open, ...rate() } as Record<string, string>)
        reply.pipe(response)
      }
    )
    passed.on("error", () => response.destroy())
    passed.end(body)
  })
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        budget,
        rules,
        counted: () => counted,
        hold,
        close: () =>
          new Promise((done) => {
            server.closeAllConnections()
            server.close(() => done())
          })
      })
    )
  )
}
