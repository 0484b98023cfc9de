import { host, run } from "../Main.js"

run("npm run host", "the GitHub-compatible host alone.", host)
