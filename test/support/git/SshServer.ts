import { execFileSync, spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { Effect } from "effect"
import { freePort } from "./WebServers.js"

const sshd = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].find((file) => fs.existsSync(file))

/** Whether an SSH server and a client are installed. */
export const isInstalled = sshd !== undefined && spawnSync("which", ["ssh"]).status === 0

const key = (file: string) => execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file])

/**
 * A real sshd on the loopback interface for the account that runs the tests: its repositories, a client configuration that knows the
 * host key, and one that does not. `settings` are additional lines of its configuration.
 */
export const make = (...settings: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-ssh-"))),
      (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
    )
    const at = (name: string) => path.join(directory, name)
    const port = yield* freePort
    for (const name of ["host", "client", "stranger"]) key(at(name))
    fs.copyFileSync(at("client.pub"), at("authorized_keys"))
    fs.writeFileSync(
      at("sshd_config"),
      [
        `Port ${port}`,
        "ListenAddress 127.0.0.1",
        `HostKey ${at("host")}`,
        `PidFile ${at("sshd.pid")}`,
        `AuthorizedKeysFile ${at("authorized_keys")}`,
        "StrictModes no",
        "UsePAM no",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "PermitRootLogin yes",
        "MaxStartups 200",
        // The shell of each connection would read what this machine's user has in it.
        `SetEnv HOME=${directory}`,
        ...settings
      ].join("\n")
    )
    const known = fs.readFileSync(at("host.pub"), "utf8").split(" ").slice(0, 2).join(" ")
    fs.writeFileSync(at("known_hosts"), `[127.0.0.1]:${port} ${known}\n`)
    fs.writeFileSync(at("nobody_known"), "")
    const client = (name: string, hosts: string, ...more: ReadonlyArray<string>) => {
      fs.writeFileSync(
        at(name),
        [
          `UserKnownHostsFile ${at(hosts)}`,
          "GlobalKnownHostsFile /dev/null",
          "StrictHostKeyChecking yes",
          ...more,
          ""
        ].join("\n")
      )
      return at(name)
    }
    // If it is started by root, sshd requires this directory.
    if (process.getuid?.() === 0) fs.mkdirSync("/run/sshd", { recursive: true, mode: 0o755 })
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(sshd ?? "sshd", ["-D", "-f", at("sshd_config"), "-E", at("log")], { stdio: "ignore" })
      ),
      (child) =>
        Effect.promise(
          () =>
            new Promise<void>((resolve) => {
              if (child.exitCode !== null) return resolve()
              child.once("exit", () => resolve())
              child.kill()
            })
        )
    )
    yield* Effect.repeat(
      Effect.delay(
        Effect.sync(
          () => fs.existsSync(at("log")) && /listening on/.test(fs.readFileSync(at("log"), "utf8"))
        ),
        "20 millis"
      ),
      { until: (up) => up, times: 500 }
    )
    const user = os.userInfo().username
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { encoding: "utf8" }).trim()
    return {
      directory,
      git: (name: string, ...args: ReadonlyArray<string>) => git("-C", at(name), ...args),
      create: (name: string, ...configured: ReadonlyArray<string>) => {
        git("init", "-q", "--bare", "-b", "main", at(name))
        for (const setting of configured) git("-C", at(name), "config", ...setting.split("="))
        return `ssh://${user}@127.0.0.1:${port}${at(name)}`
      },
      ssh: { identityFile: at("client"), configFile: client("knowing", "known_hosts") },
      /** A client configuration whose requests share one connection. */
      sharing: {
        identityFile: at("client"),
        configFile: client(
          "sharing",
          "known_hosts",
          "ControlMaster auto",
          `ControlPath ${at("%C")}`,
          "ControlPersist 10"
        )
      },
      stranger: { identityFile: at("stranger"), configFile: at("knowing") },
      unknowing: { identityFile: at("client"), configFile: client("unknowing", "nobody_known") },
      at,
      /** The address of a repository by its name. */
      addressOf: (name: string) => `ssh://${user}@127.0.0.1:${port}/${name}`,
      /** Runs a script instead of the command that a client requests. */
      force: (script: string) => {
        fs.writeFileSync(at("forced"), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
        fs.writeFileSync(
          at("authorized_keys"),
          `command="${at("forced")}" ${fs.readFileSync(at("client.pub"), "utf8")}`
        )
      },
      log: () => fs.readFileSync(at("log"), "utf8")
    }
  })
