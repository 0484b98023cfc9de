import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import {
  atLeast,
  duration,
  type FieldsOf,
  flag,
  oneOf,
  optional,
  optionsReader,
  person,
  valueKind,
  wholeNumber,
  withDefault
} from "../../domain/options/Options.js"
import type { DurationInput } from "../../domain/time/DurationInput.js"
import type { EngineOptions } from "./Engine.js"

/**
 * When an engine repacks automatically.
 *
 * @since 0.1.0
 * @category models
 */
export interface MaintenanceSchedule {
  /** The number of packs above which they are repacked; 0: never. */
  readonly packs?: number | undefined
  /** The number of loose objects above which they are packed. */
  readonly looseObjects?: number | undefined
  /** The time without writes after which due maintenance begins. */
  readonly quiet?: DurationInput | undefined
}

/**
 * Options of the bare repositories below one directory and of their engines.
 *
 * @since 0.1.0
 * @category options
 */
export interface GitRepositoriesOptions extends Pick<EngineOptions, "durability" | "signature" | "caches"> {
  /** The directory of the bare repositories `<owner>/<name>.git`. Created if it is missing. */
  readonly directory: string
  /** The longest wait for a lock of another process. Default 10 seconds. */
  readonly timeout?: DurationInput | undefined
  /** When the engine repacks automatically; false: never. */
  readonly maintenance?: false | MaintenanceSchedule | undefined
  /** The time that an unused repository stays open. Default 1 minute. */
  readonly idle?: DurationInput | undefined
}

const schedule = Schema.Struct({
  packs: optional(wholeNumber(0)),
  looseObjects: optional(wholeNumber(0)),
  quiet: optional(duration())
} satisfies FieldsOf<MaintenanceSchedule>)

/** The schemas of the options. */
export const repositoriesFields = {
  directory: valueKind<string>(
    "the path of a directory",
    (value) => typeof value === "string" && value !== ""
  ),
  durability: optional(oneOf("fsync", "none")),
  timeout: optional(duration()),
  signature: optional(person),
  caches: optional(
    Schema.Struct({
      trees: optional(atLeast(0)),
      objects: optional(atLeast(0)),
      packIndex: optional(atLeast(0))
    } satisfies FieldsOf<NonNullable<EngineOptions["caches"]>>)
  ),
  maintenance: optional(
    Schema.Union(schedule, flag.pipe(Schema.filter((value) => !value || "is false or a schedule")))
  ),
  idle: withDefault(duration(), Duration.minutes(1))
} satisfies FieldsOf<GitRepositoriesOptions>

const read = optionsReader(Schema.Struct(repositoriesFields))

/** Validates the options, and converts durations to the milliseconds that the engine expects. */
export const resolveOptions = (
  given: GitRepositoriesOptions
): Either.Either<EngineOptions & { readonly idle: Duration.Duration }, ValidationError> =>
  Either.map(read("GitRepositories.make", given), ({ maintenance, timeout, ...found }) => ({
    ...found,
    timeout: timeout === undefined ? undefined : Duration.toMillis(timeout),
    maintenance:
      typeof maintenance === "object" ? inMillis(maintenance) : maintenance === false ? false : undefined
  }))

/** Leaves out missing fields: a field with the value undefined would replace a default. */
const inMillis = ({ looseObjects, packs, quiet }: typeof schedule.Type) => ({
  ...(packs === undefined ? {} : { packs }),
  ...(looseObjects === undefined ? {} : { looseObjects }),
  ...(quiet === undefined ? {} : { quiet: Duration.toMillis(quiet) })
})
