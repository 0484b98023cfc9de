import { Effect, Layer } from "effect"
import { makeDirectory } from "../git/disk/files/Directories.js"
import * as HostLayer from "../http/host/HostLayer.js"
import { NodeContext } from "../vendor/PlatformNode.js"
import type { Settings } from "./Settings.js"

/**
 * The GitHub-compatible host over the repositories of the data directory, which also contains its token.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Settings, options: { readonly atRoot: boolean }) =>
  Layer.unwrapEffect(
    Effect.as(
      makeDirectory(`${settings.data}/repos`),
      HostLayer.layer({
        atRoot: options.atRoot,
        createOnFirstUse: true,
        directory: settings.data,
        publicUrl: settings.publicUrl,
        token: settings.hostToken,
        ...(options.atRoot ? { faultsFile: settings.hostFaults, limits: settings.hostLimits } : {})
      }).pipe(
        Layer.provideMerge(HostLayer.layerRepositories(settings.data)),
        Layer.provide(NodeContext.layer)
      )
    )
  )
