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
    left: (member_expression property: (property_identifier) @name) @container
    right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)])) @definition.function
(variable_declarator name: (identifier) @name value: (_) @body) @definition.variable
(variable_declarator name: (identifier) @name !value) @definition.variable
; Names that come from another module are imports.
(variable_declarator
  name: [(object_pattern) (array_pattern)]
  value: (call_expression function: (identifier) @_require)
  (#eq? @_require "require")) @local
(variable_declarator
  name: [
    (object_pattern [
      (shorthand_property_identifier_pattern) @name @declarator
      (pair_pattern value: (identifier) @name) @declarator
      (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name) @declarator
      (rest_pattern (identifier) @name) @declarator
    ])
    (array_pattern [(identifier) @name @declarator (rest_pattern (identifier) @name) @declarator])
  ]
  value: (_) @body) @definition.variable

; Members that are assigned from outside belong to the object before the name; members of a prototype, to its type.
(assignment_expression
  left: (member_expression object: (_) @name property: (property_identifier) @_prototype)
  right: (object) @body
  (#eq? @_prototype "prototype")) @definition.impl
(assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @container property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]
  (#eq? @_prototype "prototype")) @definition.method
(assignment_expression
  left: (member_expression property: (property_identifier) @name) @container
  right: (object [
    (method_definition)
    (pair value: [(function_expression) (arrow_function) (generator_function)])
    (pair value: (object [(method_definition) (pair value: [(function_expression) (arrow_function) (generator_function)])]))
  ]) @body) @definition.variable
(assignment_expression
  left: (member_expression property: (property_identifier) @name) @container
  right: (class body: (_) @body)) @definition.class
(assignment_expression
  left: (member_expression)
  right: (assignment_expression
    left: (member_expression property: (property_identifier) @name) @container
    right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)])) @definition.function
(assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)
  right: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) @definition.function
(assignment_expression
  left: (member_expression property: (property_identifier) @name) @container
  right: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) @definition.function

; Functions of an object, and objects that contain functions.
(pair
  key: [(property_identifier) (string) (private_property_identifier)] @name
  value: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) @definition.method
(pair
  key: [(property_identifier) (string)] @name
  value: (object [
    (method_definition)
    (pair value: [(function_expression) (arrow_function) (generator_function)])
  ]) @body) @definition.field

; What a callback defines is local to it, except in a module that is a callback itself.
(call_expression
  function: [(member_expression) (call_expression)]
  arguments: (arguments [(arrow_function) (function_expression) (generator_function)] @opaque))
(call_expression
  function: (identifier) @_callee
  arguments: (arguments [(arrow_function) (function_expression) (generator_function)] @opaque)
  (#not-any-of? @_callee "define" "require"))
(new_expression arguments: (arguments [(arrow_function) (function_expression)] @opaque))
(class_static_block body: (_) @opaque)

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
