; Definitions. A head is the text from the definition's start to its body.
(namespace_declaration name: (_) @name body: (_) @body) @definition.module
(file_scoped_namespace_declaration name: (_) @name) @definition.module
(class_declaration name: (_) @name body: (_) @body) @definition.class
(class_declaration name: (_) @name) @definition.class
(struct_declaration name: (_) @name body: (_) @body) @definition.struct
(struct_declaration name: (_) @name) @definition.struct
(record_declaration name: (_) @name body: (_) @body) @definition.struct
(record_declaration name: (_) @name) @definition.struct
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_member_declaration name: (_) @name value: (_) @body) @definition.variant
(enum_member_declaration name: (_) @name) @definition.variant
(delegate_declaration name: (_) @name) @definition.type
(method_declaration name: (_) @name body: (_) @body) @definition.method
(method_declaration name: (_) @name) @definition.method
; Functions of a program without classes.
(local_function_statement name: (_) @name body: (_) @body) @definition.function
(constructor_declaration name: (_) @name (constructor_initializer) @body) @definition.method
(constructor_declaration name: (_) @name body: (_) @body) @definition.method
(constructor_declaration name: (_) @name) @definition.method
(destructor_declaration name: (_) @name body: (_) @body) @definition.method
(operator_declaration operator: _ @name body: (_) @body) @definition.method
(operator_declaration operator: _ @name) @definition.method
(conversion_operator_declaration type: (_) @name body: (_) @body) @definition.method
(conversion_operator_declaration type: (_) @name) @definition.method

; The head includes which accessors exist, but not their bodies.
(indexer_declaration "this" @name accessors: (accessor_list (accessor_declaration body: (_))) @body) @definition.method
(indexer_declaration "this" @name value: (_) @body) @definition.method
(indexer_declaration "this" @name) @definition.method
(property_declaration name: (_) @name accessors: (accessor_list (accessor_declaration body: (_))) @body) @definition.field
(property_declaration name: (_) @name value: (_) @body) @definition.field
(property_declaration name: (_) @name) @definition.field
(event_declaration name: (_) @name accessors: (_) @body) @definition.field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name) @declarator)) @definition.field

(field_declaration
  (modifier) @_word
  (variable_declaration (variable_declarator name: (_) @name (_) @body) @declarator)
  (#eq? @_word "const")) @definition.constant
(field_declaration
  (modifier) @_word
  (modifier) @_other
  (variable_declaration (variable_declarator name: (_) @name (_) @body) @declarator)
  (#eq? @_word "static")
  (#eq? @_other "readonly")) @definition.constant
(field_declaration (variable_declaration (variable_declarator name: (_) @name . (_)? @body) @declarator)) @definition.field

(field_declaration (variable_declaration (variable_declarator (_) @opaque)))
(property_declaration value: (_) @opaque)

(attribute_list
  . (attribute name: (_) @_name)
  (#not-any-of? @_name "MethodImpl" "DebuggerDisplay" "DebuggerStepThrough" "RequiresDynamicCode" "RequiresUnreferencedCode" "SuppressMessage" "UnconditionalSuppressMessage" "CompilerGenerated" "GeneratedCode" "EditorBrowsable" "ExcludeFromCodeCoverage")) @attribute
(attribute_list
  . (attribute name: (_) @_name)
  (#any-of? @_name "MethodImpl" "DebuggerDisplay" "DebuggerStepThrough" "RequiresDynamicCode" "RequiresUnreferencedCode" "SuppressMessage" "UnconditionalSuppressMessage" "CompilerGenerated" "GeneratedCode" "EditorBrowsable" "ExcludeFromCodeCoverage")) @omit

(lambda_expression) @opaque
(anonymous_method_expression) @opaque

(using_directive [(identifier) (qualified_name) (alias_qualified_name)] @import .)

(method_declaration
  (attribute_list (attribute name: (identifier) @_name))
  (#any-of? @_name "Fact" "Theory" "Test" "TestCase" "TestMethod" "DataTestMethod" "SkippableFact" "SkippableTheory")) @test
