/** The prefix of the branches of proposals; their ids follow. */
export const proposalPrefix = "chainstore-proposal/"
