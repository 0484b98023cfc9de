import { Config, Duration, Either, ParseResult, Schema } from "effect"
import * as RateLimits from "../http/host/access/RateLimits.js"
import { addressListProblem } from "./ConsoleApis.js"
import {
  address,
  bytes,
  duration,
  host,
  optional,
  port,
  type Setting,
  secret,
  setting,
  text,
  timeout
} from "./Setting.js"

const seconds = (name: string, about: string, fallback: number) =>
  setting(name, about, timeout, Duration.seconds(fallback), `${fallback} seconds`)

const decodeLimits = Schema.decodeEither(Schema.parseJson(RateLimits.RateLimitSettings), {
  onExcessProperty: "error"
})

/** `github`, or the limits as JSON. */
const limits = (name: string): Config.Config<RateLimits.RateLimitOptions> =>
  text(name).pipe(
    Config.mapAttempt((given) => {
      if (given.trim() === "github") return RateLimits.documented
      const decoded = decodeLimits(given)
      if (Either.isRight(decoded)) return decoded.right
      const [first] = ParseResult.ArrayFormatter.formatErrorSync(decoded.left)
      const where = first === undefined || first.path.length === 0 ? "" : `${first.path.join(".")}: `
      throw new Error(
        `must be github, or JSON such as {"core":100}; ${where}${first?.message.replace(/\s+/g, " ")}`
      )
    })
  )

/** The name of a JSON file. */
const jsonFile = (name: string) =>
  text(name).pipe(
    Config.mapAttempt((given) => {
      if (given.trimStart().startsWith("{")) throw new Error("must name a JSON file, not be the JSON itself")
      return given
    })
  )

/** Addresses of the APIs that console sessions can use, or of their raw files. */
const addresses = (kind: "apiUrl" | "rawUrl") => (name: string) =>
  text(name).pipe(
    Config.mapAttempt((given) => {
      const problem = addressListProblem(kind, given)
      if (problem !== undefined) throw new Error(problem)
      return given
    })
  )

const table = {
  port: setting("PORT", "TCP port to listen on; 0 takes any free one", port, 3000, "3000"),
  bind: setting(
    "CHAINSTORE_BIND",
    "Address to listen on; an address that other machines can reach needs CHAINSTORE_PUBLIC_URL",
    host,
    "127.0.0.1",
    "127.0.0.1"
  ),
  publicUrl: optional(
    "CHAINSTORE_PUBLIC_URL",
    "Address under which others reach the service: its Host is accepted, and links use it",
    address
  ),
  data: setting(
    "CHAINSTORE_DATA",
    "Directory of the embedded repositories (repos/OWNER/REPO.git) and the host's token file",
    text,
    ".chainstore",
    ".chainstore"
  ),
  hostToken: optional(
    "CHAINSTORE_HOST_TOKEN",
    "Write token of the embedded host; if absent, generated and stored in the data directory",
    secret
  ),
  hostSocket: optional("HOST_SOCKET", "Unix socket on which `npm run host` listens as well", text),
  hostFaults: optional(
    "CHAINSTORE_HOST_FAULTS",
    "JSON file of faults that `npm run host` follows as it changes, for testing clients",
    jsonFile
  ),
  hostLimits: optional(
    "CHAINSTORE_HOST_LIMITS",
    'Limits that `npm run host` imitates, for testing clients: github, or JSON such as {"core":100}',
    limits
  ),
  apiUrl: optional(
    "CHAINSTORE_API_URL",
    "GitHub's or GitHub Enterprise's API for console sign-in: one address, or NAME=ADDRESS, ... for several",
    addresses("apiUrl"),
    "https://api.github.com"
  ),
  rawUrl: optional(
    "CHAINSTORE_RAW_URL",
    "Where raw files of that API are read without a token; NAME=ADDRESS, ... for several",
    addresses("rawUrl"),
    "https://raw.githubusercontent.com"
  ),
  bodyLimit: setting(
    "CHAINSTORE_BODY_LIMIT",
    "Largest request body (bytes, or 512k, 2M); larger bodies get 413",
    bytes,
    1024 * 1024,
    "1M"
  ),
  bodyTimeout: seconds("CHAINSTORE_BODY_TIMEOUT", "How long a request body may take to arrive; then 408", 30),
  requestTimeout: seconds(
    "CHAINSTORE_REQUEST_TIMEOUT",
    "How long a request may take until its response; then 503",
    30
  ),
  headersTimeout: seconds(
    "CHAINSTORE_HEADERS_TIMEOUT",
    "How long a request's head may take to arrive; then 408",
    10
  ),
  idleTimeout: seconds(
    "CHAINSTORE_IDLE_TIMEOUT",
    "How long a connection may be silent before it is closed",
    300
  ),
  drainTimeout: setting(
    "CHAINSTORE_DRAIN_TIMEOUT",
    "How long running requests may take after SIGTERM or SIGINT",
    duration,
    Duration.seconds(10),
    "10 seconds"
  ),
  drainGrace: setting(
    "CHAINSTORE_DRAIN_GRACE",
    "How long idle connections may still send a request after SIGTERM or SIGINT",
    duration,
    Duration.millis(250),
    "250 millis"
  ),
  otlpUrl: optional(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OpenTelemetry collector (OTLP over HTTP, JSON) for traces, metrics and logs",
    address
  ),
  serviceName: setting(
    "OTEL_SERVICE_NAME",
    "Name of this service in OpenTelemetry",
    text,
    "chainstore",
    "chainstore"
  )
} satisfies Readonly<Record<string, Setting<unknown>>>

/**
 * The settings of the service.
 *
 * @since 0.1.0
 * @category models
 */
export type Settings = {
  readonly [Name in keyof typeof table]: Config.Config.Success<(typeof table)[Name]["config"]>
}

/**
 * The settings of the service as one `Config`. No other code of the service reads the environment.
 *
 * @since 0.1.0
 * @category running
 */
export const settings: Config.Config<Settings> = Config.all(
  Object.fromEntries(Object.entries(table).map(([name, one]) => [name, one.config]))
) as unknown as Config.Config<Settings>

/**
 * The environment variables, with a sentence about each.
 *
 * @since 0.1.0
 * @category running
 */
export const variables: ReadonlyArray<{ readonly name: string; readonly about: string }> = Object.values(
  table
).map(({ about, name, shown }) => ({ name, about: `${about}. Default: ${shown}` }))

/**
 * The settings as text for `--help`.
 *
 * @since 0.1.0
 * @category running
 */
export const help = (program: string, about: string): string => {
  const rows = variables.map((variable) => `  ${variable.name}\n      ${variable.about}`)
  return `${program}: ${about}\n\nSettings, all from the environment:\n\n${rows.join("\n")}\n`
}
