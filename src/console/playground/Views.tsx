import type { ComponentChildren } from "preact"
import { lazyComponent } from "../components/LazyComponent.js"

/** The views of the panel beside the composer. */
export const views = { result: "Result", table: "Many requests", code: "Code" } as const
export type View = keyof typeof views

const waiting = <p class="quiet-text">Loading…</p>

export const frame = { waiting, failed: (card: ComponentChildren) => card }

export const CodePane = lazyComponent(() => import("./CodePane.js").then(({ CodePane }) => CodePane))

export const CaseTable = lazyComponent(() => import("./CaseTable.js").then(({ CaseTable }) => CaseTable))

export const FirstMinute = lazyComponent(() =>
  import("./Tutorial.js").then(({ Tutorial: FirstMinute }) => FirstMinute)
)
