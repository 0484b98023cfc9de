import type { ProposalState } from "../../Proposals.js"

const token = "Chainstore-Proposal"

/** The contents of a commit that opens, closes or accepts a proposal. */
export interface ProposalText {
  readonly id: string
  readonly title: string
  readonly body: string
  readonly author: string | undefined
  readonly into: string
  readonly labels: ReadonlyArray<string>
  readonly state: ProposalState
}

const trailersOf = (text: ProposalText): ReadonlyArray<readonly [string, string]> => [
  ["", text.id],
  ["-Title", text.title],
  ...(text.author === undefined ? [] : [["-Author", text.author] as const]),
  ["-Into", text.into],
  ...text.labels.map((label) => ["-Label", label] as const),
  ["-State", text.state]
]

const verbs = { open: "", closed: "close: ", accepted: "accept: " } as const

/** The message of such a commit: title, body, and a last paragraph of trailers. */
export const printProposal = (text: ProposalText): string => {
  const heading = `${verbs[text.state]}${text.title}`
  const body = text.body.trim()
  const trailers = trailersOf(text).map(([name, value]) => `${token}${name}: ${value}`)
  return [heading, ...(body === "" ? [] : [body]), trailers.join("\n")].join("\n\n")
}

const line = new RegExp(`^${token}(-[A-Za-z]+)?: (.*)$`)

/** Parses the message of such a commit; undefined if it is another commit. */
export const readProposal = (message: string): ProposalText | undefined => {
  const paragraphs = message.replaceAll("\r\n", "\n").trimEnd().split("\n\n")
  if (paragraphs.length < 2) return undefined
  const values = new Map<string, ReadonlyArray<string>>()
  for (const text of paragraphs.at(-1)!.split("\n")) {
    const [trailer, name = "", value] = line.exec(text) ?? []
    if (trailer !== undefined) values.set(name, [...(values.get(name) ?? []), value!.trim()])
  }
  const one = (name: string) => values.get(name)?.[0]
  const [id, title, into, state] = [one(""), one("-Title"), one("-Into"), one("-State")]
  if (id === undefined || title === undefined || into === undefined) return undefined
  if (state !== "open" && state !== "closed" && state !== "accepted") return undefined
  return {
    id,
    title,
    body: paragraphs.slice(1, -1).join("\n\n"),
    author: one("-Author"),
    into,
    labels: values.get("-Label") ?? [],
    state
  }
}

/** The message of the commit that accepts a proposal. */
export const acceptedMessage = (
  {
    id,
    number,
    title
  }: { readonly id: string; readonly title: string; readonly number?: number | undefined },
  given: string | undefined
): string =>
  [
    given ?? `accept: ${title}${number === undefined ? "" : ` (#${number})`}`,
    `${token}: ${id}\n${token}-State: accepted`
  ].join("\n\n")
