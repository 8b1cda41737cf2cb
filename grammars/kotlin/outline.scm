; Definitions. A head is the text from the definition's start to its body.
(package_header (qualified_identifier) @name) @definition.module
(class_declaration "interface" name: (_) @name (class_body) @body) @definition.interface
(class_declaration "interface" name: (_) @name) @definition.interface
(class_declaration name: (_) @name (enum_class_body) @body) @definition.enum
(class_declaration name: (_) @name (class_body) @body) @definition.class
(class_declaration name: (_) @name) @definition.class
(object_declaration name: (_) @name (class_body) @body) @definition.class
(object_declaration name: (_) @name) @definition.class
(companion_object name: (_) @name (class_body) @body) @definition.impl
(companion_object "companion" @name (class_body) @body) @definition.impl
(enum_entry (identifier) @name (value_arguments) @body) @definition.variant
(enum_entry (identifier) @name (class_body) @body) @definition.variant
(enum_entry (identifier) @name) @definition.variant
; An extension belongs to the type that it extends.
(function_declaration [(user_type) (nullable_type)] @container . name: (_) @name (function_body) @body) @definition.function
(function_declaration [(user_type) (nullable_type)] @container . name: (_) @name) @definition.function
(function_declaration name: (_) @name (function_body) @body) @definition.function
(function_declaration name: (_) @name) @definition.function
(secondary_constructor "constructor" @name (function_value_parameters) . (_) @body) @definition.method
(secondary_constructor "constructor" @name) @definition.method
(type_alias type: (_) @name) @definition.type
(property_declaration
  (modifiers) @_words (variable_declaration . (identifier) @name) . (_) @body
  (#match? @_words "\\bconst\\b")) @definition.constant
(property_declaration [(user_type) (nullable_type)] @container . (variable_declaration . (identifier) @name) . (_) @body) @definition.variable
(property_declaration [(user_type) (nullable_type)] @container . (variable_declaration . (identifier) @name)) @definition.variable
(property_declaration
  (multi_variable_declaration (variable_declaration . (identifier) @name) @declarator) . (_) @body) @definition.variable
(property_declaration (variable_declaration . (annotation)? . (identifier) @name) . (_) @body) @definition.variable
(property_declaration (variable_declaration (identifier) @name)) @definition.variable

(property_declaration (variable_declaration) . (_) @opaque)
(lambda_literal) @opaque
(anonymous_function) @opaque
(object_literal) @opaque
(anonymous_initializer) @opaque
(getter) @opaque
(setter) @opaque
(enum_entry (class_body) @opaque)

(modifiers
  (annotation) @attribute
  (#not-match? @attribute "^@(Suppress|JvmStatic|JvmField|JvmOverloads|JvmName|JvmInline|OptIn|Test|Throws)\\b"))
(modifiers
  (annotation) @omit
  (#match? @omit "^@(Suppress|JvmStatic|JvmField|JvmOverloads|JvmName|JvmInline|OptIn|Test|Throws)\\b"))

(import (qualified_identifier) @import)
(import (qualified_identifier (identifier) @reference .))

(function_declaration
  (modifiers (annotation) @_what)
  (#match? @_what "^@(Test|ParameterizedTest|RepeatedTest)\\b")) @test
