import { isOid, type Oid } from "../../domain/identifiers/Oid.js"
import type { Advertisement } from "./Advertisement.js"
import {
  concatBytes,
  decodeBand,
  encodePacket,
  flush,
  PacketReader,
  ProtocolError,
  packetText
} from "./PktLine.js"
import { type FetchReply, type FetchRequest, isThin, type ListedRef } from "./UploadPack.js"

/*
 * Requests to `git-upload-pack` and its responses in version 0 of Git's protocol: gitprotocol-pack(5). The advertisement lists the
 * refs. A fetch sends all of its lines at once, so that one request is enough over HTTP and over SSH.
 */

/** The refs of an advertisement in the form of `ls-refs`. */
export const listRefs = ({ refs, symbolic }: Advertisement): ReadonlyArray<ListedRef> => {
  const listed = [...refs].filter(([name]) => !name.endsWith("^{}"))
  // The target of a symbolic ref may be a branch without commits, which is not listed.
  const unborn = [...symbolic.keys()].filter((name) => !refs.has(name))
  return [...listed, ...unborn.map((name) => [name, undefined] as const)].map(([name, oid]) => ({
    name,
    oid,
    peeled: refs.get(`${name}^{}`),
    target: symbolic.get(name)
  }))
}

/** Whether a fetch may leave out objects and fetch them by id later. */
export const canFilter = ({ capabilities }: Advertisement): boolean =>
  capabilities.has("filter") && capabilities.has("allow-any-sha1-in-want")

/** The capabilities that a fetch requests if the server has them. */
const requestable = ["side-band-64k", "thin-pack", "ofs-delta", "no-progress"]

export const encodeFetch = (agent: string, request: FetchRequest, server: Advertisement): Uint8Array => {
  const { capabilities } = server
  const { depth, filter, haves = [], shallow = [], wants } = request
  const acknowledging = ["multi_ack_detailed", "multi_ack"]
    .filter((name) => capabilities.has(name))
    .slice(0, 1)
  const requested = [
    ...acknowledging,
    ...requestable.filter((name) => capabilities.has(name) && (name !== "thin-pack" || isThin(request))),
    ...(filter === undefined ? [] : ["filter"]),
    ...(capabilities.has("agent") ? [`agent=${agent}`] : [])
  ].join(" ")
  const isShallow = capabilities.has("shallow")
  return concatBytes([
    ...wants.map((oid, at) => encodePacket(`want ${oid}${at === 0 ? ` ${requested}` : ""}\n`)),
    ...(isShallow ? shallow.map((oid) => encodePacket(`shallow ${oid}\n`)) : []),
    ...(isShallow && depth !== undefined ? [encodePacket(`deepen ${depth}\n`)] : []),
    ...(filter === undefined ? [] : [encodePacket(`filter ${filter}\n`)]),
    flush,
    // Without these capabilities the server would acknowledge each `have` by the same line, and the last one could not be recognised.
    ...haves
      .slice(0, acknowledging.length > 0 ? haves.length : 1)
      .map((oid) => encodePacket(`have ${oid}\n`)),
    encodePacket("done\n")
  ])
}

/** Whether a line is the last one before the pack. Other `ACK` lines have a status, such as `common`. */
const isLastAcknowledgement = (text: string): boolean => text === "NAK" || /^ACK [0-9a-f]{40}$/.test(text)

/** Parses the response to `fetch` in version 0. */
export class FetchReplyV0 implements FetchReply {
  private readonly reader = new PacketReader()
  private isPackNext = false
  private isComplete = false
  readonly shallow: Array<Oid> = []
  readonly unshallow: Array<Oid> = []

  constructor(
    /** Whether the pack is sent in packets of a side band, as opposed to raw bytes. */
    private readonly hasSideBand: boolean
  ) {}

  push(bytes: Uint8Array): ReadonlyArray<Uint8Array> {
    const pack: Array<Uint8Array> = []
    if (this.isPackNext && !this.hasSideBand) return [bytes]
    const packets = this.reader.push(
      bytes,
      (one) => !this.hasSideBand && one._tag === "Data" && isLastAcknowledgement(packetText(one.content))
    )
    for (const one of packets) {
      if (one._tag === "Flush" && this.isPackNext) this.isComplete = true
      else if (one._tag !== "Data") continue
      else if (this.isPackNext) {
        const band = decodeBand(one.content)
        if (band._tag === "Data") pack.push(band.content)
      } else this.take(packetText(one.content))
    }
    return this.isPackNext && !this.hasSideBand ? [...pack, this.reader.remaining()] : pack
  }

  private take(text: string): void {
    if (text.startsWith("ERR ")) throw new ProtocolError("refused", text.slice("ERR ".length))
    if (isLastAcknowledgement(text)) {
      this.isPackNext = true
      return
    }
    const [word = "", oid = ""] = text.split(" ")
    if (word === "ACK") return
    if (!isOid(oid))
      throw new ProtocolError(
        "malformed",
        `the response to a fetch has the line ${JSON.stringify(text.slice(0, 80))}`
      )
    if (word === "shallow") this.shallow.push(oid)
    else if (word === "unshallow") this.unshallow.push(oid)
  }

  end(): void {
    this.reader.end()
    // Without a side band only the pack itself tells whether it is complete.
    if (!this.isPackNext || (this.hasSideBand && !this.isComplete)) {
      throw new ProtocolError("malformed", "the response ends before its pack does")
    }
  }
}
