; Scopes and their names.
(function_declaration name: (_) @define) @scope
(generator_function_declaration name: (_) @define) @scope
(function_expression) @scope
(arrow_function) @scope
(method_definition name: (_) @define) @scope
(class_declaration name: (_) @define (class_heritage)? @base) @scope.type
(class (class_heritage)? @base) @scope.type
(for_statement) @scope
(for_in_statement) @scope
(catch_clause) @scope

; Names bound in the enclosing scope.
(variable_declarator name: (identifier) @bind value: (_)? @value)
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @bind.part) value: (_) @value)
(arrow_function parameter: (identifier) @bind)
(array_pattern (identifier) @bind)
(rest_pattern (identifier) @bind)
(assignment_pattern left: (identifier) @bind)
(object_pattern (shorthand_property_identifier_pattern) @bind)
(object_assignment_pattern left: (shorthand_property_identifier_pattern) @bind)
(pair_pattern value: (identifier) @bind)
(for_in_statement left: (identifier) @bind)
(catch_clause parameter: (identifier) @bind)
(assignment_expression
  left: (member_expression object: (_) @_object property: (property_identifier) @define)
  right: [(function_expression) (arrow_function)]
  (#not-match? @_object "[.]prototype$"))
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @owner property: (property_identifier) @_prototype)
    property: (property_identifier) @define)
  right: [(function_expression) (arrow_function)]
  (#eq? @_prototype "prototype"))
(assignment_expression left: (member_expression object: (this) property: (_) @field) right: (_) @value)

(import_statement (import_clause (identifier) @import.default) source: (string (string_fragment) @import.from))
(import_statement
  (import_clause (namespace_import (identifier) @import.alias)) source: (string (string_fragment) @import.module))
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @import.name alias: (_)? @import.alias)))
  source: (string (string_fragment) @import.from))
(export_statement
  (export_clause (export_specifier name: (_) @import.name alias: (_)? @import.alias))
  source: (string (string_fragment) @import.from))
(export_statement (namespace_export (_) @import.alias) source: (string (string_fragment) @import.module))
(export_statement "*" @import.all source: (string (string_fragment) @import.from))
(export_statement (export_clause (export_specifier name: (_) @value alias: (_) @alias)) !source)
(export_statement "default" declaration: (_ name: (_) @default))
(export_statement "default" value: (_) @default)
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports) right: (_) @default
  (#eq? @_module "module") (#eq? @_exports "exports"))
(variable_declarator
  name: (identifier) @import.alias
  value: (call_expression
    function: (identifier) @_require arguments: (arguments (string (string_fragment) @import.module)))
  (#eq? @_require "require"))
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @import.name)
  value: (call_expression
    function: (identifier) @_require arguments: (arguments (string (string_fragment) @import.from)))
  (#eq? @_require "require"))

; Expressions.
(member_expression object: (_) @object property: (_) @member) @access
(subscript_expression object: (_) @object index: (string (string_fragment) @member.quoted)) @access
(call_expression function: (_) @callee) @call
(new_expression constructor: (_) @callee) @call
(this) @self
(super) @super
(await_expression (_) @same) @pass
(parenthesized_expression (_) @same) @pass
(ternary_expression consequence: (_) @same alternative: (_) @same) @pass
(pair key: (property_identifier) @key)
(variable_declarator value: (object) @record)
(pair_pattern key: (property_identifier) @key)
(shorthand_property_identifier) @key
(object_pattern (shorthand_property_identifier_pattern) @key)
(object_assignment_pattern left: (shorthand_property_identifier_pattern) @key)
(string) @literal
(template_string) @literal
(number) @literal
(true) @literal
(false) @literal
(array) @literal
(regex) @literal
(null) @nothing
(undefined) @nothing
