import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { Effect, Redacted, type Scope } from "effect"
import type { GitHostOptions } from "../../../src/store/remote/wire/GitHost.js"
import { hostServer } from "../../store/core/Remotes.js"
import { newRepository } from "../github/OnHost.js"
import { HostServer } from "../host/HostServer.js"
import * as HttpBackend from "./HttpBackend.js"
import * as SshServer from "./SshServer.js"
import * as WebServers from "./WebServers.js"
import { withoutCapabilities } from "./WireFaults.js"

/** An empty repository on a new server. */
export interface ServedRepository {
  readonly options: GitHostOptions
  /** Runs stock Git in the repository on the server. */
  readonly git: (...args: ReadonlyArray<string>) => string
}

/** A Git server that the tests can start. */
export interface GitServer {
  readonly name: string
  readonly isInstalled: boolean
  readonly serve: Effect.Effect<ServedRepository, never, Scope.Scope>
}

const gitIn =
  (place: string) =>
  (...args: ReadonlyArray<string>): string =>
    execFileSync("git", ["-C", place, ...args], { encoding: "utf8", stdio: "pipe" }).trim()

const webServer = (server: (typeof WebServers.servers)[number]): GitServer => ({
  name: server.name,
  isInstalled: server.isInstalled,
  serve: Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-served-"))),
      (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
    )
    const place = path.join(directory, "data.git")
    execFileSync("git", ["init", "-q", "--bare", "-b", "main", place])
    const git = gitIn(place)
    for (const setting of ["http.receivepack", "uploadpack.allowFilter"]) git("config", setting, "true")
    const url = `${yield* WebServers.serve(server, directory)}/data.git`
    return { options: { url, timeout: server.timeout }, git }
  })
})

const sshd = (name: string, ...settings: ReadonlyArray<string>): GitServer => ({
  name,
  isInstalled: SshServer.isInstalled,
  serve: Effect.map(SshServer.make(...settings), (server) => ({
    options: { url: server.create("data.git", "uploadpack.allowFilter=true"), ssh: server.sharing },
    git: gitIn(server.at("data.git"))
  }))
})

const gitoliteShell = "/usr/share/gitolite3/gitolite-shell"

/** Installs gitolite on an SSH server, with the server's client key as its administrator. */
export const installGitolite = (server: Effect.Effect.Success<ReturnType<typeof SshServer.make>>): string => {
  const home = server.at("gitolite")
  fs.mkdirSync(home)
  execFileSync("gitolite", ["setup", "-pk", server.at("client.pub")], {
    env: { ...process.env, HOME: home },
    stdio: "pipe"
  })
  server.force(`HOME=${home} exec ${gitoliteShell} client`)
  return path.join(home, "repositories")
}

export const isGitoliteInstalled = SshServer.isInstalled && fs.existsSync(gitoliteShell)

const gitolite: GitServer = {
  name: "gitolite3",
  isInstalled: isGitoliteInstalled,
  serve: Effect.map(SshServer.make("AcceptEnv GIT_PROTOCOL"), (server) => {
    const git = gitIn(path.join(installGitolite(server), "testing.git"))
    git("config", "uploadpack.allowFilter", "true")
    git("symbolic-ref", "HEAD", "refs/heads/main")
    // By default gitolite refuses branches whose names are not ASCII.
    const names = String.raw`$Gitolite::Rc::REF_OR_FILENAME_PATT = qr(^[0-9a-zA-Z][-0-9a-zA-Z._\@/+ :,\x80-\xff]*$);`
    const settings = server.at("gitolite/.gitolite.rc")
    fs.writeFileSync(settings, `${names}\n${fs.readFileSync(settings, "utf8")}`)
    return { options: { url: server.addressOf("testing"), ssh: server.sharing }, git }
  })
}

const ownHost: GitServer = {
  name: "our own host",
  isInstalled: true,
  serve: Effect.map(
    Effect.provideServiceEffect(newRepository, HostServer, hostServer),
    ({ directory, repo, server }) => ({
      options: { url: `${server.url}/${repo}.git`, token: Redacted.make(server.token) },
      git: gitIn(directory)
    })
  )
}

/** `git http-backend` by version 0, without filters, the side band and atomic pushes. */
const stripped: GitServer = {
  name: "git http-backend without its capabilities",
  isInstalled: true,
  serve: Effect.map(HttpBackend.make, (backend) => {
    backend.intercept = withoutCapabilities(backend, {
      version2: true,
      capabilities: ["filter", "side-band-64k", "side-band", "atomic"]
    })
    return {
      options: { url: backend.create("data.git") },
      git: gitIn(path.join(backend.directory, "data.git"))
    }
  })
}

/** Real Git servers, and whether they are installed on this machine. */
export const gitServers: ReadonlyArray<GitServer> = [
  ...WebServers.servers.map(webServer),
  sshd("sshd, version 2", "AcceptEnv GIT_PROTOCOL"),
  sshd("sshd, version 0"),
  gitolite,
  ownHost,
  stripped
]
