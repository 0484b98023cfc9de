import { once } from "node:events"
import { Effect, Fiber, type Scope, Stream } from "effect"
import { RemoteError } from "../../../domain/errors/StoreError.js"
import { toRemoteError } from "../../../git/disk/files/EngineError.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import { outputOf } from "../../../git/disk/processes/ChildOutput.js"
import {
  type GitChild,
  hookChannelOf,
  spawnFailure,
  spawnGit
} from "../../../git/disk/processes/GitProcess.js"
import type { HostError } from "../reply/HostError.js"
import * as GitProcessSlots from "./GitProcessSlots.js"

const failed = (operation: string, message: string, cause?: unknown) =>
  new RemoteError({ operation, message, reason: "Server", cause })

/** A running Git process. When the scope closes, the process is terminated and its end is awaited. */
const spawn = <E>({
  args,
  directory,
  env,
  settings,
  withRefLock
}: GitRun<E>): Effect.Effect<GitChild, RemoteError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<GitChild, RemoteError>((resume) => {
      let process: GitChild
      try {
        process = spawnGit(directory, args, {
          env,
          settings,
          detached: true,
          waitsInHook: withRefLock !== undefined
        })
      } catch (cause) {
        return resume(Effect.fail(toRemoteError("git", directory, cause)))
      }
      process.once("spawn", () => resume(Effect.succeed(process)))
      process.once("error", (cause) => resume(Effect.fail(spawnFailure(directory, "git", cause))))
    }),
    (process) =>
      Effect.suspend(() => {
        // The hook of a push exits when its channel closes, even if its parent process was killed.
        if (withRefLock !== undefined) hookChannelOf(process).destroy()
        if (process.exitCode !== null) return Effect.void
        const signal = (name: NodeJS.Signals) =>
          Effect.ignore(Effect.try(() => globalThis.process.kill(-process.pid!, name)))
        // Its child processes may still run.
        if (process.signalCode !== null) return signal("SIGTERM")
        const gone = Effect.promise(() => once(process, "exit"))
        return signal("SIGTERM").pipe(
          Effect.zipRight(Effect.timeout(Effect.interruptible(gone), "5 seconds")),
          Effect.orElse(() => Effect.zipRight(signal("SIGKILL"), gone)),
          Effect.asVoid
        )
      })
  )

const child = <E>(run: GitRun<E>) =>
  run.hasSlot === true ? spawn(run) : Effect.zipRight(GitProcessSlots.shortSlot, spawn(run))

const feed = <E>(process: GitChild, input: Stream.Stream<Uint8Array, E>) =>
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

/** The exit code. A killed process has none and fails. */
const exit = (process: GitChild) =>
  Effect.async<number, RemoteError>((resume) => {
    const done = () =>
      resume(
        process.exitCode === null
          ? Effect.fail(failed("git", `git was ended by ${process.signalCode}`))
          : Effect.succeed(process.exitCode)
      )
    if (process.exitCode !== null || process.signalCode !== null) done()
    else process.once("exit", done)
  })

/** Completes when a received push is unpacked and checked. */
const quarantineChecked = (process: GitChild) =>
  Effect.async<boolean>((resume) => {
    const ready = () => resume(Effect.succeed(true))
    hookChannelOf(process)
      .on("error", () => undefined)
      .once("data", ready)
    return Effect.sync(() => hookChannelOf(process).off("data", ready))
  })

export interface GitRun<E = never> {
  readonly directory: string
  readonly settings?: ReadonlyArray<string>
  readonly args: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  readonly input?: Stream.Stream<Uint8Array, E>
  /**
   * Returns the end of the output if Git fails, from its standard error and the first piece of output. Undefined
   * truncates the output.
   */
  readonly errorOutput?: (stderr: string, first: Uint8Array | undefined) => Uint8Array | undefined
  /** Wraps the ref updates of `receive-pack`, after the push is unpacked and checked. */
  readonly withRefLock?: <A, F>(applied: Effect.Effect<A, F>) => Effect.Effect<A, F | RemoteError | HostError>
  /** Whether the caller holds a slot. Otherwise the process waits for a slot for short processes. */
  readonly hasSlot?: boolean
}

/** Streams the output of a Git process. The stream fails if Git fails. Git is killed if the stream is interrupted. */
export const stream = <E = never>(run: GitRun<E>): Stream.Stream<Uint8Array, RemoteError | HostError | E> =>
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
      let first: Uint8Array | undefined
      const output = outputOf(process.stdout, (cause) =>
        failed("git", "Git's output could not be read", cause)
      ).pipe(
        Stream.tap((piece) =>
          Effect.sync(() => {
            first ??= piece
          })
        )
      )
      const ending = Effect.gen(function* () {
        const code = yield* exit(process)
        if (code === 0) return Stream.empty
        const stderr = Buffer.concat(errors).toString()
        const told = run.errorOutput?.(stderr, first)
        if (told !== undefined) return Stream.make(told)
        return yield* failed("git", `git ${run.args[0]} ended with ${code}: ${stderr}`)
      })
      return Stream.concat(output, Stream.unwrap(ending))
    })
  )

/** The output of a short Git process as text. Fails if Git fails. */
export const text = (
  { directory }: Pick<GitRepository, "directory">,
  args: ReadonlyArray<string>,
  options: { readonly maxBytes?: number } & Pick<GitRun, "env" | "hasSlot"> = {}
) =>
  Effect.flatMap(output({ ...options, directory, args }, options), ({ code, stderr, stdout }) =>
    code === 0
      ? Effect.succeed(stdout.toString())
      : Effect.fail(failed("git", `git ${args[0]} ended with ${code}: ${stderr}`))
  )

/** The complete output and exit code of a short Git process. */
export const output = <E = never>(
  run: GitRun<E>,
  options: { readonly maxBytes?: number } = {}
): Effect.Effect<
  { readonly code: number; readonly stdout: Buffer; readonly stderr: string },
  RemoteError | HostError | E
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
      const ended = yield* Effect.forkScoped(
        Effect.all(
          [
            collect(process.stdout, options.maxBytes ?? 64 * 1024 * 1024),
            collect(process.stderr, 1024 * 1024),
            exit(process),
            feed(process, run.input ?? Stream.empty)
          ],
          { concurrency: 4 }
        )
      )
      const all = Fiber.join(ended)
      const apply = Effect.suspend(() => {
        hookChannelOf(process).write("apply\n")
        return all
      })
      const [stdout, stderr, code] =
        run.withRefLock !== undefined &&
        (yield* Effect.raceFirst(quarantineChecked(process), Effect.as(all, false)))
          ? // If the process fails, the wait for the ref lock ends.
            yield* Effect.raceFirst(run.withRefLock(apply), Effect.zipRight(all, Effect.never))
          : yield* all
      return { code, stdout, stderr: stderr.toString() }
    })
  )
