import { HttpRouter, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import * as Metrics from "./Metrics.js"
import * as Mount from "./Mount.js"
import * as Prometheus from "./Prometheus.js"
import { Lifecycle } from "./Server.js"

const json = (status: number, value: unknown) =>
  HttpServerResponse.text(JSON.stringify(value), {
    status,
    contentType: "application/json",
    headers: { "cache-control": "no-store" }
  })

/**
 * Serves `/healthz` (200 while the process runs), `/readyz` (503 while it is stopping) and `/metrics` (Prometheus text).
 *
 * @since 0.1.0
 * @category serving
 */
export const mount: Effect.Effect<Mount.Mount, never, Lifecycle> = Effect.flatMap(Lifecycle, (lifecycle) =>
  Mount.router(
    { name: "operational", paths: ["/healthz", "/readyz", "/metrics"] },
    HttpRouter.empty.pipe(
      HttpRouter.get(
        "/healthz",
        Effect.sync(() => json(200, { status: "ok" }))
      ),
      HttpRouter.get(
        "/readyz",
        Effect.sync(() =>
          lifecycle.isDraining() ? json(503, { status: "stopping" }) : json(200, { status: "ready" })
        )
      ),
      HttpRouter.get(
        "/metrics",
        Effect.sync(() => {
          Metrics.recordInFlight(lifecycle.inFlight())
          Metrics.recordProcess()
          return HttpServerResponse.text(Prometheus.render(), {
            contentType: "text/plain; version=0.0.4; charset=utf-8",
            headers: { "cache-control": "no-store" }
          })
        })
      )
    )
  )
)
