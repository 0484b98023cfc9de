// What a store does with branches, loaded as one when any of it is used.
export { compare } from "./BranchCompare.js"
export { createBranch, deleteBranch, listBranches } from "./Branches.js"
export { makeMerge } from "./MergeBranches.js"
