import { Effect, Option } from "effect"
import type { Call } from "../Call.js"
import * as Git from "../Git.js"
import { encodePath } from "../Links.js"
import { notFound } from "../Problem.js"
import * as Programs from "../Programs.js"
import * as Reply from "../Reply.js"
import { type Hosted, Repositories } from "../Repositories.js"
import * as Revision from "../Revision.js"
import * as Route from "../Route.js"
import { Tickets } from "../Tickets.js"

type Format = "tar.gz" | "zip"

const found = (hosted: Hosted, ref: string) =>
  Effect.gen(function* () {
    const info = yield* Revision.commitOf(hosted.git, ref === "" ? yield* hosted.git.defaultBranch : ref)
    return Option.isSome(info) ? info.value : yield* notFound
  })

/** The redirect of the API, to an address that needs no token of the caller's. */
export const routes = Effect.gen(function* () {
  const repositories = yield* Repositories
  const tickets = yield* Tickets

  const redirect =
    (format: Format) =>
    (call: Call): Route.Answer =>
      Effect.gen(function* () {
        const hosted = yield* repositories.reading(
          call.principal,
          call.parameters["owner"]!,
          call.parameters["repo"]!
        )
        const ref = call.parameters["ref"] ?? ""
        const { commit } = yield* found(hosted, ref)
        const path = `/api/codeload/${hosted.fullName}/legacy.${format}/${encodePath(ref || commit)}`
        const ticket = hosted.settings.private ? `?token=${yield* tickets.issue(hosted.fullName)}` : ""
        return Reply.make(302, { location: `${call.links.origin}${path}${ticket}` })
      })

  const docs = "rest/repos/contents#download-a-repository-archive"
  return [
    Route.make("GET", "/repos/{owner}/{repo}/tarball", `${docs}-tar`, redirect("tar.gz")),
    Route.make("GET", "/repos/{owner}/{repo}/tarball/{ref*}", `${docs}-tar`, redirect("tar.gz")),
    Route.make("GET", "/repos/{owner}/{repo}/zipball", `${docs}-zip`, redirect("zip")),
    Route.make("GET", "/repos/{owner}/{repo}/zipball/{ref*}", `${docs}-zip`, redirect("zip"))
  ]
})

/** The archive itself, as codeload sends it: everything below one directory that names the commit. */
export const codeload = Effect.gen(function* () {
  const repositories = yield* Repositories
  const tickets = yield* Tickets

  const send = (call: Call): Route.Answer =>
    Effect.gen(function* () {
      const [owner, name] = [call.parameters["owner"]!, call.parameters["repo"]!]
      const format = call.parameters["format"]?.replace(/^legacy\./, "")
      if (format !== "tar.gz" && format !== "zip") return yield* notFound
      const ticket = call.query.get("token")
      const hosted =
        ticket !== null && (yield* tickets.redeem(ticket, `${owner}/${name}`))
          ? yield* repositories.reading(
              { ...call.principal, grants: [{ repository: `${owner}/${name}`, access: "read" }] },
              owner,
              name
            )
          : yield* repositories.reading(call.principal, owner, name)
      const { commit } = yield* found(hosted, call.parameters["ref"] ?? "")
      const stem = `${owner}-${name}-${commit.slice(0, 7)}`
      yield* Programs.transfer
      const archive = Git.stream({
        directory: hosted.git.directory,
        admitted: true,
        args: ["archive", `--format=${format}`, `--prefix=${stem}/`, commit]
      })
      return Reply.make(
        200,
        {
          "content-type": format === "zip" ? "application/zip" : "application/x-gzip",
          "content-disposition": `attachment; filename=${stem}.${format}`,
          etag: `"${commit}"`,
          "x-content-type-options": "nosniff"
        },
        archive
      )
    })

  return Route.make("GET", "/{owner}/{repo}/{format}/{ref*}", "rest/repos/contents", send)
})
