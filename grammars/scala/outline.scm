; Definitions. A head is the text from the definition's start to its body.
(package_clause name: (_) @name body: (_) @body) @definition.module
(package_clause name: (_) @name) @definition.module
(package_object name: (_) @name body: (_) @body) @definition.module
(class_definition name: (_) @name body: (_) @body) @definition.class
(class_definition name: (_) @name) @definition.class
(object_definition name: (_) @name body: (_) @body) @definition.class
(object_definition name: (_) @name) @definition.class
(trait_definition name: (_) @name body: (_) @body) @definition.interface
(trait_definition name: (_) @name) @definition.interface
(enum_definition name: (_) @name body: (_) @body) @definition.enum
(simple_enum_case name: (_) @name extend: (_) @body) @definition.variant
(simple_enum_case name: (_) @name) @definition.variant
(full_enum_case name: (_) @name extend: (_) @body) @definition.variant
(full_enum_case name: (_) @name) @definition.variant
(function_definition name: (_) @name body: (_) @body) @definition.function
(function_declaration name: (_) @name) @definition.function
(type_definition name: (_) @name) @definition.type
(val_definition pattern: (identifier) @name value: (_) @body) @definition.variable
(val_definition pattern: [(identifiers (identifier) @name @declarator) (tuple_pattern (identifier) @name @declarator)] value: (_) @body) @definition.variable
(var_definition pattern: [(identifiers (identifier) @name @declarator) (tuple_pattern (identifier) @name @declarator)] value: (_) @body) @definition.variable
(var_definition pattern: (identifier) @name value: (_) @body) @definition.variable
(val_declaration name: (_) @name) @definition.variable
(var_declaration name: (_) @name) @definition.variable
(given_definition name: (_) @name "with" @body) @definition.class
(given_definition name: (_) @name body: (_) @body) @definition.class
(given_definition name: (_) @name) @definition.class
(given_definition return_type: [(type_identifier) @name (generic_type type: (_) @name)] "with" @body) @definition.impl
(given_definition return_type: [(type_identifier) @name (generic_type type: (_) @name)] body: (_) @body) @definition.impl
(extension_definition parameters: (parameters (parameter type: (_) @name)) body: (_) @body) @definition.impl

(val_definition value: (_) @opaque)
(var_definition value: (_) @opaque)
(lambda_expression) @opaque
(instance_expression (template_body) @opaque)
(for_expression) @opaque
(if_expression) @opaque
(match_expression) @opaque
(try_expression) @opaque
(while_expression) @opaque
(call_expression arguments: [(block) (case_block) (colon_argument)] @opaque)
(infix_expression right: (block) @opaque)

(annotation
  name: (_) @_name
  (#not-any-of? @_name "tailrec" "inline" "nowarn" "SuppressWarnings" "switch" "unchecked" "Test" "unused")) @attribute
(annotation
  name: (_) @_name
  (#any-of? @_name "tailrec" "inline" "nowarn" "SuppressWarnings" "switch" "unchecked" "Test" "unused")) @omit

(import_declaration . (_) @import (_) @import .)
(import_declaration path: (identifier) @reference .)
(import_declaration (namespace_selectors (identifier) @reference))

(call_expression
  function: (call_expression function: (identifier) @_name arguments: (arguments . (_)))
  arguments: [(block) (colon_argument)]
  (#any-of? @_name "test" "it" "property" "testCases")) @test
(infix_expression operator: (identifier) @_in right: (block) (#eq? @_in "in")) @test
(function_definition (annotation name: (_) @_name) (#any-of? @_name "Test" "ParameterizedTest")) @test
