; Definitions. A head is the text from the definition's start to its @body.
(function_item name: (_) @name body: (_) @body) @definition.function
(function_signature_item name: (_) @name) @definition.function
(struct_item name: (_) @name body: (field_declaration_list) @body) @definition.struct
(struct_item name: (_) @name) @definition.struct
(union_item name: (_) @name body: (_) @body) @definition.struct
(enum_item name: (_) @name body: (_) @body) @definition.enum
(enum_variant name: (_) @name value: (_) @body) @definition.variant
(enum_variant name: (_) @name body: (field_declaration_list) @body) @definition.variant
(enum_variant name: (_) @name) @definition.variant
(field_declaration name: (_) @name) @definition.field
(trait_item name: (_) @name body: (_) @body) @definition.interface
(associated_type name: (_) @name) @definition.type
(impl_item type: (_) @name body: (_) @body) @definition.impl
(mod_item name: (_) @name body: (_) @body) @definition.module
(mod_item name: (_) @name !body) @definition.module
(type_item name: (_) @name) @definition.type
(const_item name: (_) @name value: (_) @body) @definition.constant
(const_item name: (_) @name) @definition.constant
(static_item name: (_) @name value: (_) @body) @definition.constant
(static_item name: (_) @name) @definition.constant
(macro_definition name: (_) @name (macro_rule) @body) @definition.macro

(attribute_item
  (attribute . (_) @_name)
  (#any-of? @_name "deprecated" "non_exhaustive" "macro_export" "proc_macro" "proc_macro_derive" "proc_macro_attribute" "no_mangle")) @attribute

; Attributes belong to the item after them.
(attribute_item) @lead

; The arguments of these macros are items.
(macro_invocation
  macro: [(identifier) @_macro (scoped_identifier name: (identifier) @_macro)]
  (token_tree (token_tree) @source)
  (#eq? @_macro "cfg_if"))
(macro_invocation
  macro: [(identifier) @_macro (scoped_identifier name: (identifier) @_macro)]
  (token_tree) @source
  (#match? @_macro "^(cfg_.*|thread_local|lazy_static)$")
  (#not-eq? @_macro "cfg_if"))

(use_declaration argument: (_) @import)
(extern_crate_declaration name: (_) @import)

; `#[test]`, `#[tokio::test]` and `#[rstest]` mark the next function as a test; `#[cfg(test)]` marks the whole
; next item.
(attribute_item (attribute . (_) @_name (#match? @_name "(^|::)(test|rstest|test_case|quickcheck|bench)$"))) @test
(attribute_item (attribute . (_) @_name arguments: (_) @_when (#eq? @_name "cfg") (#eq? @_when "(test)"))) @test.scope
