import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { Effect, type Scope, Stream } from "effect"
import { RemoteError } from "../../domain/StoreError.js"
import { environment, safeArguments } from "../../store/git/GitProcess.js"
import type { Problem } from "./Problem.js"
import * as Programs from "./Programs.js"

const failed = (operation: string, message: string, cause?: unknown) =>
  new RemoteError({ operation, message, reason: "Server", cause })

// Arguments that are too long, or hold a NUL, are thrown at once; a missing program is told later.
const spawned = <E>({ args, directory, env, settings = [] }: GitRun<E>, unable: (cause: unknown) => void) => {
  try {
    const configured = settings.flatMap((setting) => ["-c", setting])
    return spawn("git", [...safeArguments(directory), ...configured, ...args], {
      env: { ...environment(), ...env },
      cwd: "/",
      detached: true
    })
  } catch (cause) {
    unable(cause)
    return undefined
  }
}

/** A running Git with nobody's configuration and no hooks; it is ended with its scope, and what it leaves is awaited. */
const started = <E>(
  run: GitRun<E>
): Effect.Effect<ChildProcessWithoutNullStreams, RemoteError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<ChildProcessWithoutNullStreams, RemoteError>((resume) => {
      const unable = (cause: unknown) =>
        resume(Effect.fail(failed("git", "Git could not be started: is it installed?", cause)))
      const process = spawned(run, unable)
      if (process === undefined) return
      process.stdin.on("error", () => undefined)
      process.once("spawn", () => resume(Effect.succeed(process)))
      process.once("error", unable)
    }),
    (process) =>
      Effect.suspend(() => {
        if (process.exitCode !== null || process.signalCode !== null) return Effect.void
        const gone = Effect.promise(() => once(process, "exit"))
        const signal = (name: NodeJS.Signals) =>
          Effect.ignore(Effect.try(() => globalThis.process.kill(-process.pid!, name)))
        return signal("SIGTERM").pipe(
          Effect.zipRight(Effect.timeout(Effect.interruptible(gone), "5 seconds")),
          Effect.orElse(() => Effect.zipRight(signal("SIGKILL"), gone)),
          Effect.asVoid
        )
      })
  )

const child = <E>(run: GitRun<E>) =>
  run.admitted === true ? started(run) : Effect.zipRight(Programs.short, started(run))

const feed = <E>(process: ChildProcessWithoutNullStreams, input: Stream.Stream<Uint8Array, E>) =>
  Stream.runForEach(input, (chunk) =>
    process.stdin.destroyed || process.stdin.write(chunk)
      ? Effect.void
      : Effect.async<void>((resume) => {
          const settle = () => {
            process.stdin.off("drain", settle).off("close", settle)
            resume(Effect.void)
          }
          process.stdin.once("drain", settle).once("close", settle)
        })
  ).pipe(Effect.zipRight(Effect.sync(() => void process.stdin.end())))

const exit = (process: ChildProcessWithoutNullStreams) =>
  Effect.async<number>((resume) => {
    const done = () => resume(Effect.succeed(process.exitCode ?? 128))
    if (process.exitCode !== null || process.signalCode !== null) done()
    else process.once("exit", done)
  })

export interface GitRun<E = never> {
  readonly directory: string
  readonly settings?: ReadonlyArray<string>
  readonly args: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  readonly input?: Stream.Stream<Uint8Array, E>
  /** The caller holds a place for it; otherwise it waits for that of a short program. */
  readonly admitted?: boolean
}

/** Git's output as it comes. Ends with a failure when Git fails; Git is killed when the reader leaves. */
export const stream = <E = never>(run: GitRun<E>): Stream.Stream<Uint8Array, RemoteError | Problem | E> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const process = yield* child(run)
      const errors: Array<Buffer> = []
      process.stderr.on("data", (chunk: Buffer) => {
        if (errors.length < 16) errors.push(chunk)
      })
      yield* Effect.forkScoped(
        Effect.onError(feed(process, run.input ?? Stream.empty), () => Effect.sync(() => void process.kill()))
      )
      const output = Stream.fromAsyncIterable<Uint8Array, RemoteError>(process.stdout, (cause) =>
        failed("git", "Git's output could not be read", cause)
      )
      const ending = Effect.gen(function* () {
        const code = yield* exit(process)
        if (code === 0) return
        return yield* failed(
          "git",
          `git ${run.args[0]} ended with ${code}: ${Buffer.concat(errors).toString()}`
        )
      })
      return Stream.concat(output, Stream.execute(ending))
    })
  )

/** The whole output and the exit code of a short run. */
export const output = <E = never>(
  run: GitRun<E>,
  options: { readonly maxBytes?: number } = {}
): Effect.Effect<
  { readonly code: number; readonly stdout: Buffer; readonly stderr: string },
  RemoteError | Problem | E
> =>
  Effect.scoped(
    Effect.gen(function* () {
      const process = yield* child(run)
      const collect = (readable: NodeJS.ReadableStream, most: number) =>
        Effect.async<Buffer, RemoteError>((resume) => {
          const chunks: Array<Buffer> = []
          let size = 0
          readable.on("data", (chunk: Buffer) => {
            size += chunk.length
            if (size > most) resume(Effect.fail(failed("git", "Git's output is larger than expected")))
            else chunks.push(chunk)
          })
          readable.on("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
          readable.on("error", (cause) =>
            resume(Effect.fail(failed("git", "Git's output was cut off", cause)))
          )
        })
      const [stdout, stderr, code] = yield* Effect.all(
        [
          collect(process.stdout, options.maxBytes ?? 64 * 1024 * 1024),
          collect(process.stderr, 1024 * 1024),
          exit(process),
          feed(process, run.input ?? Stream.empty)
        ],
        { concurrency: 4 }
      )
      return { code, stdout, stderr: stderr.toString() }
    })
  )
