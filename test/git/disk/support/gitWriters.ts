/** Prints the number of Git processes that may write in a repository, as the user of this process sees them. */
import { gitWritersIn } from "../../../../src/git/disk/processes/GitWriters.js"

const [directory = ""] = process.argv.slice(2)
process.stdout.write(`${gitWritersIn(directory)?.length}`)
