// What the host uses of `graphql`: the build replaces the import by the code itself, as in every file of this folder.
export {
  buildASTSchema,
  type DocumentNode,
  execute,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  validate
} from "graphql"
