// The telemetry exporter of the mains.
export * as Otlp from "@effect/opentelemetry/Otlp"
