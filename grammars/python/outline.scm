; Definitions. A head is the text from the definition's start to its @body.
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(function_definition name: (identifier) @name body: (_) @body) @definition.function
(assignment left: (identifier) @name right: (assignment right: (assignment right: (_) @body))) @definition.variable
(assignment left: (identifier) @name right: (assignment right: (_) @body)) @definition.variable
(assignment left: (identifier) @name right: (_) @body) @definition.variable
(assignment left: (identifier) @name !right) @definition.variable
(assignment
  left: [
    (pattern_list [(identifier) @name @declarator (list_splat_pattern (identifier) @name) @declarator])
    (tuple_pattern [(identifier) @name @declarator (list_splat_pattern (identifier) @name) @declarator])
    (list_pattern (identifier) @name @declarator)
  ]
  right: (_) @body) @definition.variable
(type_alias_statement left: (type (identifier) @name) right: (_) @body) @definition.type
(type_alias_statement left: (type (generic_type . (identifier) @name)) right: (_) @body) @definition.type

; Attributes of an instance, in addition to those of its class.
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @instance)
  (#eq? @_self "self"))

(decorator) @attribute

(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)

; The parts of a module's path refer to no definition, but the names imported from it do.
(import_from_statement name: (dotted_name (identifier) @reference))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @reference)))

(function_definition name: (identifier) @_name (#match? @_name "^test")) @test
