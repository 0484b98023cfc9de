import type { Oid } from "../../domain/identifiers/Oid.js"
import {
  concatBytes,
  decodeBand,
  encodePacket,
  flush,
  type Packet,
  PacketReader,
  ProtocolError,
  packetText
} from "./PktLine.js"

/*
 * A push consists of commands, each with the expected value of its ref, and of a pack. The server replies with a report.
 * See gitprotocol-pack(5), "Pushing Data To a Server".
 */

const zeroOid = "0".repeat(40)

/** The move of one ref. `from` is the expected value, undefined if the ref must not exist. `to` is undefined for a deletion. */
export interface PushCommand {
  readonly name: string
  readonly from: Oid | undefined
  readonly to: Oid | undefined
}

/** The capabilities that a push requests. */
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

/** Encodes the commands of a push. The pack follows them, unless all of them are deletions. */
export const encodeCommands = (
  commands: ReadonlyArray<PushCommand>,
  capabilities: ReadonlyArray<string>
): Uint8Array =>
  concatBytes([
    ...commands.map(({ from, name, to }, at) =>
      encodePacket(
        `${from ?? zeroOid} ${to ?? zeroOid} ${name}${at === 0 ? `\0 ${capabilities.join(" ")}` : ""}`
      )
    ),
    flush
  ])

/** The server's report of a push. */
export interface PushReport {
  /** Why the server rejected the pack; undefined if it stored the pack. */
  readonly unpack: string | undefined
  /** The reason for each ref that was not moved; undefined for a ref that was. */
  readonly refs: ReadonlyMap<string, string | undefined>
  /** The messages of the server and its hooks for the user. */
  readonly messages: string
}

const linesOf = (packets: ReadonlyArray<Packet>): ReadonlyArray<string> =>
  packets.flatMap((one) => (one._tag === "Data" ? [packetText(one.content)] : []))

/** Parses a report. Throws a `ProtocolError` if there is none: the outcome of the push is then unknown. */
export const parseReport = (bytes: Uint8Array, sideBand: boolean): PushReport => {
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
      const band = decodeBand(one.content)
      if (band._tag === "Progress") messages += band.text
      else within.push(...inner.push(band.content))
    }
    inner.end()
    lines = linesOf(within)
  }
  const [first = "", ...rest] = lines
  if (!first.startsWith("unpack ")) {
    throw new ProtocolError("malformed", "the response to a push has no report")
  }
  const refs = new Map<string, string | undefined>()
  for (const line of rest) {
    const match = /^(?:ok (\S+)|ng (\S+) (.*))$/s.exec(line)
    if (match?.[1] !== undefined) refs.set(match[1], undefined)
    else if (match?.[2] !== undefined) refs.set(match[2], match[3] ?? "")
  }
  const unpack = first.slice("unpack ".length)
  return { unpack: unpack === "ok" ? undefined : unpack, refs, messages: messages.trim() }
}

/**
 * The head of a ref whose move was refused, parsed from the message of Git's `receive-pack`. The message may be in the reason or
 * in the side band. Undefined if there is no such message.
 */
export const actualOid = (name: string, reason: string, messages: string): Oid | undefined => {
  for (const text of [reason, ...messages.split("\n")]) {
    const match = /cannot lock ref '([^']+)': is at ([0-9a-f]{40}) but expected/.exec(text)
    if (match?.[1] === name) return match[2] as Oid
  }
  return undefined
}

/** Whether a ref was not moved because another process holds its lock, by the message of Git's `receive-pack`. */
export const isLocked = (name: string, reason: string, messages: string): boolean =>
  [reason, ...messages.split("\n")].some((text) => {
    const match = /cannot lock ref '([^']+)': Unable to create '[^']*\.lock': File exists/.exec(text)
    return match?.[1] === name
  })
