; Definitions. A head is the text from the definition's start to its @body.
(function_declaration name: (_) @name body: (_) @body) @definition.function
(function_declaration name: (_) @name !body) @definition.function
; A method belongs to the type of its receiver.
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @container)) name: (_) @name body: (_) @body) @definition.method
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @container)) name: (_) @name !body) @definition.method
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (_) @name type: (interface_type "{" @body)) @definition.interface
(type_spec name: (_) @name) @definition.type
(type_alias name: (_) @name) @definition.type
(field_declaration name: (_) @name @declarator tag: (_) @body) @definition.field
(field_declaration name: (_) @name @declarator) @definition.field
; An embedded type is a field named after the type.
(field_declaration
  !name
  type: [
    (type_identifier) @name @reference
    (qualified_type name: (_) @name @reference)
    (generic_type type: [(type_identifier) @name @reference (qualified_type name: (_) @name @reference)])
  ]
  tag: (_)? @body) @definition.field
(method_elem name: (_) @name) @definition.method
(const_spec name: (identifier) @name @declarator value: (_) @body) @definition.constant
(const_spec name: (identifier) @name @declarator) @definition.constant
(var_spec name: (identifier) @name @declarator value: (_) @body) @definition.variable
(var_spec name: (identifier) @name @declarator) @definition.variable

; Variables of a closure are local.
(func_literal) @opaque

; Words before a declaration that apply to each name it declares.
(type_declaration "type" @modifier)
(const_declaration "const" @modifier)
(var_declaration "var" @modifier)

(import_spec path: (_) @import)

(function_declaration name: (identifier) @_name (#match? @_name "^(Test|Benchmark|Example|Fuzz)")) @test
