#!/usr/bin/env node
import { version } from "../Version.js"

// Whoever asks for the version alone does not wait for the command line to load.
if (process.argv.length === 3 && process.argv[2] === "--version") console.log(version)
else (await import("../CommandLine.js")).runCommand()
