#!/usr/bin/env node
import { version } from "../Version.js"

// `--version` alone does not load the command line.
if (process.argv.length === 3 && process.argv[2] === "--version") console.log(version)
else (await import("../CommandLine.js")).runCommand()
