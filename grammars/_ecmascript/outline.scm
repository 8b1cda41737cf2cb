; Definitions. A head is the text from the definition's start to its @body.
(function_declaration name: (_) @name body: (_) @body) @definition.function
(generator_function_declaration name: (_) @name body: (_) @body) @definition.function
(class_declaration name: (_) @name body: (_) @body) @definition.class
(method_definition name: (_) @name body: (_) @body) @definition.method
(variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) @definition.function
(variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
; A chain of assignments is one definition, with the name next to the function.
(variable_declarator
  name: (identifier)
  value: (assignment_expression
    left: (member_expression property: (property_identifier) @name)
    right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)])) @definition.function
(variable_declarator name: (identifier) @name value: (_) @body) @definition.variable
(variable_declarator name: (identifier) @name !value) @definition.variable
(assignment_expression
  left: (member_expression)
  right: (assignment_expression
    left: (member_expression property: (property_identifier) @name)
    right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)])) @definition.function
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)]) @definition.function

; Exports without a name.
(export_statement "default" @name value: (function_expression !name body: (_) @body)) @definition.function
(export_statement "default" @name value: (generator_function !name body: (_) @body)) @definition.function
(export_statement "default" @name value: (arrow_function body: (_) @body)) @definition.function
(export_statement "default" @name value: (class !name body: (_) @body)) @definition.class

; Words before a declaration that apply to each name it declares.
(export_statement "export" @modifier declaration: (_))
(export_statement "default" @modifier declaration: (_))
(lexical_declaration kind: _ @modifier)
(variable_declaration "var" @modifier)

(assignment_expression left: (member_expression object: (this) property: (_) @instance))

(decorator) @attribute

(import_statement source: (string (string_fragment) @import))
(export_statement source: (string (string_fragment) @import))
(variable_declarator
  value: (call_expression function: (identifier) @_require arguments: (arguments (string (string_fragment) @import)))
  (#eq? @_require "require"))

(expression_statement
  (call_expression function: (identifier) @_name arguments: (arguments . (_)))
  (#any-of? @_name "it" "test")) @test
