import { isOid, type Oid } from "../../domain/identifiers/Oid.js"
import type { Advertisement } from "./Advertisement.js"
import { bandOf, flush, joined, PacketReader, ProtocolError, packet, textOf } from "./PktLine.js"
import { type FetchReply, type FetchRequest, isThin, type ListedRef } from "./UploadPack.js"

/*
 * Requests and responses of Git's protocol version 0 to `git-upload-pack`: gitprotocol-pack(5). The refs come with the
 * advertisement, and a fetch sends everything at once, so that one request is enough over HTTP and over SSH.
 */

/** The refs of an advertisement as version 2 lists them. */
export const refsOf = ({ refs, symbolic }: Advertisement): ReadonlyArray<ListedRef> => {
  const listed = [...refs].filter(([name]) => !name.endsWith("^{}"))
  // What a symbolic ref points to is told also where that has no commit yet.
  const unborn = [...symbolic.keys()].filter((name) => !refs.has(name))
  return [...listed, ...unborn.map((name) => [name, undefined] as const)].map(([name, oid]) => ({
    name,
    oid,
    peeled: refs.get(`${name}^{}`),
    target: symbolic.get(name)
  }))
}

/** Whether a server lets objects be left out and then be asked for by their ids. */
export const canFilter = ({ capabilities }: Advertisement): boolean =>
  capabilities.has("filter") && capabilities.has("allow-any-sha1-in-want")

/** Capabilities that a fetch asks for where they are offered. */
const wanted = ["side-band-64k", "thin-pack", "ofs-delta", "no-progress"]

export const fetch = (agent: string, request: FetchRequest, server: Advertisement): Uint8Array => {
  const { capabilities } = server
  const { depth, filter, haves = [], shallow = [], wants } = request
  const acknowledging = ["multi_ack_detailed", "multi_ack"]
    .filter((name) => capabilities.has(name))
    .slice(0, 1)
  const asked = [
    ...acknowledging,
    ...wanted.filter((name) => capabilities.has(name) && (name !== "thin-pack" || isThin(request))),
    ...(filter === undefined ? [] : ["filter"]),
    ...(capabilities.has("agent") ? [`agent=${agent}`] : [])
  ].join(" ")
  const isShallow = capabilities.has("shallow")
  return joined([
    ...wants.map((oid, at) => packet(`want ${oid}${at === 0 ? ` ${asked}` : ""}\n`)),
    ...(isShallow ? shallow.map((oid) => packet(`shallow ${oid}\n`)) : []),
    ...(isShallow && depth !== undefined ? [packet(`deepen ${depth}\n`)] : []),
    ...(filter === undefined ? [] : [packet(`filter ${filter}\n`)]),
    flush,
    // Without these capabilities several could be acknowledged, and no line would be known to be the last one.
    ...haves.slice(0, acknowledging.length > 0 ? haves.length : 1).map((oid) => packet(`have ${oid}\n`)),
    packet("done\n")
  ])
}

/** Whether a line ends what comes before the pack; others acknowledge a commit and say more of it. */
const isVerdict = (text: string): boolean => text === "NAK" || /^ACK [0-9a-f]{40}$/.test(text)

/** Reads the response to `fetch` in version 0. */
export class FetchReplyV0 implements FetchReply {
  private readonly reader = new PacketReader()
  private isJudged = false
  private isOver = false
  readonly shallow: Array<Oid> = []
  readonly unshallow: Array<Oid> = []

  constructor(
    /** Whether the pack is in packets of a side band, or follows as it is. */
    private readonly isBanded: boolean
  ) {}

  push(bytes: Uint8Array): ReadonlyArray<Uint8Array> {
    const pack: Array<Uint8Array> = []
    if (this.isJudged && !this.isBanded) return [bytes]
    const packets = this.reader.push(
      bytes,
      (one) => !this.isBanded && one._tag === "Data" && isVerdict(textOf(one.content))
    )
    for (const one of packets) {
      if (one._tag === "Flush" && this.isJudged) this.isOver = true
      else if (one._tag !== "Data") continue
      else if (this.isJudged) {
        const band = bandOf(one.content)
        if (band._tag === "Data") pack.push(band.content)
      } else this.take(textOf(one.content))
    }
    return this.isJudged && !this.isBanded ? [...pack, this.reader.remaining()] : pack
  }

  private take(text: string): void {
    if (text.startsWith("ERR ")) throw new ProtocolError("refused", text.slice("ERR ".length))
    if (isVerdict(text)) {
      this.isJudged = true
      return
    }
    const [word = "", oid = ""] = text.split(" ")
    if (word === "ACK") return
    if (!isOid(oid))
      throw new ProtocolError("malformed", `a fetch is answered by ${JSON.stringify(text.slice(0, 80))}`)
    if (word === "shallow") this.shallow.push(oid)
    else if (word === "unshallow") this.unshallow.push(oid)
  }

  end(): void {
    this.reader.end()
    // Without a side band the pack itself says whether it is whole.
    if (!this.isJudged || (this.isBanded && !this.isOver)) {
      throw new ProtocolError("malformed", "the answer ends before its pack does")
    }
  }
}
