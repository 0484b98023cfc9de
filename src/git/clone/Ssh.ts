import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { AuthError, NotFoundError, RemoteError } from "../../domain/errors/StoreError.js"
import { outputOf } from "../disk/processes/ChildOutput.js"
import { flush, PacketReader, ProtocolError, textOf } from "../protocol/PktLine.js"
import {
  LostReply,
  type Service,
  type Transport,
  type TransportFailure,
  translated,
  whole
} from "../protocol/Transport.js"

/** A repository on a machine that `ssh` reaches. */
export interface SshAddress {
  readonly user: string | undefined
  readonly host: string
  readonly port: number | undefined
  /** As the other machine's shell is to be told: absolute, or below the user's home. */
  readonly path: string
}

export interface SshOptions {
  /** What errors call the repository. */
  readonly url: string
  readonly address: SshAddress
  /** A private key, instead of what ssh's agent and configuration offer. */
  readonly identityFile?: string | undefined
  /** Instead of the user's `~/.ssh/config`. */
  readonly configFile?: string | undefined
  /** Of a wait for the beginning of a response, and for each next piece of it. */
  readonly timeout: Duration.Duration
}

const operation = "GitHost.request"
/** Bytes of standard error that are kept. */
const mostSaid = 65_536
/** Of a wait for the rest of standard error, once ssh has ended. */
const lastWords = Duration.seconds(1)
/** Bytes of an advertisement. */
const mostAdvertised = 64 * 1024 * 1024

/** A word as POSIX shells and Git's own take it. */
const quoted = (word: string): string => `'${word.replace(/['!]/g, (mark) => `'\\${mark}'`)}'`

const commandLine = (
  service: Service,
  { address, configFile, identityFile, timeout }: SshOptions
): ReadonlyArray<string> => [
  "-T",
  ...(configFile === undefined ? [] : ["-F", configFile]),
  ...(identityFile === undefined ? [] : ["-i", identityFile, "-o", "IdentitiesOnly=yes"]),
  ...(address.port === undefined ? [] : ["-p", String(address.port)]),
  ...["-o", "BatchMode=yes"],
  ...["-o", `ConnectTimeout=${Math.max(1, Math.ceil(Duration.toSeconds(timeout)))}`],
  ...["-o", "SendEnv=GIT_PROTOCOL"],
  "--",
  address.user === undefined ? address.host : `${address.user}@${address.host}`,
  `${service} ${quoted(address.path)}`
]

/** What ssh says of files of this machine: it goes on without them, or no server was asked. */
const ofOwnFiles = /^(?:Warning: Identity file|no such identity:|Load key|Can't open user config file).*$/gm

/** What ssh says of a connection that was made, and that broke. */
const broken =
  /closed by|reset by|Broken pipe|Connection to .* timed out|Connection timed out during|not responding/

/** What ssh and Git's programs say on standard error when nothing can be asked, and what it means. */
const failureOf = (url: string, code: number | undefined, all: string): TransportFailure => {
  const text = all.trim().slice(-2_000)
  const said = all.replace(ofOwnFiles, "")
  const message = `${url} cannot be reached by ssh${text === "" ? ` (it ended with ${code ?? "a signal"})` : `: ${text}`}`
  if (/Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/.test(said)) {
    return new AuthError({
      operation,
      path: url,
      message,
      hint: "connect once with `ssh` by hand, and compare the host's key before it is trusted"
    })
  }
  if (/Permission denied|Too many authentication failures|DENIED by/i.test(said)) {
    return new AuthError({
      operation,
      path: url,
      message,
      hint: "check the user and the key: ssh's agent, its configuration or `ssh: { identityFile }` has to offer one"
    })
  }
  if (/not appear to be a git repository|[Rr]epository not found|not found\.|No such file/.test(said)) {
    return new NotFoundError({
      operation,
      path: url,
      message: `there is no Git repository at ${url}, or the user may not see it: ${text}`,
      hint: "check the path"
    })
  }
  const failure = new RemoteError({ operation, reason: "Unreachable", path: url, message })
  const isBroken = code === undefined || (code === 255 && broken.test(said))
  return isBroken ? new LostReply(failure, false) : failure
}

/** Git's services on another machine, by the `ssh` of this one: it alone judges host keys, and never asks anybody. */
export const make = (options: SshOptions): Transport => {
  const { timeout, url } = options

  const start = (service: Service) =>
    Effect.acquireRelease(
      Effect.try({
        try: () => {
          const child = spawn("ssh", commandLine(service, options), {
            env: { ...process.env, LC_ALL: "C", GIT_PROTOCOL: "version=2", SSH_ASKPASS_REQUIRE: "never" },
            // No terminal to ask for a password at, and a group that ends as a whole.
            detached: process.platform !== "win32"
          })
          const state = { said: "", failure: undefined as Error | undefined }
          child.stdin.on("error", () => {})
          child.stderr.setEncoding("utf8").on("data", (text: string) => {
            state.said = (state.said + text).slice(-mostSaid)
          })
          const exit = new Promise<number | undefined>((resolve) => {
            child.on("error", (cause) => {
              state.failure = cause
              resolve(undefined)
            })
            // What ssh's configuration starts may outlive it, and keep standard error open.
            child.on("exit", (code) => resolve(code ?? undefined))
          })
          const silence = new Promise<void>((resolve) => void child.stderr.on("close", resolve))
          return { child, exit, silence, state }
        },
        catch: (cause) => notStarted(cause)
      }),
      ({ child, exit }) =>
        Effect.promise(() => {
          kill(child)
          for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
          return exit
        })
    )

  const notStarted = (cause: unknown) =>
    new RemoteError({
      operation,
      reason: "Unsupported",
      path: url,
      message: `ssh could not be started: ${String(cause)}`,
      hint: "install OpenSSH and put `ssh` on the PATH",
      cause
    })

  /** Starts a service, reads what it says of itself, sends a request, and gives the pieces of both. */
  const session = (service: Service, body: Uint8Array) =>
    Stream.unwrapScoped(
      Effect.map(start(service), ({ child, exit, silence, state }) => {
        const reader = new PacketReader()
        let advertised = 0
        let isAsked = false
        const unheard = (failure: RemoteError) => new LostReply(failure, isAsked)
        const take = (bytes: Uint8Array) => {
          if (isAsked) return { advertisement: undefined, response: bytes }
          advertised += bytes.length
          if (advertised > mostAdvertised) throw new ProtocolError("large", "its refs take more than 64 MiB")
          const packets = reader.push(bytes, ({ _tag }) => _tag === "Flush")
          for (const one of packets) {
            if (one._tag !== "Data") continue
            const text = textOf(one.content)
            if (text.startsWith("ERR ")) throw new ProtocolError("refused", text.slice("ERR ".length))
          }
          if (packets.at(-1)?._tag !== "Flush") return { advertisement: bytes, response: undefined }
          isAsked = true
          child.stdin.end(body)
          const rest = reader.remaining()
          return {
            advertisement: bytes.subarray(0, bytes.length - rest.length),
            response: rest.length === 0 ? undefined : rest
          }
        }
        const isDone = (code: number | undefined) => code === 0 && isAsked
        const said = Effect.timeoutOption(
          Effect.promise(() => silence),
          lastWords
        )
        const ended = Effect.flatMap(
          Effect.tap(
            Effect.promise(() => exit),
            (code) => (isDone(code) ? Effect.void : said)
          ),
          (code): Effect.Effect<void, TransportFailure> => {
            if (state.failure !== undefined) return Effect.fail(notStarted(state.failure))
            if (isDone(code)) return Effect.void
            if (!isAsked) return Effect.fail(failureOf(url, code, state.said))
            const text = state.said.trim()
            const failure = new RemoteError({
              operation,
              reason: code === 255 || code === undefined ? "Unreachable" : "Server",
              path: url,
              message: `${service} ended with ${code ?? "a signal"}${text === "" ? "" : `: ${text}`}`
            })
            return Effect.fail(
              service === "git-receive-pack" || failure.reason === "Unreachable"
                ? new LostReply(failure)
                : failure
            )
          }
        )
        return outputOf<TransportFailure>(child.stdout, (cause) =>
          unheard(
            new RemoteError({
              operation,
              reason: "Unreachable",
              path: url,
              message: `the connection to ${url} ended`,
              cause
            })
          )
        ).pipe(
          Stream.mapEffect((bytes) =>
            Effect.try({
              try: () => take(bytes),
              catch: (error): TransportFailure => translated(operation, url, error)
            })
          ),
          Stream.concat(Stream.drain(Stream.fromEffect(ended))),
          Stream.timeoutFail(
            () =>
              unheard(
                new RemoteError({
                  operation,
                  reason: "Timeout",
                  path: url,
                  message: `no more of an answer within ${Duration.format(timeout)}`
                })
              ),
            timeout
          )
        )
      })
    )

  return {
    advertisement: (service) =>
      whole(
        url,
        "git-upload-pack",
        session(service, flush).pipe(
          Stream.takeWhile(({ advertisement }) => advertisement !== undefined),
          Stream.map(({ advertisement }) => advertisement!)
        )
      ),
    post: (service, body) =>
      session(service, body).pipe(
        Stream.filter(({ response }) => response !== undefined),
        Stream.map(({ response }) => response!)
      )
  }
}

const kill = (child: ChildProcessWithoutNullStreams): void => {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGKILL")
  } catch {
    // It is gone.
  }
}
