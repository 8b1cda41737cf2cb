; Definitions. A head is the text from the definition's start to its body.
(class_declaration declaration_kind: "class" name: (_) @name body: (_) @body) @definition.class
(class_declaration declaration_kind: "actor" name: (_) @name body: (_) @body) @definition.class
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @definition.struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @definition.enum
(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @definition.impl
(protocol_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_entry name: (_) @name raw_value: (_) @body) @definition.variant
(enum_entry name: (_) @name) @definition.variant
(function_declaration name: _ @name body: (_) @body) @definition.function
(protocol_function_declaration name: _ @name) @definition.method
(init_declaration name: _ @name body: (_) @body) @definition.method
(init_declaration name: _ @name) @definition.method
(subscript_declaration "subscript" @name (computed_property (computed_getter (statements))) @body) @definition.method
(subscript_declaration "subscript" @name (computed_property (statements)) @body) @definition.method
(subscript_declaration "subscript" @name) @definition.method
(property_declaration name: (pattern bound_identifier: (_) @name) @declarator . (type_annotation)? . value: (_) @body) @definition.variable
(property_declaration name: (pattern bound_identifier: (_) @name) computed_value: (_) @body) @definition.variable
(property_declaration name: (pattern bound_identifier: (_) @name) (willset_didset_block) @body) @definition.variable
(property_declaration name: (pattern bound_identifier: (_) @name) @declarator) @definition.variable
(property_declaration name: (pattern (pattern (simple_identifier) @name) @declarator) value: (_) @body) @definition.variable
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @definition.field
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type
(macro_declaration (simple_identifier) @name definition: (_) @body) @definition.macro
(macro_declaration (simple_identifier) @name) @definition.macro

(property_declaration value: (_) @opaque)
(computed_property) @opaque
(willset_didset_block) @opaque
(lambda_literal) @opaque

(modifiers
  (attribute . (_) @_name) @attribute
  (#not-any-of? @_name "discardableResult" "inlinable" "inline" "usableFromInline" "frozen" "Test" "_alwaysEmitIntoClient" "_transparent"))
(modifiers
  (attribute . (_) @_name) @omit
  (#any-of? @_name "discardableResult" "inlinable" "inline" "usableFromInline" "frozen" "Test" "_alwaysEmitIntoClient" "_transparent"))

(import_declaration (identifier) @import)

; An XCTest test has no modifier and is recognized by name; a Swift Testing test has an attribute.
(function_declaration . "func" . (simple_identifier) @_name (#match? @_name "^test([A-Z0-9_]|$)")) @test
(modifiers (attribute . (_) @_what (#eq? @_what "Test"))) @test
