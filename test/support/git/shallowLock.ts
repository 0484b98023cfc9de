import { Lease } from "../../../src/git/disk/lease/Lease.js"
import { RefLocks } from "../../../src/git/disk/refs/RefLocks.js"

/* Holds the lock of a clone's shallow commits, as a clone does for a moment, until it is killed. Argument: the clone. */

const [directory = ""] = process.argv.slice(2)
const owner = new Lease(directory)
owner.open()
const locks = new RefLocks(directory, owner, 1_000)
await locks.take("shallow", locks.prepare("").file)
process.stdout.write("held\n")
setInterval(() => {}, 1_000)
