import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { render } from "preact"
import { App } from "./App.js"
import { ErrorBoundary } from "./components/ErrorBoundary.js"
import * as Settings from "./page/Settings.js"
import { DataSource } from "./source/DataSource.js"
import "./styles.css"

/** Shows the console over a source of data: the whole difference between the builds is this layer. */
export const start = (layer: Layer.Layer<DataSource>): void => {
  Settings.applyTheme(Settings.load().theme)
  const source = Effect.runSync(Effect.provide(DataSource, layer))
  const root = document.getElementById("app")!
  root.replaceChildren()
  render(
    <ErrorBoundary>
      <App source={source} />
    </ErrorBoundary>,
    root
  )
}
