// What the mains export telemetry with.
export * as Otlp from "@effect/opentelemetry/Otlp"
