// The operations on branches, which are loaded together when one of them is used.
export { compare } from "./BranchCompare.js"
export { createBranch, deleteBranch, listBranches } from "./Branches.js"
export { makeMerge } from "./MergeBranches.js"
