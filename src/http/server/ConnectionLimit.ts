import { readFileSync } from "node:fs"
import type { Server } from "node:http"
import type { Socket } from "node:net"
import { isBusy, lastActive } from "./ClientConnection.js"

/** The maximum number of connections, whatever the limit of open files. */
const maxDescriptors = 16_384

const openFiles = (): number => {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return soft === undefined ? Infinity : Number(soft)
  } catch {
    return 4096
  }
}

/**
 * The default number of connections: half of the file descriptors, or all but 1,024 if that is more. The rest stay free
 * for files and for the pipes of Git processes.
 */
export const fromOpenFiles = (): number => {
  const files = openFiles()
  return Math.max(1, Math.floor(Math.min(maxDescriptors, Math.max(files / 2, files - 1024))))
}

/**
 * Limits the number of open connections of some servers. Above the limit, the connections that have been idle longest are
 * closed, an eighth of the limit at a time. If no connection is idle, the new connection is closed.
 */
export const enforce = (servers: ReadonlyArray<Server>, maxConnections: number): void => {
  const open = new Map<Socket, number>()
  const closeIdle = (newest: Socket) => {
    const idle = Array.from(open, ([socket, since]) => ({ socket, since: lastActive(socket) ?? since }))
      .filter(({ socket }) => socket !== newest && !isBusy(socket))
      .sort((a, b) => a.since - b.since)
      .slice(0, Math.max(1, maxConnections >> 3))
    for (const { socket } of idle.length === 0 ? [{ socket: newest }] : idle) {
      open.delete(socket)
      socket.destroy()
    }
  }
  for (const server of servers) {
    server.on("connection", (socket: Socket) => {
      open.set(socket, performance.now())
      socket.once("close", () => open.delete(socket))
      if (open.size > maxConnections) closeIdle(socket)
    })
  }
}
