import { Effect, Layer } from "effect"
import { makeDirectory } from "../git/disk/files/Directories.js"
import * as Stack from "../http/host/Stack.js"
import { NodeContext } from "../vendor/PlatformNode.js"
import type { Settings } from "./Settings.js"

/**
 * The GitHub-compatible host over the repositories of the data directory, its token beside them.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Settings, options: { readonly atRoot: boolean }) =>
  Layer.unwrapEffect(
    Effect.as(
      makeDirectory(`${settings.data}/repos`),
      Stack.layer({
        atRoot: options.atRoot,
        createOnFirstUse: true,
        directory: settings.data,
        publicUrl: settings.publicUrl,
        token: settings.hostToken,
        ...(options.atRoot ? { faultsFile: settings.hostFaults, limits: settings.hostLimits } : {})
      }).pipe(Layer.provideMerge(Stack.layerRepositories(settings.data)), Layer.provide(NodeContext.layer))
    )
  )
