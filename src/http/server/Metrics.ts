import { createHistogram } from "node:perf_hooks"
import { Metric, MetricBoundaries, MetricKey, MetricLabel } from "effect"

const boundaries = MetricBoundaries.fromIterable([
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10
])

const requests = MetricKey.counter("http_requests_total", {
  description: "Replies by method, route and status",
  incremental: true
})

const seconds = MetricKey.histogram(
  "http_request_duration_seconds",
  boundaries,
  "Time from the request's headers to the end of its reply"
)

const inFlight = Metric.gauge("http_requests_in_flight", { description: "Requests in progress" })

const none: ReadonlyArray<never> = []

// A metric made from its key caches its hook. A metric tagged by combinators looks its hook up at every update.
const pairOf = (method: string, route: string, status: number) => {
  const labels = [MetricLabel.make("method", method), MetricLabel.make("route", route)]
  const withStatus = [...labels, MetricLabel.make("status", String(status))]
  return {
    count: Metric.fromMetricKey(MetricKey.taggedWithLabels(requests, withStatus)),
    duration: Metric.fromMetricKey(MetricKey.taggedWithLabels(seconds, labels))
  }
}

const pairs = new Map<string, ReturnType<typeof pairOf>>()

/** Counts one reply. `route` must come from a bounded set: a pattern, never a path. */
export const record = (method: string, route: string, status: number, milliseconds: number): void => {
  const key = `${method} ${route} ${status}`
  let pair = pairs.get(key)
  if (pair === undefined) {
    pair = pairOf(method, route, status)
    pairs.set(key, pair)
  }
  pair.count.unsafeUpdate(1, none)
  pair.duration.unsafeUpdate(milliseconds / 1000, none)
}

/** Sets the gauge of running requests. Called at every scrape. */
export const recordInFlight = (count: number): void => inFlight.unsafeUpdate(count, none)

const memory = Metric.gauge("process_resident_memory_bytes", { description: "Resident memory" })
const heap = Metric.gauge("nodejs_heap_used_bytes", { description: "Used JavaScript heap" })
const uptime = Metric.gauge("process_uptime_seconds", { description: "Seconds since the process started" })

/** The interval of clock readings in milliseconds. A shorter delay is not measured. */
const resolution = 10

/**
 * The delays of clock readings in nanoseconds. Node's own `monitorEventLoopDelay` misses the delays between its reset and
 * its first reading.
 */
const delays = createHistogram()
let read = performance.now()

const readClock = (): void => {
  const now = performance.now()
  delays.record(Math.max(1, Math.round((now - read - resolution) * 1e6)))
  read = now
}

setInterval(readClock, resolution).unref()

const delayGauge = (name: string, what: string) =>
  Metric.gauge(`nodejs_eventloop_lag_${name}_seconds`, {
    description: `${what} event loop delay since the last scrape`
  })

const delayGauges = {
  max: delayGauge("max", "Longest"),
  mean: delayGauge("mean", "Mean"),
  p50: delayGauge("p50", "Median"),
  p99: delayGauge("p99", "99th percentile of the")
}

const recordEventLoop = (): void => {
  // Includes the current delay: a scrape may run before the next reading.
  readClock()
  const set = (gauge: Metric.Metric.Gauge<number>, nanoseconds: number) =>
    gauge.unsafeUpdate(nanoseconds / 1e9, none)
  set(delayGauges.max, delays.max)
  set(delayGauges.mean, delays.mean)
  set(delayGauges.p50, delays.percentile(50))
  set(delayGauges.p99, delays.percentile(99))
  delays.reset()
}

/** Sets the gauges of the process. Called at every scrape. */
export const recordProcess = (): void => {
  recordEventLoop()
  const { heapUsed, rss } = process.memoryUsage()
  memory.unsafeUpdate(rss, none)
  heap.unsafeUpdate(heapUsed, none)
  uptime.unsafeUpdate(process.uptime(), none)
}
