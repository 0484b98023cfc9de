import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import {
  type FieldsOf,
  flag,
  instanceOf,
  object,
  optional,
  optionsReader,
  withDefault
} from "../../../domain/options/Options.js"
import { lazyModule } from "../../../domain/runtime/LazyModule.js"
import { MemoryRepository } from "../../../git/memory/MemoryRepository.js"
import { GitRemote, type GitRemoteService } from "../GitRemote.js"
import type { MemoryFaults } from "./MemoryFaults.js"
import type { MemoryOptions } from "./MemoryRemote.js"

export { MemoryRepository } from "../../../git/memory/MemoryRepository.js"
export type { MemoryFaults, WritePoint } from "./MemoryFaults.js"
export type { MemoryOptions } from "./MemoryRemote.js"

const read = optionsReader(
  Schema.Struct({
    repository: optional(instanceOf("a MemoryRepository", MemoryRepository)),
    faults: optional(object as Schema.Schema<MemoryFaults>),
    moveBranches: withDefault(flag, false)
  } satisfies FieldsOf<MemoryOptions>)
)

// Loaded on first use: a page that uses an API does not need it.
const remotes = lazyModule(() => import("./MemoryRemote.js"))

/**
 * A remote over a repository in memory. It fulfils the port except for durability.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: MemoryOptions = {}
): Effect.Effect<GitRemoteService, ValidationError | RemoteError> =>
  Effect.flatMap(read("Memory.layer", options), (given) =>
    Effect.map(remotes, ({ makeMemoryRemote: remoteIn }) => remoteIn(given))
  )

/**
 * A remote in memory, over its own repository or a shared one.
 *
 * @example
 * ```ts
 * const test = Store.layer().pipe(Layer.provide(Memory.layer()))
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: MemoryOptions = {}): Layer.Layer<GitRemote, ValidationError | RemoteError> =>
  Layer.effect(GitRemote, make(options))

/**
 * The layer with options from configuration.
 *
 * @example
 * ```ts
 * const remote = Memory.layerConfig({ moveBranches: Config.withDefault(Config.boolean("MOVE_BRANCHES"), false) })
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<MemoryOptions>
): Layer.Layer<GitRemote, ConfigError.ConfigError | ValidationError | RemoteError> =>
  Layer.effect(GitRemote, Effect.flatMap(Config.unwrap(options), make))
