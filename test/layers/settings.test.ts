import { assert, it } from "@effect/vitest"
import { Settings } from "chainstore/layers"
import { ConfigProvider, Duration, Effect, Either, Redacted } from "effect"

const given = (environment: Readonly<Record<string, string>>) =>
  Effect.either(
    Effect.withConfigProvider(Settings.settings, ConfigProvider.fromMap(new Map(Object.entries(environment))))
  )

it.effect("has a default for everything", () =>
  Effect.gen(function* () {
    const settings = yield* Effect.flatten(given({}))
    assert.strictEqual(settings.port, 3000)
    assert.strictEqual(settings.bind, "127.0.0.1")
    assert.strictEqual(settings.data, ".chainstore")
    assert.strictEqual(settings.bodyLimit, 1024 * 1024)
    assert.isUndefined(settings.publicUrl)
    assert.isUndefined(settings.hostToken)
    assert.isUndefined(settings.otlpUrl)
  })
)

it.effect("reads the environment", () =>
  Effect.gen(function* () {
    const settings = yield* Effect.flatten(
      given({
        PORT: "0",
        CHAINSTORE_PUBLIC_URL: "https://chains.example/",
        CHAINSTORE_HOST_TOKEN: "s3cret",
        CHAINSTORE_BODY_LIMIT: "512k",
        CHAINSTORE_REQUEST_TIMEOUT: "1500 millis",
        CHAINSTORE_BODY_TIMEOUT: "2",
        CHAINSTORE_IDLE_TIMEOUT: "infinity"
      })
    )
    assert.strictEqual(settings.port, 0)
    assert.strictEqual(settings.publicUrl, "https://chains.example")
    assert.strictEqual(settings.bodyLimit, 512 * 1024)
    assert.strictEqual(Duration.toMillis(settings.requestTimeout), 1500)
    assert.strictEqual(Duration.toMillis(settings.bodyTimeout), 2000)
    assert.isFalse(Duration.isFinite(settings.idleTimeout))
    assert.strictEqual(Redacted.value(settings.hostToken!), "s3cret")
    assert.notInclude(JSON.stringify(settings), "s3cret")
  })
)

it.effect("refuses what it cannot read, and names the variable", () =>
  Effect.gen(function* () {
    for (const [name, value] of [
      ["PORT", "http"],
      ["PORT", "99999"],
      ["PORT", "-1"],
      ["PORT", "80.5"],
      ["CHAINSTORE_API_URL", "ghe.example.com/api/v3"],
      ["CHAINSTORE_API_URL", "https://api.github.com,ghe.example.com"],
      ["CHAINSTORE_API_URL", "corp=ghe.example.com"],
      ["CHAINSTORE_API_URL", "https://user:word@ghe.example.com"],
      ["CHAINSTORE_API_URL", "ftp://example.com"],
      ["CHAINSTORE_API_URL", "http://example.com"],
      ["CHAINSTORE_API_URL", ","],
      ["CHAINSTORE_RAW_URL", "corp=ftp://example.com"],
      ["CHAINSTORE_PUBLIC_URL", "chains.example"],
      ["CHAINSTORE_PUBLIC_URL", "ftp://chains.example"],
      ["CHAINSTORE_BODY_LIMIT", "much"],
      ["CHAINSTORE_PUBLIC_URL", "https://user:word@chains.example"],
      ["CHAINSTORE_PUBLIC_URL", "https://chains.example/?word"],
      ["CHAINSTORE_PUBLIC_URL", "https://chains.example/#word"],
      ["OTEL_EXPORTER_OTLP_ENDPOINT", "https://user:word@collector.example"],
      ["CHAINSTORE_HOST_LIMITS", '{"core":'],
      ["CHAINSTORE_HOST_LIMITS", "[]"],
      ["CHAINSTORE_HOST_LIMITS", "much"],
      ["CHAINSTORE_HOST_LIMITS", '{"cores":100}'],
      ["CHAINSTORE_HOST_LIMITS", '{"core":-1}'],
      ["CHAINSTORE_REQUEST_TIMEOUT", "soon"],
      ["CHAINSTORE_REQUEST_TIMEOUT", "-3 seconds"],
      ["CHAINSTORE_DRAIN_TIMEOUT", "-3 seconds"],
      ["CHAINSTORE_REQUEST_TIMEOUT", "0"],
      ["CHAINSTORE_BODY_TIMEOUT", "0 seconds"],
      ["CHAINSTORE_HEADERS_TIMEOUT", "0"],
      ["CHAINSTORE_IDLE_TIMEOUT", "0"]
    ] as const) {
      const refused = yield* given({ [name]: value })
      assert.isTrue(Either.isLeft(refused), `${name}=${value}`)
      if (Either.isLeft(refused)) {
        assert.include(String(refused.left), name)
        assert.notInclude(String(refused.left), "\n")
        assert.notInclude(String(refused.left), "word")
      }
    }
    for (const value of [
      "https://ghe.example.com/api/v3",
      "http://127.0.0.1:8080/api/v3",
      "http://localhost:1",
      "GitHub=https://api.github.com, corp=https://ghe.example.com/api/v3"
    ]) {
      const settings = yield* Effect.flatten(given({ CHAINSTORE_API_URL: value }))
      assert.strictEqual(settings.apiUrl, value)
    }
  })
)

it.effect("takes an address to listen on as people write it", () =>
  Effect.gen(function* () {
    for (const [written, bind] of [
      [" 127.0.0.1 ", "127.0.0.1"],
      ["[::1]", "::1"],
      ["localhost", "localhost"]
    ] as const) {
      assert.strictEqual((yield* Effect.flatten(given({ CHAINSTORE_BIND: written }))).bind, bind)
    }
    const { drainGrace, drainTimeout } = yield* Effect.flatten(
      given({ CHAINSTORE_DRAIN_GRACE: "0", CHAINSTORE_DRAIN_TIMEOUT: "0 millis" })
    )
    assert.strictEqual(Duration.toMillis(Duration.sum(drainGrace, drainTimeout)), 0)
  })
)

it.effect("takes what is empty as absent", () =>
  Effect.gen(function* () {
    const names = Array.from(Settings.help("", "").matchAll(/^ {2}([A-Z_]+)$/gm), ([, name]) => name!)
    assert.isAbove(names.length, 15)
    for (const nothing of ["", "  "]) {
      const settings = yield* Effect.flatten(given(Object.fromEntries(names.map((name) => [name, nothing]))))
      assert.deepStrictEqual(settings, yield* Effect.flatten(given({})))
      assert.isUndefined(settings.hostToken)
    }
  })
)

it("help lists every variable with its default", () => {
  const help = Settings.help("npm start", "the whole service")
  for (const name of [
    "PORT",
    "CHAINSTORE_BIND",
    "CHAINSTORE_PUBLIC_URL",
    "CHAINSTORE_DATA",
    "CHAINSTORE_HOST_TOKEN",
    "CHAINSTORE_BODY_LIMIT",
    "CHAINSTORE_BODY_TIMEOUT",
    "CHAINSTORE_REQUEST_TIMEOUT",
    "CHAINSTORE_DRAIN_TIMEOUT",
    "OTEL_EXPORTER_OTLP_ENDPOINT"
  ]) {
    assert.match(help, new RegExp(`^  ${name}\\n      .+ Default: .+$`, "m"))
  }
})
