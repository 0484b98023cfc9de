import { isOid, type Oid } from "../../domain/identifiers/Oid.js"
import { PacketReader, ProtocolError, textOf } from "./PktLine.js"

/** What a server says of itself and of its refs before anything is asked of it: gitprotocol-pack(5), gitprotocol-v2(5). */
export interface Advertisement {
  readonly version: 0 | 1 | 2
  /** Capabilities by name, with the values of those that have some. */
  readonly capabilities: ReadonlyMap<string, string>
  /** The refs that it has; none in version 2, which is asked for them. */
  readonly refs: ReadonlyMap<string, Oid>
  /** Where symbolic refs point, as far as it tells. */
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

/** Reads the answer to `GET info/refs?service=…` of smart HTTP; throws a `ProtocolError` where it is none. */
export const parseAdvertisement = (bytes: Uint8Array, service: string): Advertisement => {
  const reader = new PacketReader()
  const packets = reader.push(bytes)
  reader.end()
  let version: 0 | 1 | 2 = 0
  const refs = new Map<string, Oid>()
  let told: ReturnType<typeof capabilitiesOf> | undefined
  const words: Array<string> = []
  for (const packet of packets) {
    if (packet._tag !== "Data") continue
    const [text = "", rest] = textOf(packet.content).split("\0")
    if (text === `# service=${service}`) continue
    const versioned = /^version ([12])$/.exec(text)
    if (versioned !== null) version = Number(versioned[1]) as 1 | 2
    else if (version === 2) words.push(text)
    else {
      if (text.startsWith("ERR ")) throw new ProtocolError("refused", text.slice("ERR ".length))
      // The server is a shallow clone itself.
      if (text.startsWith("shallow ")) continue
      const [oid = "", name = ""] = text.split(" ")
      if (!isOid(oid)) {
        throw new ProtocolError(
          "malformed",
          /^[0-9a-f]{64}$/.test(oid)
            ? "the repository names its objects by SHA-256, which is not supported"
            : `a ref is said to be at ${JSON.stringify(oid.slice(0, 80))}`
        )
      }
      if (rest !== undefined) told = capabilitiesOf(rest.split(" "))
      // A repository without refs says so by a name that none can have.
      if (name !== "capabilities^{}") refs.set(name, oid)
    }
  }
  const { capabilities, symbolic } = told ?? capabilitiesOf(words)
  return { version, capabilities, refs, symbolic }
}
