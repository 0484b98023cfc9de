import type { Oid } from "../../domain/identifiers/Oid.js"
import { bandOf, flush, joined, type Packet, PacketReader, ProtocolError, packet, textOf } from "./PktLine.js"

/*
 * A push: commands, each with the value that its ref is expected to have, and a pack. The server answers with a report.
 * See gitprotocol-pack(5), "Pushing Data To a Server".
 */

const nowhere = "0".repeat(40)

/** One ref that moves: from where it is expected (none: it must not exist) to where it goes (none: it is deleted). */
export interface Command {
  readonly name: string
  readonly from: Oid | undefined
  readonly to: Oid | undefined
}

/** What a push asks for beside its commands. */
export const pushCapabilities = (
  agent: string,
  offered: ReadonlyMap<string, string>,
  options: { readonly atomic: boolean }
): ReadonlyArray<string> => [
  "report-status",
  ...["side-band-64k", ...(options.atomic ? ["atomic"] : [])].filter((name) => offered.has(name)),
  ...(offered.has("object-format") ? ["object-format=sha1"] : []),
  ...(offered.has("agent") ? [`agent=${agent}`] : [])
]

/** The commands of a push; the pack follows them, except where all of them delete. */
export const commandsOf = (
  commands: ReadonlyArray<Command>,
  capabilities: ReadonlyArray<string>
): Uint8Array =>
  joined([
    ...commands.map(({ from, name, to }, at) =>
      packet(`${from ?? nowhere} ${to ?? nowhere} ${name}${at === 0 ? `\0 ${capabilities.join(" ")}` : ""}`)
    ),
    flush
  ])

/** What a server reports of a push. */
export interface Report {
  /** Why nothing of the pack was taken; none where it was. */
  readonly unpack: string | undefined
  /** By ref: none where it moved, or why it did not. */
  readonly refs: ReadonlyMap<string, string | undefined>
  /** What the server and its hooks say for people to read. */
  readonly messages: string
}

const linesOf = (packets: ReadonlyArray<Packet>): ReadonlyArray<string> =>
  packets.flatMap((one) => (one._tag === "Data" ? [textOf(one.content)] : []))

/** Reads the report; throws a `ProtocolError` where there is none: then nothing is known of the push. */
export const parseReport = (bytes: Uint8Array, sideBand: boolean): Report => {
  const outer = new PacketReader()
  const packets = outer.push(bytes)
  outer.end()
  let messages = ""
  let lines = linesOf(packets)
  if (sideBand) {
    const inner = new PacketReader()
    const within: Array<Packet> = []
    for (const one of packets) {
      if (one._tag !== "Data") continue
      const band = bandOf(one.content)
      if (band._tag === "Progress") messages += band.text
      else within.push(...inner.push(band.content))
    }
    inner.end()
    lines = linesOf(within)
  }
  const [first = "", ...rest] = lines
  if (!first.startsWith("unpack ")) {
    throw new ProtocolError("malformed", "the answer to a push holds no report of it")
  }
  const refs = new Map<string, string | undefined>()
  for (const line of rest) {
    const told = /^(?:ok (\S+)|ng (\S+) (.*))$/s.exec(line)
    if (told?.[1] !== undefined) refs.set(told[1], undefined)
    else if (told?.[2] !== undefined) refs.set(told[2], told[3] ?? "")
  }
  const unpack = first.slice("unpack ".length)
  return { unpack: unpack === "ok" ? undefined : unpack, refs, messages: messages.trim() }
}

/**
 * Where a refused ref is, by the words of Git's own `receive-pack`, of which the reason or the messages may hold
 * the lines; none where they do not say.
 */
export const movedTo = (name: string, reason: string, messages: string): Oid | undefined => {
  for (const text of [reason, ...messages.split("\n")]) {
    const told = /cannot lock ref '([^']+)': is at ([0-9a-f]{40}) but expected/.exec(text)
    if (told?.[1] === name) return told[2] as Oid
  }
  return undefined
}

/** Whether a ref did not move because somebody else holds its lock, by the words of Git's own `receive-pack`. */
export const isLocked = (name: string, reason: string, messages: string): boolean =>
  [reason, ...messages.split("\n")].some((text) => {
    const told = /cannot lock ref '([^']+)': Unable to create '[^']*\.lock': File exists/.exec(text)
    return told?.[1] === name
  })
