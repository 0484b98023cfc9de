/** A response that is not of Git's protocol, or in which the server reports an error. */
export class ProtocolError extends Error {
  constructor(
    /**
     * `malformed`: not of Git's protocol. `refused`: an error that the server reports. `large`: more than the allowed size.
     * `unsupported`: a repository that this client cannot read.
     */
    readonly kind: "malformed" | "refused" | "large" | "unsupported",
    message: string
  ) {
    super(message)
  }
}

/** A packet with content, or a special packet without content. See gitprotocol-common(5), "pkt-line Format". */
export type Packet =
  | { readonly _tag: "Data"; readonly content: Uint8Array }
  | { readonly _tag: "Flush" }
  | { readonly _tag: "Delimiter" }
  | { readonly _tag: "ResponseEnd" }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The largest content of a packet, in bytes: 65,520 with the length field. */
export const maxContentBytes = 65_516

const specialPackets: Readonly<Record<number, Packet>> = {
  0: { _tag: "Flush" },
  1: { _tag: "Delimiter" },
  2: { _tag: "ResponseEnd" }
}

export const flush: Uint8Array = encoder.encode("0000")
export const delimiter: Uint8Array = encoder.encode("0001")

/** Encodes one packet. */
export const encodePacket = (content: string | Uint8Array): Uint8Array => {
  const bytes = typeof content === "string" ? encoder.encode(content) : content
  const whole = new Uint8Array(bytes.length + 4)
  whole.set(encoder.encode((bytes.length + 4).toString(16).padStart(4, "0")))
  whole.set(bytes, 4)
  return whole
}

/** The text of a packet, without a final line feed. */
export const packetText = (content: Uint8Array): string => decoder.decode(content).replace(/\n$/, "")

export const concatBytes = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Decodes packets from bytes that arrive in pieces of any size. */
export class PacketReader {
  private rest: Uint8Array = new Uint8Array(0)

  /**
   * Returns the packets that are complete with these bytes. Throws a `ProtocolError` if the bytes are malformed. Decoding stops
   * after a packet for which `isLast` is true; the bytes behind it are returned by `remaining`.
   */
  push(bytes: Uint8Array, isLast: (packet: Packet) => boolean = () => false): ReadonlyArray<Packet> {
    const all = this.rest.length === 0 ? bytes : concatBytes([this.rest, bytes])
    const packets: Array<Packet> = []
    let at = 0
    while (all.length - at >= 4) {
      const last = packets.at(-1)
      if (last !== undefined && isLast(last)) break
      const head = decoder.decode(all.subarray(at, at + 4))
      const length = /^[0-9a-fA-F]{4}$/.test(head) ? Number.parseInt(head, 16) : 3
      const special = specialPackets[length]
      if (special !== undefined) {
        packets.push(special)
        at += 4
        continue
      }
      if (length < 4 || length > maxContentBytes + 4) {
        throw new ProtocolError(
          "malformed",
          `a packet begins with ${JSON.stringify(head)} instead of its length`
        )
      }
      if (all.length - at < length) break
      packets.push({ _tag: "Data", content: all.subarray(at + 4, at + length) })
      at += length
    }
    this.rest = at === all.length ? new Uint8Array(0) : all.slice(at)
    return packets
  }

  /** Returns and removes the bytes that were not decoded. */
  remaining(): Uint8Array {
    const { rest } = this
    this.rest = new Uint8Array(0)
    return rest
  }

  /** Throws if the bytes ended inside a packet. */
  end(): void {
    if (this.rest.length > 0) throw new ProtocolError("malformed", "the response ends inside a packet")
  }
}

/** The content of one packet of a side band. See gitprotocol-pack(5), "side-band-64k". */
export type Band =
  | { readonly _tag: "Data"; readonly content: Uint8Array }
  | { readonly _tag: "Progress"; readonly text: string }

/** Decodes a packet of a side band. Throws a `ProtocolError` with the server's message if the packet is an error. */
export const decodeBand = (content: Uint8Array): Band => {
  const rest = content.subarray(1)
  switch (content[0]) {
    case 1:
      return { _tag: "Data", content: rest }
    case 2:
      return { _tag: "Progress", text: decoder.decode(rest) }
    case 3:
      throw new ProtocolError("refused", packetText(rest))
    default:
      throw new ProtocolError("malformed", `a packet is of the unknown band ${content[0] ?? "nothing"}`)
  }
}
