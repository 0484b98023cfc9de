import { Effect, type Scope, Stream } from "effect"
import { RemoteError, type ValidationError } from "../../../domain/errors/StoreError.js"
import * as TemporaryFile from "../../../git/disk/files/TemporaryFile.js"
import { anonymous } from "../access/Principal.js"
import { HostError, requiresAuthentication } from "../reply/HostError.js"
import * as Reply from "../reply/Reply.js"
import * as FirstBranch from "../repository/FirstBranch.js"
import * as GitCommand from "../repository/GitCommand.js"
import * as GitProcessSlots from "../repository/GitProcessSlots.js"
import { pullRefs } from "../repository/HostNames.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as BodyStream from "../request/BodyStream.js"
import type { HostCall } from "../request/HostCall.js"
import * as Route from "../request/Route.js"
import * as PacketLines from "./PacketLines.js"

/** The maximum size of a fetch request: two million object ids. */
const maxFetchBytes = 100 * 1024 * 1024

/** The size up to which a body is kept in memory, so that small requests need no temporary file. */
const inMemory = 64 * 1024

const noCache = {
  "cache-control": "no-cache, max-age=0, must-revalidate",
  expires: "Fri, 01 Jan 1980 00:00:00 GMT",
  pragma: "no-cache"
}

const settings: Readonly<Record<string, ReadonlyArray<string>>> = {
  "upload-pack": ["uploadpack.allowFilter=true", "uploadpack.allowAnySHA1InWant=true"],
  "receive-pack": [
    "receive.fsckObjects=true",
    "receive.maxInputSize=0",
    "receive.denyDeleteCurrent=refuse",
    `receive.hideRefs=${pullRefs}`
  ]
}

const service = (name: string, directory: string, call: HostCall, ...options: ReadonlyArray<string>) => {
  const protocol = call.request.headers["git-protocol"]
  return {
    directory,
    settings: settings[name]!,
    args: [name, "--stateless-rpc", ...options, directory],
    ...(protocol !== undefined && /^version=[0-2]$/.test(protocol) ? { env: { GIT_PROTOCOL: protocol } } : {})
  }
}

/** A 401 error with `WWW-Authenticate`. Without it, Git clients neither prompt for credentials nor retry. */
export const challenge = ({ message }: HostError) =>
  new HostError({ status: 401, message, headers: { "www-authenticate": 'Basic realm="GitHub"' } })

const unknownReason = "the request was refused"

/**
 * The last packet of a fetch that `upload-pack` rejects. Git either sent an error packet itself or only logged the
 * reason.
 */
const uploadPackError = (stderr: string, first: Uint8Array | undefined): Uint8Array | undefined => {
  if (first !== undefined)
    return /^[0-9a-f]{4}ERR /.test(Buffer.from(first).toString("latin1")) ? new Uint8Array() : undefined
  const [, reason = unknownReason] = /^fatal: (.{1,400})$/m.exec(stderr) ?? []
  // A reason with a path of this machine is not disclosed.
  return PacketLines.encode(`ERR upload-pack: ${reason.includes("/") ? unknownReason : reason}`)
}

const open = (
  call: HostCall,
  name: string
): Effect.Effect<HostedRepository, HostError | RemoteError | ValidationError, Scope.Scope> => {
  const owner = call.parameters["owner"]!
  // Git requests the URL as the user typed it, with or without `.git`.
  const repository = call.parameters["repo"]!.replace(/\.git$/, "")
  const right = name === "receive-pack" ? "openForWrite" : "openForRead"
  return call.host.repositories[right](call.principal, owner, repository).pipe(
    Effect.catchTag("HostError", (problem) =>
      call.principal.id === anonymous.id
        ? Effect.fail(challenge(requiresAuthentication))
        : Effect.fail(problem)
    )
  )
}

/** Receives the body before a slot is acquired, so that a slow sender does not block others. */
const receive = (call: HostCall, name: string, maxBytes: number) =>
  Effect.gen(function* () {
    const hosted = yield* open(call, name)
    const type = `application/x-git-${name}-request`
    if (call.request.headers["content-type"] !== type)
      return yield* new HostError({ status: 415, message: `The body must be ${type}.` })
    const file = yield* TemporaryFile.make(call.host.repositories.directory, inMemory)
    yield* Stream.runForEach(BodyStream.decompressed(call, maxBytes), file.append)
    return { hosted, input: file.read(0, file.size()) }
  })

const reply = (type: string, body: Reply.Reply["body"]) =>
  Reply.make(200, { ...noCache, "content-type": `application/x-git-${type}` }, body)

// The reply does not depend on the repository and discloses nothing about it.
const lfs = () =>
  Reply.make(
    501,
    { "content-type": "application/vnd.git-lfs+json" },
    JSON.stringify({
      message:
        "This host does not store Git LFS objects. Commit the files themselves, or set lfs.url to a server that does."
    })
  )

const at = (method: string, path: string) => ({ method, path: `/{owner}/{repo}/${path}`, docs: "rest" })

/** Serves clone, fetch and push by running Git. A push waits for the lock on refs. */
export const routes: ReadonlyArray<Route.Route> = [
  Route.make(at("GET", "info/lfs/{path*}"), lfs),
  Route.make(at("POST", "info/lfs/{path*}"), lfs),
  Route.make(at("GET", "info/refs"), function* (call) {
    const name = /^git-(upload-pack|receive-pack)$/.exec(call.query.get("service") ?? "")?.[1]
    if (name === undefined) {
      return yield* new HostError({
        status: 403,
        message: "Please upgrade your git client: only smart HTTP is served."
      })
    }
    const { git } = yield* open(call, name)
    const run = service(name, git.directory, call, "--advertise-refs")
    const { code, stdout } = yield* GitCommand.output(run)
    if (code !== 0)
      return yield* new RemoteError({
        operation: "git",
        message: `git ${name} ended with ${code}`,
        reason: "Server"
      })
    const plain = run.env?.GIT_PROTOCOL !== "version=2" || name === "receive-pack"
    const head = [PacketLines.encode(`# service=git-${name}\n`), Buffer.from("0000")]
    return reply(`${name}-advertisement`, plain ? Buffer.concat([...head, stdout]) : stdout)
  }),
  Route.make(at("POST", "git-upload-pack"), function* (call) {
    const { hosted, input } = yield* receive(call, "upload-pack", maxFetchBytes)
    yield* PacketLines.check(input)
    yield* GitProcessSlots.transferSlot
    const output = GitCommand.stream({
      ...service("upload-pack", hosted.git.directory, call),
      hasSlot: true,
      input,
      errorOutput: uploadPackError
    })
    return reply("upload-pack-result", output)
  }),
  Route.make(at("POST", "git-receive-pack"), function* (call) {
    const { hosted, input } = yield* receive(call, "receive-pack", call.host.maxPushBytes)
    // The slot is acquired before the lock: the holder of the lock must not wait for processes that wait for the
    // lock.
    yield* GitProcessSlots.transferSlot
    const { stdout } = yield* call.host.repositories.firstWrite(hosted, ({ git }) =>
      git.withGitChildren(
        GitCommand.output({
          ...service("receive-pack", git.directory, call),
          input,
          hasSlot: true,
          // Unpacking and checking may take long, so they run before the lock is taken.
          withRefLock: (applied) =>
            git.withExclusiveAccess(Effect.zipLeft(applied, FirstBranch.makeDefault(git)))
        })
      )
    )
    return reply("receive-pack-result", stdout)
  })
]
