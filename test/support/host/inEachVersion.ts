import { layer, type Vitest } from "@effect/vitest"
import type { Layer } from "effect"
import { versions } from "../../../src/http/host/request/HostCall.js"
import { type HostServerOptions, layer as host } from "./HostServer.js"

/** Runs the same tests with each version of the API, each with its own host. */
export const inEachVersion = (
  name: string,
  options: HostServerOptions,
  tests: (it: Vitest.MethodsNonLive<Layer.Layer.Success<ReturnType<typeof host>>>) => void
): void => {
  for (const version of versions) {
    layer(host({ ...options, version }), { timeout: 60_000 })(`${name}, ${version}`, tests)
  }
}
