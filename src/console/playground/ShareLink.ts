import { type ChainDraft, fromBody, toBody } from "./ChainDraft.js"

/** Addresses longer than this are cut by chats and mail programs. */
export const maxAddress = 8_000

const names = { own: "chain", triage: "ticket" } as const

export const toHash = (draft: ChainDraft): string => {
  const cases = draft.cases.map(({ expected, request }) => ({ request, expected }))
  return `#${new URLSearchParams({
    [names[draft.mode]]: JSON.stringify(toBody(draft)),
    ...(cases.length === 0 ? {} : { cases: JSON.stringify(cases) })
  })}`
}

/** The draft of an address; undefined if the address has none. */
export const fromHash = (hash: string): ChainDraft | undefined => {
  const params = new URLSearchParams(hash.replace(/^#/, ""))
  for (const mode of ["own", "triage"] as const) {
    const written = params.get(names[mode])
    if (written === null) continue
    try {
      return fromBody(mode, JSON.parse(written), JSON.parse(params.get("cases") ?? "[]"))
    } catch {
      return undefined
    }
  }
  return undefined
}
