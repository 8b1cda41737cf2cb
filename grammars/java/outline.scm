; Definitions. A head is the text from the definition's start to its @body.
(package_declaration (_) @name) @definition.module
(class_declaration name: (_) @name body: (_) @body) @definition.class
(record_declaration name: (_) @name body: (_) @body) @definition.struct
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_constant name: (_) @name arguments: (_) @body) @definition.variant
(enum_constant name: (_) @name body: (_) @body) @definition.variant
(enum_constant name: (_) @name) @definition.variant
(method_declaration name: (_) @name body: (_) @body) @definition.method
(method_declaration name: (_) @name) @definition.method
(constructor_declaration name: (_) @name body: (_) @body) @definition.method
(compact_constructor_declaration name: (_) @name body: (_) @body) @definition.method
(annotation_type_element_declaration name: (_) @name) @definition.method
(field_declaration
  (modifiers) @_words
  declarator: (variable_declarator name: (_) @name value: (_) @body) @declarator
  (#match? @_words "\\bstatic\\b")
  (#match? @_words "\\bfinal\\b")) @definition.constant
(field_declaration declarator: (variable_declarator name: (_) @name value: (_)? @body) @declarator) @definition.field
(constant_declaration declarator: (variable_declarator name: (_) @name value: (_) @body) @declarator) @definition.constant

(object_creation_expression (class_body) @opaque)
(lambda_expression) @opaque
(enum_constant body: (_) @opaque)
(field_declaration declarator: (variable_declarator value: (_) @opaque))

(modifiers
  [(annotation name: (_) @_name) (marker_annotation name: (_) @_name)] @attribute
  (#not-any-of? @_name "Override" "SuppressWarnings" "SafeVarargs" "Generated" "Serial"))
(modifiers
  [(annotation name: (_) @_name) (marker_annotation name: (_) @_name)] @omit
  (#any-of? @_name "Override" "SuppressWarnings" "SafeVarargs" "Generated" "Serial"))

(import_declaration [(identifier) (scoped_identifier)] @import)
(import_declaration (scoped_identifier name: (identifier) @reference) .)

(method_declaration
  (modifiers [(annotation name: (_) @_name) (marker_annotation name: (_) @_name)])
  (#any-of? @_name "Test" "ParameterizedTest" "RepeatedTest" "TestFactory" "TestTemplate" "Property")) @test
; Tests in the style of JUnit 3, which are recognized by name.
(method_declaration
  (modifiers) @_words
  type: (void_type)
  name: (_) @_name
  parameters: (formal_parameters . ")")
  (#eq? @_words "public")
  (#match? @_name "^test[A-Z_]")) @test
