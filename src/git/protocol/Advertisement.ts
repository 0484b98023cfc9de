import { isOid, type Oid } from "../../domain/identifiers/Oid.js"
import { PacketReader, ProtocolError, packetText } from "./PktLine.js"

/** The first response of a server: its protocol version, capabilities and refs. See gitprotocol-pack(5), gitprotocol-v2(5). */
export interface Advertisement {
  readonly version: 0 | 1 | 2
  /** Values of capabilities by name; "" for a capability without a value. */
  readonly capabilities: ReadonlyMap<string, string>
  /** The refs. Empty in version 2, where `ls-refs` lists them. */
  readonly refs: ReadonlyMap<string, Oid>
  /** Targets of the symbolic refs that the server names. */
  readonly symbolic: ReadonlyMap<string, string>
}

const capabilitiesOf = (words: ReadonlyArray<string>) => {
  const capabilities = new Map<string, string>()
  const symbolic = new Map<string, string>()
  for (const word of words) {
    const at = word.indexOf("=")
    const name = at < 0 ? word : word.slice(0, at)
    const value = at < 0 ? "" : word.slice(at + 1)
    if (name === "symref") {
      const [from = "", to = ""] = value.split(":")
      symbolic.set(from, to)
    } else if (name !== "") capabilities.set(name, value)
  }
  return { capabilities, symbolic }
}

/** Parses the response to `GET info/refs?service=…` of smart HTTP. Throws a `ProtocolError` if the bytes are malformed. */
export const parseAdvertisement = (bytes: Uint8Array, service: string): Advertisement => {
  const reader = new PacketReader()
  const packets = reader.push(bytes)
  reader.end()
  let version: 0 | 1 | 2 = 0
  const refs = new Map<string, Oid>()
  let parsedCapabilities: ReturnType<typeof capabilitiesOf> | undefined
  const words: Array<string> = []
  for (const packet of packets) {
    if (packet._tag !== "Data") continue
    const [text = "", rest] = packetText(packet.content).split("\0")
    if (text === `# service=${service}`) continue
    const versioned = /^version ([12])$/.exec(text)
    if (versioned !== null) version = Number(versioned[1]) as 1 | 2
    else if (version === 2) words.push(text)
    else {
      if (text.startsWith("ERR ")) throw new ProtocolError("refused", text.slice("ERR ".length))
      // The repository of the server is a shallow clone.
      if (text.startsWith("shallow ")) continue
      const [oid = "", name = ""] = text.split(" ")
      if (!isOid(oid)) {
        throw /^[0-9a-f]{64}$/.test(oid)
          ? new ProtocolError("unsupported", "the server names its objects by sha256, not by sha1")
          : new ProtocolError(
              "malformed",
              `a ref has the invalid object id ${JSON.stringify(oid.slice(0, 80))}`
            )
      }
      if (rest !== undefined) parsedCapabilities = capabilitiesOf(rest.split(" "))
      // A repository without refs sends one line with this name, for its capabilities.
      if (name !== "capabilities^{}") refs.set(name, oid)
    }
  }
  const { capabilities, symbolic } = parsedCapabilities ?? capabilitiesOf(words)
  return { version, capabilities, refs, symbolic }
}
