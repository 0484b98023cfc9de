import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { createServer } from "node:net"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import type { DurationInput } from "../../../src/domain/time/DurationInput.js"

const backend = path.join(
  execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(),
  "git-http-backend"
)

export const freePort = Effect.async<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

const lighttpd = (directory: string, port: number) => {
  const file = path.join(directory, "lighttpd.conf")
  fs.writeFileSync(
    file,
    `server.document-root = "${directory}"
server.bind = "127.0.0.1"
server.port = ${port}
server.modules = ("mod_alias", "mod_setenv", "mod_cgi")
alias.url = ("/" => "${backend}/")
setenv.set-environment = ("GIT_PROJECT_ROOT" => "${directory}", "GIT_HTTP_EXPORT_ALL" => "1", "REMOTE_USER" => "somebody")
cgi.assign = ("" => "")
`
  )
  return [spawn("lighttpd", ["-D", "-f", file], { stdio: "ignore" })]
}

const nginx = (directory: string, port: number) => {
  const file = path.join(directory, "nginx.conf")
  const socket = path.join(directory, "fcgi.sock")
  fs.writeFileSync(
    file,
    `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  client_max_body_size 0;
  server {
    listen 127.0.0.1:${port};
    location / {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME ${backend};
      fastcgi_param GIT_PROJECT_ROOT ${directory};
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param PATH_INFO $uri;
      fastcgi_param REMOTE_USER somebody;
      fastcgi_pass unix:${socket};
    }
  }
}
`
  )
  return [
    // Its children outlive it, so the process group is killed.
    spawn("fcgiwrap", ["-c", "4", "-s", `unix:${socket}`], { stdio: "ignore", detached: true }),
    spawn("nginx", ["-c", file, "-e", `${directory}/error.log`], { stdio: "ignore" })
  ]
}

const modules = "/usr/lib/apache2/modules"

const apache = (directory: string, port: number) => {
  const file = path.join(directory, "apache.conf")
  const names = ["mpm_prefork", "authz_core", "alias", "env", "cgi"]
  // If it is started by root, it serves as another user, who needs write access to the directory.
  execFileSync("chmod", ["-R", "a+rwX", directory])
  fs.writeFileSync(
    file,
    `ServerRoot ${directory}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${directory}/apache.pid
ErrorLog ${directory}/error.log
${names.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join("\n")}
${process.getuid?.() === 0 ? "User www-data\nGroup www-data" : ""}
SetEnv GIT_PROJECT_ROOT ${directory}
SetEnv GIT_HTTP_EXPORT_ALL 1
SetEnv REMOTE_USER somebody
SetEnv GIT_CONFIG_COUNT 2
SetEnv GIT_CONFIG_KEY_0 safe.directory
SetEnv GIT_CONFIG_VALUE_0 *
SetEnv GIT_CONFIG_KEY_1 core.sharedRepository
SetEnv GIT_CONFIG_VALUE_1 0777
ScriptAlias / ${backend}/
<Location />
  Require all granted
</Location>
`
  )
  // It kills its process group, which must not be that of the tests.
  return [spawn("apache2", ["-D", "FOREGROUND", "-f", file], { stdio: "ignore", detached: true })]
}

const script = fileURLToPath(new URL("./nodeGitServer.ts", import.meta.url))

const nodeGitServer = (directory: string, port: number) => [
  spawn(process.execPath, ["--import", "tsx", script, directory, `${port}`], { stdio: "ignore" })
]

const isThere = (...programs: ReadonlyArray<string>) =>
  programs.every((program) => spawnSync("which", [program]).status === 0)

interface WebServer {
  readonly name: string
  readonly isInstalled: boolean
  readonly start: (directory: string, port: number) => ReadonlyArray<ChildProcess>
  /** The timeout of the client. */
  readonly timeout?: DurationInput
}

/** Web servers that run Git's programs, and whether they are installed on this machine. */
export const servers: ReadonlyArray<WebServer> = [
  { name: "lighttpd", isInstalled: isThere("lighttpd"), start: lighttpd },
  { name: "nginx and fcgiwrap", isInstalled: isThere("nginx", "fcgiwrap"), start: nginx },
  {
    name: "apache2",
    isInstalled: isThere("apache2") && fs.existsSync(path.join(modules, "mod_cgi.so")),
    start: apache
  },
  // It does not reply to requests of version 2. After this timeout the client detects the version.
  { name: "node-git-server", isInstalled: true, start: nodeGitServer, timeout: "8 seconds" }
]

const ended = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("exit", () => resolve())
    try {
      process.kill(-child.pid!, "SIGTERM")
    } catch {
      // It is not the leader of a process group.
      child.kill()
    }
  })

const answers = (url: string) =>
  Effect.promise(() =>
    fetch(url).then(
      () => true,
      () => false
    )
  )

/** Runs a server for a directory of repositories, and returns its address. */
export const serve = (server: WebServer, directory: string) =>
  Effect.gen(function* () {
    const port = yield* freePort
    yield* Effect.acquireRelease(
      Effect.sync(() => server.start(directory, port)),
      (children) => Effect.promise(() => Promise.all(children.map(ended)))
    )
    const url = `http://127.0.0.1:${port}`
    // A request of the root path would crash node-git-server.
    const asked = `${url}/nothing.git/info/refs?service=git-upload-pack`
    yield* Effect.repeat(Effect.delay(answers(asked), "50 millis"), { until: (up) => up, times: 400 })
    return url
  })
