; Scopes and their names.
(function_definition name: (identifier) @define return_type: (_)? @returns) @scope
(lambda) @scope
(list_comprehension) @scope
(set_comprehension) @scope
(dictionary_comprehension) @scope
(generator_expression) @scope
(class_definition name: (identifier) @define superclasses: (argument_list)? @base) @scope.type

; Names bound in the enclosing scope.
(parameters (identifier) @bind)
(lambda_parameters (identifier) @bind)
(typed_parameter . (identifier) @bind type: (_) @type)
(default_parameter name: (identifier) @bind)
(typed_default_parameter name: (identifier) @bind type: (_) @type)
(list_splat_pattern (identifier) @bind)
(dictionary_splat_pattern (identifier) @bind)
(assignment left: (identifier) @bind type: (_)? @type right: (_)? @value)
(augmented_assignment left: (identifier) @bind)
(type_alias_statement left: (type (identifier) @bind) right: (_) @type)
(pattern_list (identifier) @bind)
(tuple_pattern (identifier) @bind)
(for_statement left: (identifier) @bind)
(for_in_clause left: (identifier) @bind)
(as_pattern . (_) @value alias: (as_pattern_target (identifier) @bind))
(named_expression name: (identifier) @bind value: (_) @value)
(global_statement (identifier) @outer)
(nonlocal_statement (identifier) @outer)

; Names set on an instance.
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @field) type: (_)? @type right: (_)? @value
  (#eq? @_self "self"))

(import_statement name: (dotted_name) @import.module)
(import_statement name: (aliased_import name: (dotted_name) @import.module alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.from name: (dotted_name (identifier) @import.name))
(import_from_statement
  module_name: (_) @import.from
  name: (aliased_import name: (dotted_name (identifier) @import.name) alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.from (wildcard_import) @import.all)

; Expressions.
(attribute object: (_) @object attribute: (identifier) @member) @access
(attribute object: (identifier) @self (#any-of? @self "self" "cls"))
(type (identifier) @self (#eq? @self "Self"))
(call function: (_) @callee) @call
(call function: (identifier) @_super (#eq? @_super "super")) @super
(await (_) @same) @pass
(parenthesized_expression (_) @same) @pass
(conditional_expression . (_) @same (_) (_) @same .) @pass
(boolean_operator left: (_) @same right: (_) @same) @pass
(keyword_argument name: (identifier) @label)
(string) @literal
(concatenated_string) @literal
(integer) @literal
(float) @literal
(true) @literal
(false) @literal
(list) @literal
(tuple) @literal
(set) @literal
(dictionary) @literal
(none) @nothing
((identifier) @any (#eq? @any "Any"))
