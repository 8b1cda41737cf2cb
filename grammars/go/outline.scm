; Definitions. A head is the text from the definition's start to its @body.
(function_declaration name: (_) @name body: (_) @body) @definition.function
(function_declaration name: (_) @name !body) @definition.function
(method_declaration name: (_) @name body: (_) @body) @definition.method
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (_) @name type: (interface_type "{" @body)) @definition.interface
(type_spec name: (_) @name) @definition.type
(type_alias name: (_) @name) @definition.type
(field_declaration name: (_) @name tag: (_) @body) @definition.field
(field_declaration name: (_) @name) @definition.field
(method_elem name: (_) @name) @definition.method
(const_spec name: (identifier) @name value: (_) @body) @definition.constant
(const_spec name: (identifier) @name) @definition.constant
(var_spec name: (identifier) @name value: (_) @body) @definition.variable
(var_spec name: (identifier) @name) @definition.variable

; Words before a declaration that apply to each name it declares.
(type_declaration "type" @modifier)
(const_declaration "const" @modifier)
(var_declaration "var" @modifier)

(import_spec path: (_) @import)

(function_declaration name: (identifier) @_name (#match? @_name "^(Test|Benchmark|Example|Fuzz)")) @test
