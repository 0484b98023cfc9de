import { Effect, Option } from "effect"
import * as Api from "../../../store/remote/github/api/Presentation.js"
import { notFound } from "../reply/HostError.js"
import { encodePath } from "../reply/Links.js"
import * as Reply from "../reply/Reply.js"
import * as GitCommand from "../repository/GitCommand.js"
import * as GitProcessSlots from "../repository/GitProcessSlots.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as Route from "../request/Route.js"

type Format = "tar.gz" | "zip"

const commitOf = (hosted: HostedRepository, ref: string) =>
  Effect.gen(function* () {
    const info = yield* RevisionLookup.commitOf(
      hosted.git,
      ref === "" ? yield* hosted.git.defaultBranch : ref
    )
    return Option.isSome(info) ? info.value : yield* notFound
  })

const redirect = (operation: Route.RouteOperation, format: Format) =>
  Route.read(operation, function* (call, hosted) {
    const { fullName, metadata } = hosted
    const ref = call.parameters["ref"] ?? ""
    const { commit } = yield* commitOf(hosted, ref)
    const path = `/api/codeload/${fullName}/legacy.${format}/${encodePath(ref || commit)}`
    const query = metadata.private ? `?token=${yield* call.host.archiveTokens.issue(fullName)}` : ""
    return Reply.make(302, { location: `${call.links.origin}${path}${query}` })
  })

const tarball = redirect(Api.downloadTarball, "tar.gz")
const zipball = redirect(Api.downloadZipball, "zip")

/** Redirects to a download URL that needs no token of the caller. */
export const routes: ReadonlyArray<Route.Route> = [
  tarball,
  { ...tarball, path: "/repos/{owner}/{repo}/tarball" },
  zipball,
  { ...zipball, path: "/repos/{owner}/{repo}/zipball" }
]

/** Serves the archive. All files are in a directory named after the commit, as on codeload.github.com. */
export const codeloadRoute = Route.make(
  { method: "GET", path: "/{owner}/{repo}/{format}/{ref*}", docs: "rest/repos/contents" },
  function* (call) {
    const [owner, name] = [call.parameters["owner"]!, call.parameters["repo"]!]
    const format = call.parameters["format"]?.replace(/^legacy\./, "")
    if (format !== "tar.gz" && format !== "zip") return yield* notFound
    const { archiveTokens, repositories } = call.host
    const repository = `${owner}/${name}`
    const token = call.query.get("token")
    const principal =
      token !== null && (yield* archiveTokens.verify(token, repository))
        ? { ...call.principal, grants: [{ repository, access: "read" as const }] }
        : call.principal
    const hosted = yield* repositories.openForRead(principal, owner, name)
    const { commit } = yield* commitOf(hosted, call.parameters["ref"] ?? "")
    const stem = `${owner}-${name}-${commit.slice(0, 7)}`
    yield* GitProcessSlots.transferSlot
    const archive = GitCommand.stream({
      directory: hosted.git.directory,
      hasSlot: true,
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
  }
)
