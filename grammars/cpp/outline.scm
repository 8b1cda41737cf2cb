; Functions. The name of an out-of-line definition is its last part; the qualifiers before it are part of the head.
(function_definition
  declarator: (function_declarator declarator: [
    (identifier) @name
    (qualified_identifier name: [(identifier) (template_function)] @name) @container
    (qualified_identifier name: (qualified_identifier name: [(identifier) (template_function)] @name)) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (template_function)] @name))) @container
  ])
  (field_initializer_list) @body) @definition.method
(function_definition
  declarator: [
    (function_declarator declarator: [(field_identifier) (destructor_name) (operator_name)] @name)
    (function_declarator declarator: [(template_function name: (_) @name) (template_method name: (_) @name)])
    (_ (function_declarator declarator: [(identifier) @name (field_identifier) @name (operator_name) @name (template_function name: (_) @name)]))
    (_ (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name)))
    (operator_cast "operator" @name)
  ]
  body: (_) @body) @definition.function
(function_definition
  declarator: [
    (function_declarator declarator: [(field_identifier) (identifier) (destructor_name) (operator_name)] @name)
    (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  ]
  [(default_method_clause) (delete_method_clause) (pure_virtual_clause)]) @definition.function
(function_definition
  !type
  declarator: (function_declarator declarator: (identifier) @name)
  body: (_) @body
  (#not-match? @name "^(TEST|BENCHMARK|SCENARIO|[A-Z0-9]+_[A-Z0-9_]*)$")) @definition.function
(function_definition
  declarator: [
    (function_declarator declarator: (qualified_identifier name: [
      (identifier) @name (destructor_name) @name (operator_name) @name (template_function name: (_) @name)
      (qualified_identifier name: [(identifier) @name (destructor_name) @name (operator_name) @name (template_function name: (_) @name)])
      (qualified_identifier name: (qualified_identifier name: [(identifier) @name (destructor_name) @name (operator_name) @name (template_function name: (_) @name)]))]) @container)
    (_ (function_declarator declarator: (qualified_identifier name: [
      (identifier) @name (destructor_name) @name (operator_name) @name (template_function name: (_) @name)
      (qualified_identifier name: [(identifier) @name (destructor_name) @name (operator_name) @name (template_function name: (_) @name)])]) @container))
    (_ (_ (function_declarator declarator: (qualified_identifier name: [(identifier) (operator_name)] @name) @container)))
    (qualified_identifier name: (operator_cast "operator" @name)) @container
  ]
  [(compound_statement) (try_statement) (default_method_clause)] @body) @definition.method

; Prototypes. Inside a class, the grammar treats them as fields, except for constructors and templates.
(field_declaration
  declarator: [
    (function_declarator declarator: [(field_identifier) @name (operator_name) @name])
    (_ (function_declarator declarator: [(field_identifier) @name (operator_name) @name]))
    (_ (_ (function_declarator declarator: [(field_identifier) @name (operator_name) @name])))
  ]) @definition.method
(declaration
  declarator: [
    (function_declarator declarator: [(destructor_name) @name (operator_name) @name])
    (_ (function_declarator declarator: [(identifier) @name (operator_name) @name]))
    (operator_cast "operator" @name)
  ]) @definition.function

; A static member of a class.
(declaration
  declarator: [
    (init_declarator declarator: [
      (qualified_identifier name: [(identifier) @name (qualified_identifier name: (identifier) @name)]) @container
      (_ declarator: (qualified_identifier name: [(identifier) @name (qualified_identifier name: (identifier) @name)]) @container)
    ] (_) @body)
    (qualified_identifier name: [(identifier) @name (qualified_identifier name: (identifier) @name)]) @container
  ]) @definition.field

; `struct { ... } inner;` defines a nested structure, whose fields are shown below `inner`.
(field_declaration
  type: (_ body: (_) @body)
  declarator: [(field_identifier) @name (_ declarator: (field_identifier) @name)]) @definition.field
(field_declaration
  declarator: [
    (field_identifier) @name
    (_ declarator: (field_identifier) @name)
    (reference_declarator (field_identifier) @name)
    (_ declarator: (_ declarator: (field_identifier) @name))
    (_ declarator: (parenthesized_declarator (_ declarator: (field_identifier) @name)))
    (_ declarator: (_ declarator: (parenthesized_declarator (_ declarator: (field_identifier) @name))))
  ] @declarator
  . default_value: (_)? @body) @definition.field
(field_declaration default_value: (_) @opaque)

(class_specifier
  name: [(type_identifier) @name (template_type name: (_) @name) (qualified_identifier name: (type_identifier) @name) @container]
  body: (_) @body) @definition.class
(struct_specifier
  name: [(template_type name: (_) @name) (qualified_identifier name: (type_identifier) @name) @container]
  body: (_) @body) @definition.struct
; A macro before the name of a class makes the class look like a function with labels.
(function_definition
  type: [(class_specifier !body) (struct_specifier !body)]
  declarator: (identifier) @name
  body: (_) @body) @definition.class
(alias_declaration name: (_) @name) @definition.type
(enum_specifier name: (qualified_identifier name: (type_identifier) @name) @container body: (_) @body) @definition.enum
(concept_definition name: (_) @name (_) @body) @definition.type

(namespace_definition name: (_) @name body: (_) @body) @definition.module
(namespace_definition !name "namespace" @name body: (_) @body) @definition.module
(linkage_specification value: (_) @name body: (declaration_list) @body) @definition.module

; Words before a declaration that apply to what it declares.
(linkage_specification "extern" @modifier value: (_) @modifier body: [(declaration) (function_definition)])
(template_declaration "template" @modifier parameters: (_) @modifier)
(template_declaration (requires_clause) @modifier)
(friend_declaration "friend" @modifier)
(access_specifier) @modifier.rest
(lambda_expression) @opaque
(labeled_statement label: (_) @modifier.rest (#any-of? @modifier.rest "public" "protected" "private"))

(function_definition
  !type
  declarator: (function_declarator declarator: (identifier) @_name)
  (#match? @_name "^(TEST|TEST_[FP]|TYPED_TEST(_P)?|.*TEST_CASE.*)$")) @test
(expression_statement
  (call_expression function: (identifier) @_name)
  (#any-of? @_name "TEST_CASE" "TEST_CASE_METHOD" "TEMPLATE_TEST_CASE" "SCENARIO")) @test
