import { isOid, type Oid } from "../../domain/identifiers/Oid.js"
import { bandOf, delimiter, flush, joined, PacketReader, ProtocolError, packet, textOf } from "./PktLine.js"

/*
 * Requests and answers of Git's protocol version 2 to `git-upload-pack`: gitprotocol-v2(5). Each request is a whole one,
 * so that nothing has to be asked before it.
 */

const command = (name: string, agent: string, args: ReadonlyArray<string>): Uint8Array =>
  joined([
    packet(`command=${name}\n`),
    packet(`agent=${agent}\n`),
    packet("object-format=sha1\n"),
    delimiter,
    ...args.map((arg) => packet(`${arg}\n`)),
    flush
  ])

/** A ref as a server lists it. */
export interface ListedRef {
  readonly name: string
  /** None where it points to a branch that has no commit yet. */
  readonly oid: Oid | undefined
  /** What a tag is of. */
  readonly peeled: Oid | undefined
  /** The ref that it points to. */
  readonly target: string | undefined
}

/** Asks for the refs whose names begin with one of the prefixes. */
export const lsRefs = (agent: string, prefixes: ReadonlyArray<string>): Uint8Array =>
  command("ls-refs", agent, [
    "peel",
    "symrefs",
    "unborn",
    ...prefixes.map((prefix) => `ref-prefix ${prefix}`)
  ])

/** Reads the answer; throws a `ProtocolError` where it is none. */
export const parseRefs = (bytes: Uint8Array): ReadonlyArray<ListedRef> => {
  const reader = new PacketReader()
  const packets = reader.push(bytes)
  reader.end()
  if (packets.at(-1)?._tag !== "Flush") throw new ProtocolError("malformed", "the list of refs has no end")
  return packets.flatMap((one) => {
    if (one._tag !== "Data") return []
    const text = textOf(one.content)
    if (text.startsWith("ERR ")) throw new ProtocolError("refused", text.slice("ERR ".length))
    const [oid = "", name = "", ...attributes] = text.split(" ")
    if (name === "" || (oid !== "unborn" && !isOid(oid))) {
      throw new ProtocolError("malformed", `a ref is listed as ${JSON.stringify(text.slice(0, 120))}`)
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

/** What is to be fetched. */
export interface FetchRequest {
  readonly wants: ReadonlyArray<Oid>
  /** Commits that are here with everything that they lead to, as far as `shallow` says. */
  readonly haves?: ReadonlyArray<Oid> | undefined
  /** Commits that are here without their parents. */
  readonly shallow?: ReadonlyArray<Oid> | undefined
  /** Commits of each line of history that are sent at most. */
  readonly depth?: number | undefined
  /** What is left out, such as `blob:none`. */
  readonly filter?: string | undefined
}

/**
 * Whether the pack may hold differences to objects that it does not hold. Where nothing is left out, files of commits that
 * were fetched without them may be what it differs from.
 */
export const isThin = ({ filter }: FetchRequest): boolean => filter !== undefined

export const fetch = (agent: string, request: FetchRequest): Uint8Array => {
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

/** Reads the response to a fetch as it comes. */
export interface FetchReply {
  /** Commits that are sent without their parents, and those that were and are now sent with them. */
  readonly shallow: ReadonlyArray<Oid>
  readonly unshallow: ReadonlyArray<Oid>
  /** The bytes of the pack in these bytes; throws a `ProtocolError` where they are no response, or say that it is refused. */
  push(bytes: Uint8Array): ReadonlyArray<Uint8Array>
  /** Throws where the response ended too early. */
  end(): void
}

/** Reads the response to `fetch` in version 2. */
export class FetchReplyV2 implements FetchReply {
  private readonly reader = new PacketReader()
  private section = ""
  private isOver = false
  readonly shallow: Array<Oid> = []
  readonly unshallow: Array<Oid> = []

  push(bytes: Uint8Array): ReadonlyArray<Uint8Array> {
    const pack: Array<Uint8Array> = []
    for (const one of this.reader.push(bytes)) {
      if (one._tag === "Delimiter") this.section = ""
      else if (one._tag === "Flush") this.isOver = true
      else if (one._tag === "Data") this.take(one.content, pack)
    }
    return pack
  }

  private take(content: Uint8Array, pack: Array<Uint8Array>): void {
    if (this.section === "packfile") {
      const band = bandOf(content)
      if (band._tag === "Data") pack.push(band.content)
      return
    }
    const text = textOf(content)
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
    if (!this.isOver || this.section !== "packfile") {
      throw new ProtocolError("malformed", "the answer ends before its pack does")
    }
  }
}
