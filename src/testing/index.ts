export * as ChainArbitrary from "./ChainArbitrary.js"
export * as ChainLaws from "./ChainLaws.js"
