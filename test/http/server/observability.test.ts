import { mkdtempSync, openSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { AccessEntry, LineLogger, Playground, Prometheus } from "chainstore/http"
import { Effect, Layer, Logger, Metric, MetricBoundaries, Option, Tracer } from "effect"
import { own, post, raw, request, running } from "./RunningServer.js"

const unhandled = '{"request":5,"handlers":[{"name":"a","when":{"lessThan":0},"respond":"r"}]}'

it.scopedLive("logs every request with Effect's logger, once", () =>
  Effect.gen(function* () {
    const seen: Array<AccessEntry> = []
    const lines: Array<string> = []
    const capture = Logger.make<unknown, void>(({ message }) => {
      const only = Array.isArray(message) ? message[0] : message
      if (only instanceof AccessEntry) seen.push(only)
      else lines.push(String(only))
    })
    const { port } = yield* running(
      {},
      [],
      Playground.layer(own),
      Logger.replace(Logger.defaultLogger, capture)
    )
    const connection = yield* raw(port)
    for (const text of [
      request("GET", "/v1/languages?secret=1", { "x-request-id": "one" }),
      request("GET", "/healthz"),
      request("GET", "/nope"),
      post("/v1/chains/execute", unhandled),
      request("HEAD", "/v1/languages")
    ]) {
      connection.send(text)
      yield* connection.answer(!text.startsWith("HEAD"))
    }
    assert.deepStrictEqual(
      seen.map(({ method, path, status }) => [method, path, status]),
      [
        ["GET", "/v1/languages", 200],
        ["GET", "/healthz", 200],
        ["GET", "/nope", 404],
        ["POST", "/v1/chains/execute", 422],
        ["HEAD", "/v1/languages", 200]
      ]
    )
    assert.strictEqual(seen[4]!.bytes, 0)
    assert.strictEqual(seen[0]!.requestId, "one")
    assert.isAbove(seen[0]!.bytes, 500)
    assert.lengthOf(lines, 1)
    assert.match(lines[0]!, /^Error: Chain ad-hoc failed after \d+\.\d{3} ms\.$/)
  })
)

it.effect("writes one JSON object per line, foreign text escaped", () =>
  Effect.gen(function* () {
    const file = join(mkdtempSync(join(tmpdir(), "lines-")), "log")
    const entry = new AccessEntry("id-1", "GET", '/a"\n\u2028\\', 200, 1.23456, 7, "127.0.0.1")
    yield* Effect.log(entry).pipe(
      Effect.zipRight(Effect.annotateLogs(Effect.logError("bad\nnews", new Error("inside")), { chain: "c" })),
      Effect.provide(LineLogger.layer(openSync(file, "w")))
    )
    const lines = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.lengthOf(lines, 2)
    const { timestamp, ...first } = lines[0]
    assert.match(timestamp, /^\d{4}-.*Z$/)
    assert.deepStrictEqual(first, {
      level: "INFO",
      message: "request",
      requestId: "id-1",
      method: "GET",
      path: '/a"\n\u2028\\',
      status: 200,
      durationMs: 1.235,
      bytes: 7,
      remote: "127.0.0.1"
    })
    assert.strictEqual(lines[1].level, "ERROR")
    assert.strictEqual(lines[1].chain, "c")
  })
)

it.effect("renders every kind of metric as Prometheus text", () =>
  Effect.gen(function* () {
    const counter = Metric.counter("test_counter", { description: "Counts\nthings", incremental: true })
    const either = Metric.counter("test_up_and_down")
    yield* Effect.zipRight(Metric.incrementBy(either, 3), Metric.incrementBy(either, -5))
    yield* Metric.update(Metric.tagged(counter, "odd label", 'a"b\\c\nd'), 3)
    yield* Metric.update(Metric.gauge("test.gauge"), -1.5)
    yield* Metric.update(Metric.frequency("test_words"), "yes")
    const histogram = Metric.histogram("test_histogram", MetricBoundaries.fromIterable([1, 2]))
    for (const value of [0.5, 1.5, 9]) yield* Metric.update(histogram, value)
    const text = Prometheus.render()
    for (const line of [
      "# HELP test_counter Counts\\nthings",
      "# TYPE test_counter counter",
      'test_counter{odd_label="a\\"b\\\\c\\nd"} 3',
      "# TYPE test_up_and_down gauge",
      "test_up_and_down -2",
      "# TYPE test_gauge gauge",
      "test_gauge -1.5",
      'test_words{key="yes"} 1',
      "# TYPE test_histogram histogram",
      'test_histogram_bucket{le="1"} 1',
      'test_histogram_bucket{le="2"} 2',
      'test_histogram_bucket{le="+Inf"} 3',
      "test_histogram_sum 11",
      "test_histogram_count 3"
    ]) {
      assert.include(text.split("\n"), line)
    }
    for (const line of text.trimEnd().split("\n")) {
      assert.match(line, /^(# (HELP|TYPE) |[a-zA-Z_:][\w:]*(\{.*\})? (-?[\d.e+-]+|\+Inf|-Inf|NaN)$)/)
    }
  })
)

it.scopedLive("counts requests by route, never by path", () =>
  Effect.gen(function* () {
    const { port, url } = yield* running()
    const connection = yield* raw(port)
    for (const path of ["/v1/languages", "/unbounded-1", "/unbounded-2"]) {
      connection.send(request("GET", path))
      yield* connection.answer()
    }
    const text = yield* Effect.promise(async () => (await fetch(`${url}/metrics`)).text())
    assert.match(text, /http_requests_total\{(?=.*route="\/v1\/languages")(?=.*status="200").*\} \d+/)
    assert.match(text, /http_requests_total\{(?=.*route="unmatched")(?=.*status="404").*\} ([2-9]|\d{2,})\n/)
    assert.match(text, /http_requests_in_flight 1/)
    assert.notInclude(text, "unbounded")
  })
)

it.scopedLive("makes a server span with the caller's trace as parent when a tracer listens", () =>
  Effect.gen(function* () {
    const spans: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      span: (name, parent, context, links, startTime, kind) => {
        const span: Tracer.Span = {
          _tag: "Span",
          name,
          spanId: String(spans.length),
          traceId: Option.match(parent, { onNone: () => "new", onSome: (above) => above.traceId }),
          parent,
          context,
          links,
          kind,
          sampled: true,
          status: { _tag: "Started", startTime },
          attributes: new Map(),
          attribute: () => {},
          event: () => {},
          addLinks: () => {},
          end: () => {}
        }
        spans.push(span)
        return span
      },
      context: (run) => run()
    })
    const { port } = yield* running(
      {},
      [],
      Playground.layer(own),
      Layer.merge(Logger.remove(Logger.defaultLogger), Layer.setTracer(tracer))
    )
    const connection = yield* raw(port)
    const trace = "0af7651916cd43dd8448eb211c80319c"
    for (const path of ["/v1/languages", "/healthz"]) {
      connection.send(request("GET", path, { traceparent: `00-${trace}-b7ad6b7169203331-01` }))
      assert.strictEqual((yield* connection.answer()).status, 200)
    }
    const servers = spans.filter((span) => span.kind === "server")
    assert.deepStrictEqual(
      servers.map(({ name, traceId }) => [name, traceId]),
      [
        ["http.server GET", trace],
        ["http.server GET", trace]
      ]
    )
  })
)
