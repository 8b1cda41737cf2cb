; Definitions. A head is the text from the definition's start to its body.
(namespace_definition name: (_) @name body: (_) @body) @definition.module
(namespace_definition name: (_) @name) @definition.module
(class_declaration name: (_) @name body: (_) @body) @definition.class
(anonymous_class "class" @name body: (_) @body) @definition.impl
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(trait_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_case name: (_) @name value: (_) @body) @definition.variant
(enum_case name: (_) @name) @definition.variant
(function_definition name: (_) @name body: (_) @body) @definition.function
(method_declaration name: (_) @name body: (_) @body) @definition.method
(method_declaration name: (_) @name) @definition.method
(property_declaration (property_element name: (variable_name (name) @name)) (property_hook_list) @body) @definition.field
(property_declaration (property_element name: (variable_name (name) @name) default_value: (_)? @body) @declarator) @definition.field
(const_declaration (const_element . (name) @name (_) @body) @declarator) @definition.constant
(function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_define "define")) @definition.constant
; The traits of a class are listed as part of the class.
(use_declaration [(name) (qualified_name)] @name (use_list) @body) @definition.impl
(use_declaration [(name) (qualified_name)] @name) @definition.impl

(anonymous_function) @opaque
(arrow_function) @opaque

(attribute_list
  (attribute_group . (attribute . (_) @_name))
  (#not-match? @_name "^\\\\?(Override|Pure|ReturnTypeWillChange|Test)$")) @attribute
(attribute_list
  (attribute_group . (attribute . (_) @_name))
  (#match? @_name "^\\\\?(Override|Pure|ReturnTypeWillChange|Test)$")) @omit

(namespace_use_declaration (namespace_name) @import)
(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @import))
(namespace_use_clause . (qualified_name (name) @reference))
(namespace_use_clause . (name) @reference)
(require_expression [(string (string_content) @import) (_ right: (string (string_content) @import)) (_ (string (string_content) @import))])
(require_once_expression [(string (string_content) @import) (_ right: (string (string_content) @import)) (_ (string (string_content) @import))])
(include_expression [(string (string_content) @import) (_ right: (string (string_content) @import)) (_ (string (string_content) @import))])
(include_once_expression [(string (string_content) @import) (_ right: (string (string_content) @import)) (_ (string (string_content) @import))])

(method_declaration name: (_) @_name (#match? @_name "^test")) @test
(method_declaration
  attributes: (attribute_list (attribute_group (attribute . (_) @_what)))
  name: (_) @_name
  (#match? @_what "\\bTest$")
  (#not-match? @_name "^test")) @test
(expression_statement
  (function_call_expression function: (name) @_name arguments: (arguments . (argument (string))))
  (#any-of? @_name "it" "test")) @test
