// The host's imports from `graphql`. The build bundles the imports of this folder into the package.
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
