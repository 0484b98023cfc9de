import { run, serve } from "../Main.js"

run("npm start", "the whole service on one port.", serve)
