; Scopes and their names.
(abstract_class_declaration name: (_) @define (class_heritage)? @base) @scope.type
(interface_declaration name: (_) @define (extends_type_clause)? @base) @scope.type
(enum_declaration name: (_) @define) @scope.type
(type_alias_declaration name: (_) @define value: (object_type) @scope.type)
(type_alias_declaration name: (_) @define value: (_) @base)
(object_type) @scope.type
(internal_module name: (_) @define) @scope.module
(module name: (_) @define) @scope.module
(function_signature name: (_) @define) @scope
(method_signature name: (_) @define) @scope
(abstract_method_signature name: (_) @define) @scope
(function_type) @scope
(constructor_type) @scope
(call_signature) @scope
(construct_signature) @scope

(function_declaration name: (_) @define return_type: (_) @returns)
(function_signature name: (_) @define return_type: (_) @returns)
(method_definition name: (_) @define return_type: (_) @returns)
(variable_declarator name: (identifier) @bind value: (arrow_function return_type: (_) @returns))
(public_field_definition name: (_) @bind value: (arrow_function return_type: (_) @returns))
(method_signature name: (_) @define return_type: (_) @returns)
(abstract_method_signature name: (_) @define return_type: (_) @returns)

; Names bound in the enclosing scope.
(variable_declarator name: (identifier) @bind type: (_) @type)
(variable_declarator type: (_) @type value: (object) @record)
(required_parameter pattern: (identifier) @bind type: (_)? @type)
(optional_parameter pattern: (identifier) @bind type: (_)? @type)
(required_parameter (accessibility_modifier) pattern: (identifier) @field type: (_)? @type)
(optional_parameter (accessibility_modifier) pattern: (identifier) @field type: (_)? @type)
(property_signature name: (_) @bind type: (_)? @type)
(public_field_definition name: (_) @bind type: (_)? @type value: (_)? @value)
(enum_body name: (property_identifier) @bind)
(enum_assignment name: (property_identifier) @bind)
(type_parameter name: (_) @bind.local)
(index_signature name: (_) @bind.local)
(mapped_type_clause name: (_) @bind.local)
(infer_type (type_identifier) @bind.local)

(import_statement (import_require_clause (identifier) @import.default source: (string (string_fragment) @import.from)))
(export_statement "=" (identifier) @default)

; Expressions.
(nested_type_identifier module: (_) @object name: (_) @member) @access
(nested_identifier object: (_) @object property: (_) @member) @access
(lookup_type . (_) @object (literal_type (string (string_fragment) @member.quoted))) @access
(this_type) @self
(as_expression "as" (_) @type) @typed
(satisfies_expression . (_) @same) @pass
(non_null_expression (_) @same) @pass
((predefined_type) @any (#any-of? @any "any" "unknown" "object"))
