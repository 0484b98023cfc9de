import { isOid, type Oid } from "../../domain/identifiers/Oid.js"
import {
  concatBytes,
  decodeBand,
  delimiter,
  encodePacket,
  flush,
  PacketReader,
  ProtocolError,
  packetText
} from "./PktLine.js"

/*
 * Requests to `git-upload-pack` and its responses in version 2 of Git's protocol: gitprotocol-v2(5). A request needs no
 * preceding advertisement.
 */

const command = (name: string, agent: string, args: ReadonlyArray<string>): Uint8Array =>
  concatBytes([
    encodePacket(`command=${name}\n`),
    encodePacket(`agent=${agent}\n`),
    encodePacket("object-format=sha1\n"),
    delimiter,
    ...args.map((arg) => encodePacket(`${arg}\n`)),
    flush
  ])

/** A ref in the response to `ls-refs`. */
export interface ListedRef {
  readonly name: string
  /** Undefined if the ref points to a branch without commits. */
  readonly oid: Oid | undefined
  /** The object that an annotated tag points to. */
  readonly peeled: Oid | undefined
  /** The target of a symbolic ref. */
  readonly target: string | undefined
}

/** Encodes a request for the refs whose names begin with one of the prefixes. */
export const encodeLsRefs = (agent: string, prefixes: ReadonlyArray<string>): Uint8Array =>
  command("ls-refs", agent, [
    "peel",
    "symrefs",
    "unborn",
    ...prefixes.map((prefix) => `ref-prefix ${prefix}`)
  ])

/** Parses the response to `ls-refs`. Throws a `ProtocolError` if it is malformed. */
export const parseRefs = (bytes: Uint8Array): ReadonlyArray<ListedRef> => {
  const reader = new PacketReader()
  const packets = reader.push(bytes)
  reader.end()
  if (packets.at(-1)?._tag !== "Flush") throw new ProtocolError("malformed", "the list of refs has no end")
  return packets.flatMap((one) => {
    if (one._tag !== "Data") return []
    const text = packetText(one.content)
    if (text.startsWith("ERR ")) throw new ProtocolError("refused", text.slice("ERR ".length))
    const [oid = "", name = "", ...attributes] = text.split(" ")
    if (name === "" || (oid !== "unborn" && !isOid(oid))) {
      throw new ProtocolError(
        "malformed",
        `the list of refs has the line ${JSON.stringify(text.slice(0, 120))}`
      )
    }
    const valueOf = (key: string) =>
      attributes.find((attribute) => attribute.startsWith(`${key}:`))?.slice(key.length + 1)
    return {
      name,
      oid: isOid(oid) ? oid : undefined,
      peeled: valueOf("peeled") as Oid | undefined,
      target: valueOf("symref-target")
    }
  })
}

/** The largest depth of a fetch, for a whole history. */
export const maxDepth = 2_147_483_647

/** The arguments of a fetch. */
export interface FetchRequest {
  readonly wants: ReadonlyArray<Oid>
  /** Commits that the client has with all of their history, except for the parents of `shallow` commits. */
  readonly haves?: ReadonlyArray<Oid> | undefined
  /** Commits that the client has without their parents. */
  readonly shallow?: ReadonlyArray<Oid> | undefined
  /** The largest number of commits of each line of history. */
  readonly depth?: number | undefined
  /** A filter that leaves out objects, such as `blob:none`. */
  readonly filter?: string | undefined
}

/**
 * Whether the pack may be thin: its deltas may have bases that are not in the pack. Not without a filter: the server would choose
 * bases among the blobs of commits that the client fetched without their blobs.
 */
export const isThin = ({ filter }: FetchRequest): boolean => filter !== undefined

export const encodeFetch = (agent: string, request: FetchRequest): Uint8Array => {
  const { depth, filter, haves = [], shallow = [], wants } = request
  return command("fetch", agent, [
    ...(isThin(request) ? ["thin-pack"] : []),
    "ofs-delta",
    "no-progress",
    ...shallow.map((oid) => `shallow ${oid}`),
    ...(depth === undefined ? [] : [`deepen ${depth}`]),
    ...(filter === undefined ? [] : [`filter ${filter}`]),
    ...wants.map((oid) => `want ${oid}`),
    ...haves.map((oid) => `have ${oid}`),
    "done"
  ])
}

/** Parses the response to a fetch as it arrives. */
export interface FetchReply {
  /** The commits that are now shallow, and those that are no longer shallow. */
  readonly shallow: ReadonlyArray<Oid>
  readonly unshallow: ReadonlyArray<Oid>
  /** Returns the bytes of the pack. Throws a `ProtocolError` if the response is malformed or is an error. */
  push(bytes: Uint8Array): ReadonlyArray<Uint8Array>
  /** Throws if the response is incomplete. */
  end(): void
}

/** Parses the response to `fetch` in version 2. */
export class FetchReplyV2 implements FetchReply {
  private readonly reader = new PacketReader()
  private section = ""
  private isComplete = false
  readonly shallow: Array<Oid> = []
  readonly unshallow: Array<Oid> = []

  push(bytes: Uint8Array): ReadonlyArray<Uint8Array> {
    const pack: Array<Uint8Array> = []
    for (const one of this.reader.push(bytes)) {
      if (one._tag === "Delimiter") this.section = ""
      else if (one._tag === "Flush") this.isComplete = true
      else if (one._tag === "Data") this.take(one.content, pack)
    }
    return pack
  }

  private take(content: Uint8Array, pack: Array<Uint8Array>): void {
    if (this.section === "packfile") {
      const band = decodeBand(content)
      if (band._tag === "Data") pack.push(band.content)
      return
    }
    const text = packetText(content)
    if (text.startsWith("ERR ")) throw new ProtocolError("refused", text.slice("ERR ".length))
    if (this.section === "") {
      this.section = text
      return
    }
    const [word = "", oid = ""] = text.split(" ")
    if (!isOid(oid)) return
    if (word === "shallow") this.shallow.push(oid)
    else if (word === "unshallow") this.unshallow.push(oid)
  }

  end(): void {
    this.reader.end()
    if (!this.isComplete || this.section !== "packfile") {
      throw new ProtocolError("malformed", "the response ends before its pack does")
    }
  }
}
