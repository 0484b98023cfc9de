import * as fs from "node:fs"

/** Creates the lease directory and the lock of a killed process. */
export const leaveLock = (directory: string, lock: string) => {
  const home = `${directory}/chainstore`
  const [machine, boot] = fs
    .readdirSync(home)
    .find((name) => name.includes("~"))!
    .split("~")
  const dead = `${home}/${[machine, boot, "999999999", "1", "dead"].join("~")}`
  fs.mkdirSync(dead)
  fs.writeFileSync(`${dead}/held`, "")
  fs.linkSync(`${dead}/held`, `${directory}/${lock}`)
  return dead
}
