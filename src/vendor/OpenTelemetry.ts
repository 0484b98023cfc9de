export * as Otlp from "@effect/opentelemetry/Otlp"
