import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { AuthError, NotFoundError, RemoteError } from "../../domain/errors/StoreError.js"
import { outputOf } from "../disk/processes/ChildOutput.js"
import { flush, PacketReader, ProtocolError, packetText } from "../protocol/PktLine.js"
import {
  collectResponse,
  LostReply,
  type Service,
  type Transport,
  type TransportFailure,
  toRemoteError
} from "../protocol/Transport.js"

/** The address of a repository that is accessed by `ssh`. */
export interface SshAddress {
  readonly user: string | undefined
  readonly host: string
  readonly port: number | undefined
  /** The path on the server: absolute, or relative to the user's home directory. */
  readonly path: string
}

export interface SshOptions {
  /** The address of the repository, for errors. */
  readonly url: string
  readonly address: SshAddress
  /** A private key, instead of the keys of ssh's agent and configuration. */
  readonly identityFile?: string | undefined
  /** A configuration file that replaces `~/.ssh/config`. */
  readonly configFile?: string | undefined
  /** The longest wait for the beginning of a response, and for each next piece of it. */
  readonly timeout: Duration.Duration
}

const operation = "GitHost.request"
/** The number of characters of standard error that are kept. */
const maxStderr = 65_536
/** The longest wait for the rest of standard error after ssh has ended. */
const stderrTimeout = Duration.seconds(1)
/** The largest size of an advertisement, in bytes. */
const maxAdvertisement = 64 * 1024 * 1024

/** Quotes a word for POSIX shells and for Git's own shell. */
const shellQuote = (word: string): string => `'${word.replace(/['!]/g, (mark) => `'\\${mark}'`)}'`

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
  `${service} ${shellQuote(address.path)}`
]

/** Messages of ssh about files of this machine. They do not explain a failed connection. */
const localFileMessages =
  /^(?:Warning: Identity file|no such identity:|Load key|Can't open user config file).*$/gm

/** Messages of ssh about a connection that broke after it was made. */
const brokenConnection =
  /closed by|reset by|Broken pipe|Connection to .* timed out|Connection timed out during|not responding/

/** Translates the standard error of ssh and of Git's programs, for a session that failed before its request was sent. */
const startFailure = (url: string, code: number | undefined, stderr: string): TransportFailure => {
  const shown = stderr.trim().slice(-2_000)
  const text = stderr.replace(localFileMessages, "")
  const message = `${url} cannot be reached by ssh${shown === "" ? ` (it ended with ${code ?? "a signal"})` : `: ${shown}`}`
  if (/Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/.test(text)) {
    return new AuthError({
      operation,
      path: url,
      message,
      hint: "connect once with `ssh` by hand, and compare the host's key before it is trusted"
    })
  }
  if (/Permission denied|Too many authentication failures|DENIED by/i.test(text)) {
    return new AuthError({
      operation,
      path: url,
      message,
      hint: "check the user and the key: ssh's agent, its configuration or `ssh: { identityFile }` has to offer one"
    })
  }
  if (/not appear to be a git repository|[Rr]epository not found|not found\.|No such file/.test(text)) {
    return new NotFoundError({
      operation,
      path: url,
      message: `there is no Git repository at ${url}, or the user may not see it: ${shown}`,
      hint: "check the path"
    })
  }
  const failure = new RemoteError({ operation, reason: "Unreachable", path: url, message })
  const isBroken = code === undefined || (code === 255 && brokenConnection.test(text))
  return isBroken ? new LostReply(failure, false) : failure
}

/** Runs Git's services on a server by the `ssh` program of this machine, which verifies the host key and never prompts. */
export const make = (options: SshOptions): Transport => {
  const { timeout, url } = options

  const start = (service: Service) =>
    Effect.acquireRelease(
      Effect.try({
        try: () => {
          const child = spawn("ssh", commandLine(service, options), {
            env: { ...process.env, LC_ALL: "C", GIT_PROTOCOL: "version=2", SSH_ASKPASS_REQUIRE: "never" },
            // Without a terminal ssh cannot prompt, and the process group can be killed as a whole.
            detached: process.platform !== "win32"
          })
          const state = { stderr: "", failure: undefined as Error | undefined }
          child.stdin.on("error", () => {})
          child.stderr.setEncoding("utf8").on("data", (text: string) => {
            state.stderr = (state.stderr + text).slice(-maxStderr)
          })
          const exit = new Promise<number | undefined>((resolve) => {
            child.on("error", (cause) => {
              state.failure = cause
              resolve(undefined)
            })
            // A program of ssh's configuration may outlive ssh and keep standard error open.
            child.on("exit", (code) => resolve(code ?? undefined))
          })
          const stderrEnd = new Promise<void>((resolve) => void child.stderr.on("close", resolve))
          return { child, exit, stderrEnd, state }
        },
        catch: (cause) => spawnFailure(cause)
      }),
      ({ child, exit }) =>
        Effect.promise(() => {
          kill(child)
          for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
          return exit
        })
    )

  const spawnFailure = (cause: unknown) =>
    new RemoteError({
      operation,
      reason: "Unsupported",
      path: url,
      message: `ssh could not be started: ${String(cause)}`,
      hint: "install OpenSSH and put `ssh` on the PATH",
      cause
    })

  /** Starts a service, reads its advertisement, sends a request, and returns the pieces of the advertisement and of the response. */
  const session = (service: Service, body: Uint8Array) =>
    Stream.unwrapScoped(
      Effect.map(start(service), ({ child, exit, stderrEnd, state }) => {
        const reader = new PacketReader()
        let advertised = 0
        let isRequestSent = false
        const lostReply = (failure: RemoteError) => new LostReply(failure, isRequestSent)
        const receive = (bytes: Uint8Array) => {
          if (isRequestSent) return { advertisement: undefined, response: bytes }
          advertised += bytes.length
          if (advertised > maxAdvertisement)
            throw new ProtocolError("large", "its refs take more than 64 MiB")
          const packets = reader.push(bytes, ({ _tag }) => _tag === "Flush")
          for (const one of packets) {
            if (one._tag !== "Data") continue
            const text = packetText(one.content)
            if (text.startsWith("ERR ")) throw new ProtocolError("refused", text.slice("ERR ".length))
          }
          if (packets.at(-1)?._tag !== "Flush") return { advertisement: bytes, response: undefined }
          isRequestSent = true
          child.stdin.end(body)
          const rest = reader.remaining()
          return {
            advertisement: bytes.subarray(0, bytes.length - rest.length),
            response: rest.length === 0 ? undefined : rest
          }
        }
        const isSuccess = (code: number | undefined) => code === 0 && isRequestSent
        const stderrComplete = Effect.timeoutOption(
          Effect.promise(() => stderrEnd),
          stderrTimeout
        )
        const checkExit = Effect.flatMap(
          Effect.tap(
            Effect.promise(() => exit),
            (code) => (isSuccess(code) ? Effect.void : stderrComplete)
          ),
          (code): Effect.Effect<void, TransportFailure> => {
            if (state.failure !== undefined) return Effect.fail(spawnFailure(state.failure))
            if (isSuccess(code)) return Effect.void
            if (!isRequestSent) return Effect.fail(startFailure(url, code, state.stderr))
            const text = state.stderr.trim()
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
          lostReply(
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
              try: () => receive(bytes),
              catch: (error): TransportFailure => toRemoteError(operation, url, error)
            })
          ),
          Stream.concat(Stream.drain(Stream.fromEffect(checkExit))),
          Stream.timeoutFail(
            () =>
              lostReply(
                new RemoteError({
                  operation,
                  reason: "Timeout",
                  path: url,
                  message: `no more of a response within ${Duration.format(timeout)}`
                })
              ),
            timeout
          )
        )
      })
    )

  return {
    advertisement: (service) =>
      collectResponse(
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
    // The process has ended already.
  }
}
