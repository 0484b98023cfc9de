import { gitRemoteContract } from "../contract/GitRemoteContract.js"
import { subject } from "../support/git/HttpContractSubject.js"

const sizes = { files: 500, largeBlob: 100_000, listing: 2_000, interruptions: 20, interruptWithin: 20 }

gitRemoteContract({ name: "GitHost over git http-backend", make: subject(), sizes })
