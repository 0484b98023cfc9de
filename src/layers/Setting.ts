import { Config, ConfigError, Duration, Either, Option } from "effect"

/** A documented environment variable. */
export interface Setting<A> {
  readonly name: string
  readonly about: string
  readonly shown: string
  readonly config: Config.Config<A>
}

/** A setting with a default. `shown` is the default as the help prints it. */
export const setting = <A>(
  name: string,
  about: string,
  config: (name: string) => Config.Config<A>,
  fallback: A,
  shown: string
): Setting<A> => ({
  name,
  about,
  shown,
  config: config(name).pipe(Config.withDescription(about), Config.withDefault(fallback))
})

/** An optional setting. */
export const optional = <A>(
  name: string,
  about: string,
  config: (name: string) => Config.Config<A>,
  shown = "not set"
): Setting<A | undefined> => ({
  name,
  about,
  shown,
  config: config(name).pipe(Config.withDescription(about), Config.option, Config.map(Option.getOrUndefined))
})

/** A text. As for every setting, an empty value counts as absent. */
export const text = (name: string): Config.Config<string> =>
  Config.string().pipe(
    Config.mapOrFail((given) =>
      given.trim() === "" ? Either.left(ConfigError.MissingData([], "it is empty")) : Either.right(given)
    ),
    Config.nested(name)
  )

/** A secret text. */
export const secret = (name: string) => Config.redacted(Config.map(text(name), (given) => given.trim()))

/** A TCP port. */
export const port = (name: string): Config.Config<number> =>
  text(name).pipe(
    Config.mapAttempt((given) => {
      if (!/^\d{1,5}$/.test(given.trim()) || Number(given) > 65535)
        throw new Error("must be a whole number from 0 to 65535")
      return Number(given)
    })
  )

/** A whole number of bytes, also as `512k` or `2M`. */
export const bytes = (name: string): Config.Config<number> =>
  text(name).pipe(
    Config.mapAttempt((given) => {
      const found = /^(\d+)\s*([kM]?)i?B?$/.exec(given.trim())
      if (found === null) throw new Error("must be a number of bytes, like 1048576, 512k or 2M")
      return Number(found[1]) * { "": 1, k: 1024, M: 1024 * 1024 }[found[2] as "" | "k" | "M"]
    })
  )

/** An address to listen on. The brackets of an IPv6 address are removed. */
export const host = (name: string): Config.Config<string> =>
  Config.map(text(name), (given) => given.trim().replace(/^\[(.*)\]$/, "$1"))

/** An absolute http or https URL without credentials, query and fragment. A trailing slash is removed. */
export const address = (name: string): Config.Config<string> =>
  text(name).pipe(
    Config.mapAttempt((given) => {
      const url = URL.canParse(given) ? new URL(given) : undefined
      if (url?.protocol !== "http:" && url?.protocol !== "https:")
        throw new Error("must be an address that begins with http:// or https://")
      if (url.username !== "" || url.password !== "") throw new Error("must not hold credentials")
      if (/[?#]/.test(url.href)) throw new Error("must not have a query or a fragment")
      return url.href.replace(/\/+$/, "")
    })
  )

const durationOf = (given: string): Duration.Duration => {
  const trimmed = given.trim()
  if (trimmed.startsWith("-")) throw new Error("must not be negative")
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Duration.seconds(Number(trimmed))
  return Option.getOrThrowWith(
    trimmed.toLowerCase() === "infinity" ? Option.some(Duration.infinity) : Duration.decodeUnknown(trimmed),
    () => new Error("must be a duration, like 500 millis, 30 seconds or infinity")
  )
}

/** A duration such as `500 millis`, `30 seconds` or `infinity`; a bare number is seconds. */
export const duration = (name: string): Config.Config<Duration.Duration> =>
  Config.mapAttempt(text(name), durationOf)

/** A timeout. Zero is rejected: some users mean no limit by it, but it would reject everything. */
export const timeout = (name: string): Config.Config<Duration.Duration> =>
  Config.mapAttempt(text(name), (given) => {
    const limit = durationOf(given)
    if (Duration.toMillis(limit) === 0)
      throw new Error("must be greater than zero; use infinity for no limit")
    return limit
  })
