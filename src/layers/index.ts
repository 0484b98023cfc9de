export * as Main from "./Main.js"
export * as Service from "./Service.js"
export * as Settings from "./Settings.js"
export * as Telemetry from "./Telemetry.js"
