import type { ComponentChildren } from "preact"
import { part } from "../components/Part.js"

/** What the panel beside the composer shows. */
export const views = { result: "Result", table: "Many requests", code: "Code" } as const
export type View = keyof typeof views

const waiting = <p class="quiet-text">Loading…</p>

export const frame = { waiting, failed: (card: ComponentChildren) => card }

export const CodePane = part(() => import("./CodePane.js").then(({ CodePane }) => CodePane))

export const CaseTable = part(() => import("./CaseTable.js").then(({ CaseTable }) => CaseTable))

export const FirstMinute = part(() => import("./FirstMinute.js").then(({ FirstMinute }) => FirstMinute))
