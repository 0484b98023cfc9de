import * as LivenessLocks from "../../../src/git/disk/processes/LivenessLocks.js"
import { processDirectory } from "../processDirectory.js"

// All lease directories of a process on one file system share two locked files. While these are open, as in a service that has
// another repository open, the opening of a repository starts no `flock`.
LivenessLocks.acquire(processDirectory())
