import { Metric, MetricKeyType, type MetricLabel, type MetricPair, MetricState } from "effect"

const escaped = (text: string) => text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"')

const labels = (
  tags: ReadonlyArray<MetricLabel.MetricLabel>,
  extra: ReadonlyArray<readonly [string, string]> = []
) => {
  const all = [...tags.map((tag) => [tag.key, tag.value] as const), ...extra]
  return all.length === 0
    ? ""
    : `{${all.map(([key, value]) => `${key.replace(/[^a-zA-Z0-9_]/g, "_")}="${escaped(value)}"`).join(",")}}`
}

const number = (value: number | bigint): string =>
  value === Number.POSITIVE_INFINITY ? "+Inf" : value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value)

const lines = (name: string, pair: MetricPair.MetricPair.Untyped): [type: string, Array<string>] => {
  const tags = pair.metricKey.tags
  const state = pair.metricState
  if (MetricState.isCounterState(state)) {
    const type = pair.metricKey.keyType
    // An Effect counter that is not `incremental` may decrease, so it is exported as a gauge.
    const rises = MetricKeyType.isCounterKey(type) && type.incremental
    return [rises ? "counter" : "gauge", [`${name}${labels(tags)} ${number(state.count)}`]]
  }
  if (MetricState.isGaugeState(state)) return ["gauge", [`${name}${labels(tags)} ${number(state.value)}`]]
  if (MetricState.isFrequencyState(state)) {
    const words = Array.from(state.occurrences)
    return ["counter", words.map(([word, count]) => `${name}${labels(tags, [["key", word]])} ${count}`)]
  }
  if (MetricState.isHistogramState(state)) {
    const buckets = state.buckets.map(
      ([bound, count]) => `${name}_bucket${labels(tags, [["le", number(bound)]])} ${count}`
    )
    const last = state.buckets[state.buckets.length - 1]
    if (last === undefined || last[0] !== Number.POSITIVE_INFINITY) {
      buckets.push(`${name}_bucket${labels(tags, [["le", "+Inf"]])} ${state.count}`)
    }
    return [
      "histogram",
      [
        ...buckets,
        `${name}_sum${labels(tags)} ${number(state.sum)}`,
        `${name}_count${labels(tags)} ${state.count}`
      ]
    ]
  }
  if (MetricState.isSummaryState(state)) {
    const quantiles = state.quantiles.map(([quantile, value]) =>
      value._tag === "Some"
        ? `${name}${labels(tags, [["quantile", String(quantile)]])} ${number(value.value)}`
        : ""
    )
    return [
      "summary",
      [
        ...quantiles.filter((line) => line !== ""),
        `${name}_sum${labels(tags)} ${number(state.sum)}`,
        `${name}_count${labels(tags)} ${state.count}`
      ]
    ]
  }
  return ["untyped", []]
}

/**
 * Renders Effect's metric registry in the Prometheus text format.
 *
 * @since 0.1.0
 * @category serving
 */
export const render = (): string => {
  const families = new Map<string, { type: string; help: string; lines: Array<string> }>()
  for (const pair of Metric.unsafeSnapshot()) {
    const name = pair.metricKey.name.replace(/[^a-zA-Z0-9_:]/g, "_")
    const [type, text] = lines(name, pair)
    const family = families.get(name)
    if (family === undefined) {
      const help = pair.metricKey.description._tag === "Some" ? pair.metricKey.description.value : name
      families.set(name, { type, help, lines: text })
    } else {
      family.lines.push(...text)
    }
  }
  return Array.from(families, ([name, family]) =>
    [
      `# HELP ${name} ${family.help.replace(/\\/g, "\\\\").replace(/\n/g, "\\n")}`,
      `# TYPE ${name} ${family.type}`,
      ...family.lines
    ].join("\n")
  )
    .join("\n")
    .concat("\n")
}
