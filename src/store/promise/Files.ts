import { FileSystem, makeNoop } from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { RemoteError } from "../../domain/StoreError.js"

/** Named at run time, so that no bundler carries Node's file system into a browser. */
const nodeFileSystem = "@effect/platform-node/NodeFileSystem"

/** Provides the file system of this machine if the destination is a file's path. */
export const withFilesFor = <A, E>(
  destination: string | WritableStream<Uint8Array>,
  effect: Effect.Effect<A, E, FileSystem>
): Effect.Effect<A, E | RemoteError> =>
  typeof destination === "string"
    ? Effect.flatMap(
        Effect.tryPromise({
          try: (): Promise<{ readonly layer: Layer.Layer<FileSystem> }> =>
            import(/* @vite-ignore */ nodeFileSystem),
          catch: (cause) =>
            new RemoteError({
              operation: "export",
              reason: "Unsupported",
              message: "there is no file system here",
              hint: "pass a WritableStream, or run on Node",
              cause
            })
        }),
        (files) => Effect.provide(effect, files.layer)
      )
    : Effect.provideService(effect, FileSystem, makeNoop({}))
