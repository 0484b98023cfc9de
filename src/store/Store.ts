import * as Context from "effect/Context"
import type { StoreService } from "./StoreService.js"

export type * from "./StoreService.js"

export class Store extends Context.Tag("chainstore/store/Store")<Store, StoreService>() {}
